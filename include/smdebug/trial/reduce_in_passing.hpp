// Reduces an archived run without inflating it twice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace smdebug::inline v1 {

/// Reduces every tensor of a compressed .tar while it is inflated to list its directory, in one pass, whatever the
/// order of its members.  for_each_tensor(), rules that use reductions, and any other scan that needs reductions only,
/// then need not inflate it again.
///
///     smd::trial run = smd::create_trial("old.tar.gz", {}, {.archive = {.in_passing = smd::reduce_in_passing()}});
///
/// One object serves one archive at a time, on one thread.  It works for trials with an event_decoder<> and a kernel of
/// the library; other trials ignore it.  Tensors whose values are needed are inflated again.
/// Memory: `most_bytes`: some 300 bytes a tensor, or the record itself for records up to 512 bytes; beyond that nothing
///         is kept, and the archive is inflated again.
[[nodiscard]] std::shared_ptr<inflate_observer> reduce_in_passing(std::uint64_t most_bytes = std::uint64_t{256} << 20U);

}  // namespace smdebug::inline v1

namespace smdebug::inline v1::detail {

/// Reads each record of an event file: names and places come from the file itself, so that it need not wait for the
/// index.  Damaged or irreducible tensors are left out: reading them again reports why.
/// Memory: a piece of a file, or a record of less than 1 MiB; and the notes, up to `most_bytes`: beyond that it stops
///         reading.
class passing_reductions final : public inflate_observer {
public:
    explicit passing_reductions(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const object_notes> pass(std::string_view key,
                                                                          const opened_object& object) override;

private:
    static constexpr reading_limits limits{};  // the limits of scans

    [[nodiscard]] std::optional<early_reductions> reduce_whole(byte_view record);
    [[nodiscard]] std::optional<early_reductions> reduce_stream(opened_event_file& file, byte_range record);
    [[nodiscard]] std::optional<early_reductions> reduced_of(const scanned_tensor& tensor, std::string_view name) const;

    event_decoder<> decoder_;
    any_kernel kernel_{default_kernel{}};
    std::uint64_t most_bytes_;
    // The size of all notes that still exist, even after this object is gone.
    std::shared_ptr<std::atomic<std::uint64_t>> bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    piece_buffer buffer_;
    decoded_tensor values_;
    value_stream stream_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/reduce_in_passing.ipp>
#endif
