// The bodies of <smdebug/hook/step_writer.hpp>.
#pragma once

#include <smdebug/hook/step_writer.hpp>
#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <array>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE added step_writer::add_tensor(std::string_view name, const tensor_view& tensor,
                                             const record_stamp& stamp, const late_elements* late) {
    const std::size_t before = pending_.size();
    const appended_record record =
        append_tensor_record(pending_, name, tensor, stamp, footer_, late == nullptr ? copied_below : 0);
    if (record.size == 0) {
        return added::too_large;
    }
    if (!sink_->has_room(pending_.size() + (late == nullptr ? record.omitted.bytes.size() : 0))) {
        pending_.resize(before);
        return added::no_room;
    }
    const std::uint64_t begin = flushed_ + before;
    begin_step(stamp);
    if (!record.omitted.bytes.empty()) {
        flush(record.omitted, late);
    } else if (pending_.size() >= flushed_from) {
        flush({pending_.size(), {}});
    }
    index_.add_tensor(name, {begin, record.size});
    count_first(name, stamp);
    return added::written;
}

SMDEBUG_INLINE added step_writer::add_records(byte_view bytes, std::span<const named_record> records,
                                              const record_stamp& stamp) {
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

SMDEBUG_INLINE void step_writer::add_shape(std::string_view name, std::span<const std::size_t> extents,
                                           const record_stamp& stamp, std::string_view original_name) {
    begin_step(stamp);
    index_.add_shape(name, original_name.empty() ? name : original_name, extents);
}

SMDEBUG_INLINE std::uint64_t step_writer::finish() {
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
    sink_->finish(index_key, text, replaces, order_);
    if (replaces && flushed_ == 0) {
        sink_->remove(event_key_);  // that of the older step
    }
    clear();
    return bytes;
}

SMDEBUG_INLINE void step_writer::abandon() noexcept {
    sink_->abandon();
    clear();
}

SMDEBUG_INLINE void step_writer::begin_step(const record_stamp& stamp) {
    if (index_.empty()) {
        first_ = stamp;
        event_key_ = locations::event_key(stamp.step, worker_);
        first_saved_.times = 0;
    }
}

SMDEBUG_INLINE void step_writer::count_first(std::string_view name, const record_stamp& stamp) {
    if (first_saved_.times == 0) {
        first_saved_.name = name;
        first_saved_.step = stamp.step;
    }
    first_saved_.times += first_saved_.name == name ? 1U : 0U;
}

SMDEBUG_INLINE void step_writer::flush(const wire::omitted_bytes& omitted, const late_elements* late) {
    if (flushed_ == 0) {
        sink_->begin(event_key_, order_);
    }
    const byte_view before = byte_view{pending_}.first(omitted.at);
    if (late == nullptr) {
        const std::array pieces{before, omitted.bytes};
        sink_->append(pieces);
    } else {
        sink_->append_late(before, omitted.bytes, *late);
    }
    flushed_ += omitted.at + omitted.bytes.size();
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(omitted.at));
}

SMDEBUG_INLINE void step_writer::clear() noexcept {
    pending_.clear();
    index_.clear();
    flushed_ = 0;
    ++order_;
}

}  // namespace smdebug::inline v1::detail
