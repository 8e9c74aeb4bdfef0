// The bodies of <smdebug/trial/read/value_stream.hpp>.
#pragma once

#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/trial/read/value_stream.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE bool value_stream::begin(const decoder_plan& how, opened_event_file& file, byte_range record,
                                        std::string_view name) {
    return plan(how, file, record, name) && !name.empty() && read_tail() && how.ends_well(tail_, checksum_);
}

SMDEBUG_INLINE bool value_stream::begin_any(const decoder_plan& how, opened_event_file& file, byte_range record,
                                            std::string& name) {
    if (!plan(how, file, record, {})) {
        return false;
    }
    name = parts_.name;
    checksum_ = 0;  // it is needed, as far as is known by now
    ends_well_ = how.ends_well;
    return true;
}

SMDEBUG_INLINE bool value_stream::begin_elements(const stored_form& form, opened_event_file& file,
                                                 byte_range elements) {
    if (!form.is_plain() || form.type == dtype::boolean) {  // booleans may have to be mended
        return false;
    }
    parts_ = {.name = {},
              .type = form.type,
              .shape = form.shape,
              .content = 0,
              .content_size = elements.length,
              .size = elements.length};
    checksum_.reset();
    tail_.clear();
    ends_well_ = nullptr;
    file_ = &file;
    offset_ = elements.offset;
    return true;
}

SMDEBUG_INLINE bool value_stream::plan(const decoder_plan& how, opened_event_file& file, byte_range record,
                                       std::string_view name) {
    const byte_view head = file.from(record.offset, std::min(record.length, most_head));
    file_ = &file;
    offset_ = record.offset;
    ends_well_ = nullptr;
    return how.plan(head, std::min(record.length, file.left_at(record.offset)), name, parts_) &&
           parts_.size - (parts_.content + parts_.content_size) <= most_tail;
}

SMDEBUG_INLINE bool value_stream::read_tail() {
    const std::uint64_t behind = parts_.content + parts_.content_size;
    tail_.resize(static_cast<std::size_t>(parts_.size - behind));
    return file_->read_apart(offset_ + behind, tail_) == tail_.size();
}

SMDEBUG_INLINE void value_stream::start() {
    crc_ = 0;
    passed_ = 0;
    is_cut_ = false;
    failed_ = nullptr;
    if (checksum_) {
        const std::size_t before = static_cast<std::size_t>(parts_.content) - record::header_size;
        const byte_view head = file_->from(offset_ + record::header_size, before);
        crc_ = record::crc32c::extend(crc_, head.first(std::min(before, head.size())));
    }
}

SMDEBUG_INLINE byte_view value_stream::more(std::size_t begin, std::size_t least) noexcept {
    byte_view some;
    try {
        some = file_->from(offset_ + parts_.content + begin, least);
    } catch (...) {
        failed_ = std::current_exception();
        return {};
    }
    some = some.first(std::min(some.size(), size() - begin));
    is_cut_ = is_cut_ || some.size() < least;
    const std::size_t end = begin + some.size();
    if (checksum_ && begin <= passed_ && passed_ < end) {
        crc_ = record::crc32c::extend(crc_, some.subspan(passed_ - begin));
        passed_ = end;
    }
    return some;
}

SMDEBUG_INLINE status value_stream::finish() {
    while (checksum_ && passed_ < size() && !is_cut_ && failed_ == nullptr) {
        static_cast<void>(more(passed_, 1));
    }
    if (failed_ != nullptr) {
        std::rethrow_exception(failed_);
    }
    if (is_cut_) {
        return status::truncated;
    }
    if (ends_well_ != nullptr && !(read_tail() && ends_well_(tail_, checksum_))) {
        return status::malformed;
    }
    if (checksum_) {
        const byte_view metadata = byte_view{tail_}.first(tail_.size() - record::footer_size);
        crc_ = record::crc32c::extend(crc_, metadata);
        return record::crc32c::mask(crc_) == *checksum_ ? status::ok : status::bad_payload_checksum;
    }
    return status::ok;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
