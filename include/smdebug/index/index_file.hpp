// One index file: the tensors that a worker saved at a step, and their positions in its event file.
// Split in two, because the second part repeats from step to step: meta (mode, mode step, event file) and payload.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail::index_file {

struct meta {
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
    std::string_view event_file_name;  ///< relative to the run; borrowed
};

/// The position of one tensor's record.
struct location {
    std::string_view tensor_name;
    byte_range record;
};

/// A shape that was saved without, or beside, the values.
struct saved_shape {
    std::string_view tensor_name;
    std::string_view original_name;
    shape_type extents;
};

/// The meta part of a file as the Python package writes it, and the bytes after it.
struct split {
    meta head;
    byte_view payload;
};

/// Splits a file as json.dumps writes it, without parsing the payload.  Nothing for any other formatting, even if
/// valid: parse() reads those.  Files with equal payload bytes hold the same locations and shapes.
/// Cost: some hundred nanoseconds; no allocation.  Borrows: the bytes.
[[nodiscard]] std::optional<split> split_canonical(byte_view bytes) noexcept;

namespace detail {

/// A cursor over text that json.dumps wrote: each call returns whether what it expects comes next.
class canonical_text {
public:
    explicit canonical_text(byte_view bytes) noexcept : next_(as_text(bytes).data()), end_(next_ + bytes.size()) {}

    [[nodiscard]] bool at_end() const noexcept { return next_ == end_; }
    [[nodiscard]] byte_view rest() const noexcept { return as_bytes(std::string_view{next_, left()}); }

    template <std::size_t Size>
    [[nodiscard]] bool skip(const char (&literal)[Size]) noexcept {
        constexpr std::size_t length = Size - 1;
        const bool there = left() >= length && std::memcmp(next_, literal, length) == 0;
        next_ += there ? length : 0;
        return there;
    }

    /// Consumes the text up to and including the next quote: printable ASCII without escapes, which needs no decoding.
    [[nodiscard]] bool take_plain(std::string_view& text) noexcept;

    /// A whole number of at most 18 digits, as json.dumps writes it.
    [[nodiscard]] bool take_number(std::uint64_t& number) noexcept {
        const char* const begin = next_;
        std::uint64_t value = 0;
        for (; next_ != end_ && *next_ >= '0' && *next_ <= '9' && next_ - begin < 18; ++next_) {
            value = value * 10 + static_cast<std::uint64_t>(*next_ - '0');
        }
        number = value;
        return next_ != begin && (next_ - begin == 1 || *begin != '0');
    }

private:
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - next_); }

    const char* next_;
    const char* end_;
};

}  // namespace detail

/// Reads the payload of a split file as json.dumps writes it, with plain names and without shapes: calls
/// on_location(location) for each entry, as parse() would.  False for any other formatting, even if valid: some entries
/// may have been passed on then, and parse() decides.
/// Cost: a pass over the bytes; a third of the time that parsing JSON takes.  Borrows: the bytes.
template <class OnLocation>
[[nodiscard]] bool read_canonical(byte_view payload, OnLocation&& on_location) {
    detail::canonical_text text{payload};
    if (!text.skip("\"tensor_payload\": [")) {
        return false;
    }
    location place;
    for (bool more = text.skip("{\"tensorname\": \""); more; more = text.skip(", {\"tensorname\": \"")) {
        if (!text.take_plain(place.tensor_name) || !text.skip(", \"start_idx\": ") ||
            !text.take_number(place.record.offset) || !text.skip(", \"length\": ") ||
            !text.take_number(place.record.length) || !text.skip("}")) {
            return false;
        }
        on_location(std::as_const(place));
    }
    return (text.skip("], \"shape_payload\": []}") || text.skip("]}")) && text.at_end();
}

/// Why a file could not be used.
struct damage {
    std::string what;       ///< a sentence without the file's name
    bool not_json = false;  ///< empty or not JSON, like a file that is still being written
};

namespace detail {

[[nodiscard]] std::optional<damage> read_meta(json::value root, meta& head);

[[nodiscard]] bool read_location(json::value item, location& out);

[[nodiscard]] bool read_shape(json::value item, saved_shape& out);

}  // namespace detail

/// Parses any index file.  Calls on_location(location) and on_shape(saved_shape) for each entry in the file's order;
/// both borrow from `parser` for the call only.  Returns the file's first error, if any; entries before the damage have
/// then already been passed on.  Unknown keys are skipped.
template <class OnLocation, class OnShape>
[[nodiscard]] std::optional<damage> parse(byte_view bytes, json::document& parser, meta& head, OnLocation&& on_location,
                                          OnShape&& on_shape) {
    const auto root = parser.parse(bytes);
    if (!root) {
        return damage{bytes.empty() ? "the file is empty" : "the file is not JSON, or is cut off", true};
    }
    if (!root->is_object()) {
        return damage{"the file holds no JSON object"};
    }
    if (auto wrong = detail::read_meta(*root, head)) {
        return wrong;
    }
    const auto tensors = (*root)["tensor_payload"];
    const auto shapes = (*root)["shape_payload"];
    if (!tensors && !shapes) {
        return damage{"the tensor_payload section is missing"};
    }
    location place;
    if (tensors && !tensors->for_each_element([&](json::value item) {
            const bool good = detail::read_location(item, place);
            if (good) {
                on_location(place);
            }
            return good;
        })) {
        return damage{"tensor_payload is not a list of {tensorname, start_idx, length}"};
    }
    saved_shape shape;
    if (shapes && !shapes->for_each_element([&](json::value item) {
            const bool good = detail::read_shape(item, shape);
            if (good) {
                on_shape(shape);
            }
            return good;
        })) {
        return damage{"shape_payload is not a list of {tensorname, originalname, shape}"};
    }
    return std::nullopt;
}

}  // namespace detail::index_file

// The text of one index file, byte for byte as the Python package writes it.
namespace detail {

/// Gathers the entries of an index file, in the order in which they are added, and formats them.
/// Names must be UTF-8 (the caller checks: is_utf8); other bytes become U+FFFD.
/// Cost:    some ten nanoseconds an entry; no allocation once it has made a file of that size.
/// Threads: one object, one thread at a time.
class index_writer {
public:
    /// Adds the position of a tensor's record in the event file.
    /// Cost: a comparison if the previous file had the same entry at this position, as is usual in training.
    void add_tensor(std::string_view name, byte_range record);

    /// Adds a tensor's shape.  `original_name` is the framework's name for the tensor; often the same.
    void add_shape(std::string_view name, std::string_view original_name, std::span<const std::size_t> extents);

    /// Whether nothing was added: an empty file makes no step.
    [[nodiscard]] bool empty() const noexcept { return count_ == 0 && shapes_.empty(); }

    /// The whole file.  Borrowed until the next call of any function.
    [[nodiscard]] std::string_view text(const detail::index_file::meta& head);

    /// Clears the entries, keeps the memory.
    void clear() noexcept;

private:
    struct entry {
        std::string name;
        byte_range record;
        std::size_t end = 0;  // of its text
    };

    // Removes the entries of the last file that follow those of this one.
    void cut();

    static void begin_entry(std::string& list, std::string_view name);

    std::vector<entry> entries_;  // this file's; while equal to the last file's, followed by the rest of those
    std::size_t count_ = 0;       // entries of this file
    bool as_before_ = true;       // whether they equal the last file's first entries
    std::string tensors_;         // the entries' text, without the brackets
    std::string shapes_;
    std::string text_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/index_file.ipp>
#endif
