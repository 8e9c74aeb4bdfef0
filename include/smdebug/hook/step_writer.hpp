// One step of one worker: an event file of consecutive records, and the index file with their positions.
// Small records gather in a buffer; large tensors are written from the caller's memory in one gather write (writev).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/field.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// The outcome of writing a tensor.
enum class added : std::uint8_t {
    written,
    too_large,  ///< larger than any reader accepts, see largest_payload
    no_room,    ///< dropped by the sink
};

/// How often the first tensor of a step was saved in it.  More than once probably means a missing end_step().
struct first_tensor_repeats {
    std::string name = {};
    std::uint64_t times = 0;
    step_number step = 0;
};

/// Writes the steps of one worker, one after the other.
/// Borrows: the sink.      Cost: no allocation once its buffers have the size of a step.
class step_writer {
public:
    /// `last_written`: steps up to this one may exist already.
    step_writer(file_sink& sink, std::string worker, record::footer_kind footer, step_number last_written = -1)
        : sink_(&sink), worker_(std::move(worker)), footer_(footer), last_written_(last_written) {}

    /// Appends a tensor to the current step.  The mode of a step's first entry is that of its index file.  `late`: its
    /// elements are still on their way; the footer is no checksum then.
    /// Errors: what the sink throws; the step is lost then: abandon() it.
    [[nodiscard]] added add_tensor(std::string_view name, const tensor_view& tensor, const record_stamp& stamp,
                                   const late_elements* late = nullptr);

    /// Appends encoded records; `records` names them and their positions in `bytes`.
    /// Errors: as add_tensor.
    [[nodiscard]] added add_records(byte_view bytes, std::span<const named_record> records, const record_stamp& stamp);

    /// Records a tensor's shape in the step's index file.  `original_name` is the framework's name for it; if empty,
    /// the same.
    void add_shape(std::string_view name, std::span<const std::size_t> extents, const record_stamp& stamp,
                   std::string_view original_name = {});

    /// Whether the current step has anything to write.
    [[nodiscard]] bool empty() const noexcept { return index_.empty(); }
    /// The current step's order number: that of the step before, and 1.
    [[nodiscard]] std::uint64_t order() const noexcept { return order_; }
    /// The stamp of the step's first entry, if there is one.
    [[nodiscard]] const record_stamp& first() const noexcept { return first_; }
    /// The largest step number that was written, or may exist already.
    [[nodiscard]] step_number last_written() const noexcept { return last_written_; }

    /// The first tensor with values in the current step, or if there is none in the last step.
    [[nodiscard]] const first_tensor_repeats& first_saved() const noexcept { return first_saved_; }

    /// Makes the step's files visible: the event file, if there is any tensor, then the index file.  Returns their
    /// bytes; 0 for an empty step.      Errors: what the sink throws; the step is lost then.
    std::uint64_t finish();

    /// Discards the current step.
    void abandon() noexcept;

private:
    static constexpr std::size_t flushed_from = std::size_t{128} << 10U;

    void begin_step(const record_stamp& stamp);

    void count_first(std::string_view name, const record_stamp& stamp);

    // Writes pending_ up to the insertion point, then the omitted element bytes; the remainder stays in pending_.
    void flush(const wire::omitted_bytes& omitted, const late_elements* late = nullptr);

    void clear() noexcept;

    file_sink* sink_;
    std::string worker_;
    record::footer_kind footer_;
    step_number last_written_;
    std::uint64_t order_ = 1;
    record_stamp first_;  // of the step's first entry
    first_tensor_repeats first_saved_;
    std::string event_key_;           // valid while the index has entries
    std::vector<std::byte> pending_;  // records, or the end of one, not handed over yet
    std::uint64_t flushed_ = 0;       // bytes of the event file handed over
    index_writer index_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/step_writer.ipp>
#endif
