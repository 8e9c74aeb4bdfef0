// The text of one index file, byte for byte as the Python package writes it.
// Apart from index_file.hpp, which reads it, so that a writer needs no JSON parser.
// Used by: hook.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_meta.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Gathers the entries of an index file, in the order in which they are added, and makes its text.
/// Names are UTF-8 (the caller has checked: is_utf8); other bytes become U+FFFD.
/// Cost:    some ten nanoseconds an entry; no allocation once it has made a file of that size.
/// Threads: one object, one thread at a time.
class index_writer {
public:
    /// Adds where a tensor's record lies in the event file.
    /// Cost: a comparison where the file before had the same entry at this place, as it is in training.
    void add_tensor(std::string_view name, byte_range record) {
        if (as_before_ && count_ < entries_.size() && entries_[count_].record == record &&
            entries_[count_].name == name) {
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

    /// Adds a tensor's shape.  `original_name` is what the framework calls the tensor; often the same name.
    void add_shape(std::string_view name, std::string_view original_name, std::span<const std::size_t> extents) {
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

    /// Whether nothing was added: such a file would make no step.
    [[nodiscard]] bool empty() const noexcept { return count_ == 0 && shapes_.empty(); }

    /// The whole file.  Borrowed until the next call of anything.
    [[nodiscard]] std::string_view text(const index_file::meta& head) {
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

    /// Forgets the entries, keeps the memory.
    void clear() noexcept {
        count_ = 0;
        as_before_ = true;
        shapes_.clear();
    }

private:
    struct entry {
        std::string name;
        byte_range record;
        std::size_t end = 0;  // of its text
    };

    // Takes away what the file before had behind the entries of this one.
    void cut() {
        if (as_before_ && count_ < entries_.size()) {
            entries_.resize(count_);
            tensors_.resize(count_ == 0 ? 0 : entries_.back().end);
        }
        as_before_ = false;
    }

    static void begin_entry(std::string& list, std::string_view name) {
        list += list.empty() ? R"({"tensorname": )" : R"(, {"tensorname": )";
        append_json_ascii(list, name);
    }

    std::vector<entry> entries_;  // of this file, and behind them, while it is as the one before, the rest of that one
    std::size_t count_ = 0;       // entries of this file
    bool as_before_ = true;       // whether they are those that the file before began with
    std::string tensors_;         // the entries' text, without the brackets
    std::string shapes_;
    std::string text_;
};

}  // namespace v1
}  // namespace smdebug
