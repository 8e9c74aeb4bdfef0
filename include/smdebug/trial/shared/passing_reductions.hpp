// Event files that are reduced while an archive is inflated for the first time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/passing_reader.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>
#include <smdebug/trial/read/passed_records.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/value_stream.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Reads each record of an event file: names and places are those that the file itself has, so that it need not wait for
/// the index.  What is damaged, or cannot be reduced, is left out: reading it again tells why.
/// Memory: a piece of a file, or a record of less than 1 MiB; what it writes down, up to `most_bytes`: behind that it reads no more.
class passing_reductions final : public passing_reader {
public:
    explicit passing_reductions(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const object_notes> pass(std::string_view key,
                                                                          const opened_object& object) override;

private:
    static constexpr reading_limits limits{};  // those of scans

    [[nodiscard]] std::optional<passed_tensor> reduce_whole(byte_view record);
    [[nodiscard]] std::optional<passed_tensor> reduce_stream(opened_event_file& file, byte_range record);
    [[nodiscard]] std::optional<passed_tensor> reduced_of(const scanned_tensor& tensor, std::string_view name) const;

    event_decoder<> decoder_;
    any_kernel kernel_{default_kernel{}};
    std::uint64_t most_bytes_;
    // Of all notes that are there still, also when this is gone.
    std::shared_ptr<std::atomic<std::uint64_t>> bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    piece_buffer buffer_;
    decoded_tensor values_;
    value_stream stream_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/passing_reductions.ipp>
#endif
