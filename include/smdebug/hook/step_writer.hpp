// One step of one worker: its records, one behind the other, in an event file, and the index file that says where.
// Small records gather in a buffer; large tensors go from the caller's memory in one gathering write.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/index_writer.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What became of a tensor that was to be written.
enum class added : std::uint8_t {
    written,
    too_large,  ///< no reader of the format could take it, see largest_payload
    no_room,    ///< the sink drops it
};

/// How often the first tensor of a step came in it.  A step keeps one: more than once is likely an end_step() that
/// nobody called.
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
    [[nodiscard]] added add_tensor(std::string_view name, const tensor_view& tensor, const record_stamp& stamp) {
        const std::size_t before = pending_.size();
        const appended_record record = append_tensor_record(pending_, name, tensor, stamp, footer_);
        if (record.size == 0) {
            return added::too_large;
        }
        if (!sink_->has_room(pending_.size() + record.omitted.bytes.size())) {
            pending_.resize(before);
            return added::no_room;
        }
        const std::uint64_t begin = flushed_ + before;
        begin_step(stamp);
        if (!record.omitted.bytes.empty()) {
            flush(record.omitted);
        } else if (pending_.size() >= flushed_from) {
            flush({pending_.size(), {}});
        }
        index_.add_tensor(name, {begin, record.size});
        count_first(name, stamp);
        return added::written;
    }

    /// Appends records that are encoded already; `records` names them and their places in `bytes`.
    /// Errors: as add_tensor.
    [[nodiscard]] added add_records(byte_view bytes, std::span<const named_record> records, const record_stamp& stamp) {
        if (!sink_->has_room(pending_.size() + bytes.size())) {
            return added::no_room;
        }
        const std::uint64_t begin = flushed_ + pending_.size();
        begin_step(stamp);
        pending_.insert(pending_.end(), bytes.begin(), bytes.end());
        for (const named_record& record : records) {
            index_.add_tensor(record.name, {begin + record.begin, record.size});
        }
        if (pending_.size() >= flushed_from) {
            flush({pending_.size(), {}});
        }
        return added::written;
    }

    /// Notes a tensor's shape in the step's index file.
    void add_shape(std::string_view name, std::span<const std::size_t> extents, const record_stamp& stamp) {
        begin_step(stamp);
        index_.add_shape(name, name, extents);
    }

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
    std::uint64_t finish() {
        if (empty()) {
            return 0;
        }
        if (!pending_.empty()) {
            flush({pending_.size(), {}});
        }
        const std::string_view text =
            index_.text({.mode = first_.mode, .mode_step = first_.mode_step, .event_file_name = event_key_});
        const std::uint64_t bytes = flushed_ + text.size();
        const std::string index_key = locations::index_key(first_.step, worker_);
        const bool replaces = first_.step <= last_written_;
        last_written_ = std::max(last_written_, first_.step);
        sink_->finish(index_key, text, replaces);
        clear();
        return bytes;
    }

    /// Forgets the step at hand.
    void abandon() noexcept {
        sink_->abandon();
        clear();
    }

private:
    static constexpr std::size_t flushed_from = std::size_t{128} << 10U;

    void begin_step(const record_stamp& stamp) {
        if (index_.empty()) {
            first_ = stamp;
            event_key_ = locations::event_key(stamp.step, worker_);
            first_saved_.times = 0;
        }
    }

    void count_first(std::string_view name, const record_stamp& stamp) {
        if (first_saved_.times == 0) {
            first_saved_.name = name;
            first_saved_.step = stamp.step;
        }
        first_saved_.times += first_saved_.name == name ? 1U : 0U;
    }

    // Hands over what is pending up to the place of the omitted bytes, and these; the rest stays pending.
    void flush(const wire::omitted_bytes& omitted) {
        if (flushed_ == 0) {
            sink_->begin(event_key_);
        }
        const std::array pieces{byte_view{pending_}.first(omitted.at), omitted.bytes};
        sink_->append(pieces);
        flushed_ += omitted.at + omitted.bytes.size();
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(omitted.at));
    }

    void clear() noexcept {
        pending_.clear();
        index_.clear();
        flushed_ = 0;
    }

    file_sink* sink_;
    std::string worker_;
    record::footer_kind footer_;
    step_number last_written_;
    record_stamp first_;  // of the step's first entry
    first_tensor first_saved_;
    std::string event_key_;           // valid while the index has entries
    std::vector<std::byte> pending_;  // records, or the end of one, that are not handed over yet
    std::uint64_t flushed_ = 0;       // bytes of the event file that are
    index_writer index_;
};

}  // namespace v1
}  // namespace smdebug
