// The bodies of <smdebug/index/index_writer.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_writer.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void index_writer::add_tensor(std::string_view name, byte_range record) {
    if (as_before_ && count_ < entries_.size() && entries_[count_].record == record && entries_[count_].name == name) {
        ++count_;
        return;
    }
    cut();
    begin_entry(tensors_, name);
    tensors_ += R"(, "start_idx": )";
    append_json_integer(tensors_, record.offset);
    tensors_ += R"(, "length": )";
    append_json_integer(tensors_, record.length);
    tensors_ += '}';
    entries_.push_back({std::string{name}, record, tensors_.size()});
    ++count_;
}

SMDEBUG_INLINE void index_writer::add_shape(std::string_view name, std::string_view original_name,
                                            std::span<const std::size_t> extents) {
    begin_entry(shapes_, name);
    shapes_ += R"(, "originalname": )";
    append_json_ascii(shapes_, original_name);
    shapes_ += R"(, "shape": [)";
    for (std::size_t i = 0; i < extents.size(); ++i) {
        shapes_ += i == 0 ? "" : ", ";
        append_json_integer(shapes_, extents[i]);
    }
    shapes_ += "]}";
}

SMDEBUG_INLINE std::string_view index_writer::text(const detail::index_file::meta& head) {
    cut();
    text_ = R"({"meta": {"mode": ")";
    text_ += name_of(head.mode);
    text_ += R"(", "mode_step": )";
    append_json_integer(text_, head.mode_step);
    text_ += R"(, "event_file_name": )";
    append_json_ascii(text_, head.event_file_name);
    text_ += R"(}, "tensor_payload": [)";
    text_ += tensors_;
    text_ += R"(], "shape_payload": [)";
    text_ += shapes_;
    text_ += "]}";
    return text_;
}

SMDEBUG_INLINE void index_writer::clear() noexcept {
    count_ = 0;
    as_before_ = true;
    shapes_.clear();
}

SMDEBUG_INLINE void index_writer::cut() {
    if (as_before_ && count_ < entries_.size()) {
        entries_.resize(count_);
        tensors_.resize(count_ == 0 ? 0 : entries_.back().end);
    }
    as_before_ = false;
}

SMDEBUG_INLINE void index_writer::begin_entry(std::string& list, std::string_view name) {
    list += list.empty() ? R"({"tensorname": )" : R"(, {"tensorname": )";
    append_json_ascii(list, name);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
