// One step of one worker: its records, one behind the other, in an event file, and the index file that says where.
// Small records gather in a buffer; large tensors go from the caller's memory in one gathering write.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/index_writer.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/field_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The outcome of writing a tensor.
enum class added : std::uint8_t {
    written,
    too_large,  ///< no reader of the format could take it, see largest_payload
    no_room,    ///< the sink drops it
};

/// How often the first tensor of a step came in it.  A step keeps one: more than once is likely a missing end_step().
struct first_tensor {
    std::string name = {};
    std::uint64_t times = 0;
    step_number step = 0;
};

/// Writes the steps of one worker, one after the other.
/// Borrows: the sink.      Cost: no allocation once its buffers have the size of a step.
class step_writer {
public:
    /// `last_written`: steps up to that one may be there already.
    step_writer(file_sink& sink, std::string worker, record::footer_kind footer, step_number last_written = -1)
        : sink_(&sink), worker_(std::move(worker)), footer_(footer), last_written_(last_written) {}

    /// Appends a tensor to the step at hand.  The mode of a step's first entry is that of its index file.
    /// Errors: what the sink throws; the step is lost then: abandon() it.
    [[nodiscard]] added add_tensor(std::string_view name, const tensor_view& tensor, const record_stamp& stamp);

    /// Appends records that are encoded already; `records` names them and their places in `bytes`.
    /// Errors: as add_tensor.
    [[nodiscard]] added add_records(byte_view bytes, std::span<const named_record> records, const record_stamp& stamp);

    /// Notes a tensor's shape in the step's index file.  `original_name`: what the framework calls it; empty: the same.
    void add_shape(std::string_view name, std::span<const std::size_t> extents, const record_stamp& stamp,
                   std::string_view original_name = {});

    /// Whether the step at hand has anything to write.
    [[nodiscard]] bool empty() const noexcept { return index_.empty(); }
    /// The stamp of its first entry, where it has one.
    [[nodiscard]] const record_stamp& first() const noexcept { return first_; }
    /// The largest number of a step that was written, or may be there already.
    [[nodiscard]] step_number last_written() const noexcept { return last_written_; }

    /// The first tensor whose values the step at hand, or else the last one, has.
    [[nodiscard]] const first_tensor& first_saved() const noexcept { return first_saved_; }

    /// Makes the step's files appear: the event file, where there is any tensor, then the index file.  Returns their
    /// bytes; 0 for a step that has nothing.      Errors: what the sink throws; the step is lost then.
    std::uint64_t finish();

    /// Discards the current step.
    void abandon() noexcept;

private:
    static constexpr std::size_t flushed_from = std::size_t{128} << 10U;

    void begin_step(const record_stamp& stamp);

    void count_first(std::string_view name, const record_stamp& stamp);

    // Hands over what is pending up to the place of the omitted bytes, and these; the rest stays pending.
    void flush(const wire::omitted_bytes& omitted);

    void clear() noexcept;

    file_sink* sink_;
    std::string worker_;
    record::footer_kind footer_;
    step_number last_written_;
    record_stamp first_;  // of the step's first entry
    first_tensor first_saved_;
    std::string event_key_;           // valid while the index has entries
    std::vector<std::byte> pending_;  // records, or the end of one, that are not handed over yet
    std::uint64_t flushed_ = 0;       // bytes of the event file that were handed over
    index_writer index_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/step_writer.ipp>
#endif
