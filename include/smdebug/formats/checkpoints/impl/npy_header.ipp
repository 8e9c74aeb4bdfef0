// The bodies of <smdebug/formats/checkpoints/npy_header.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/npy_header.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// Takes Python literals off the front of a text: as much as a header of numbers needs.
class literal_reader {
public:
    explicit literal_reader(std::string_view text) : rest_(text) {}

    /// Whether that character comes next, behind blanks; takes it.
    [[nodiscard]] bool take(char wanted) {
        const bool comes = comes_next(wanted);
        rest_.remove_prefix(comes ? 1 : 0);
        return comes;
    }
    [[nodiscard]] bool comes_next(char wanted) {
        skip_blanks();
        return !rest_.empty() && rest_.front() == wanted;
    }
    [[nodiscard]] bool at_end() {
        skip_blanks();
        return rest_.empty();
    }

    /// 'text' or "text", without escapes.
    [[nodiscard]] std::optional<std::string_view> text() {
        const char quote = comes_next('"') ? '"' : '\'';
        const std::size_t end = take(quote) ? rest_.find(quote) : std::string_view::npos;
        if (end == std::string_view::npos || rest_.substr(0, end).find('\\') != std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view content = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return content;
    }
    [[nodiscard]] std::optional<bool> truth() {
        skip_blanks();
        for (const bool value : {false, true}) {
            const std::string_view word = value ? "True" : "False";
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(word.size());
                return value;
            }
        }
        return std::nullopt;
    }
    /// A tuple of whole numbers: (), (3,), (2, 3); Python 2 wrote 3L.
    [[nodiscard]] std::optional<shape_type> tuple() {
        shape_type numbers;
        bool may_follow = take('(');
        while (may_follow && numbers.size() < most_extents && !comes_next(')')) {
            std::size_t number = 0;
            const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
            if (code != std::errc{}) {
                return std::nullopt;
            }
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            rest_.remove_prefix(rest_.starts_with('L') ? 1 : 0);
            numbers.push_back(number);
            may_follow = take(',');
        }
        return take(')') && (may_follow || numbers.size() > 1) ? std::optional{std::move(numbers)} : std::nullopt;
    }

private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

    std::string_view rest_;
};

/// What numpy calls a type of elements, "<f4".
struct npy_type {
    dtype type = dtype::invalid;
    bool big_endian = false;
};

/// The dtype of a kind and a size; `invalid` for none.
[[nodiscard]] constexpr dtype dtype_in_numpy(std::string_view kind_and_size) noexcept {
    struct row {
        std::string_view name;
        dtype type;
    };
    constexpr row rows[] = {{"b1", dtype::boolean}, {"?", dtype::boolean},    {"i1", dtype::int8},
                            {"i2", dtype::int16},   {"i4", dtype::int32},     {"i8", dtype::int64},
                            {"u1", dtype::uint8},   {"u2", dtype::uint16},    {"u4", dtype::uint32},
                            {"u8", dtype::uint64},  {"f2", dtype::float16},   {"f4", dtype::float32},
                            {"f8", dtype::float64}, {"c8", dtype::complex64}, {"c16", dtype::complex128}};
    for (const row& each : rows) {
        if (each.name == kind_and_size) {
            return each.type;
        }
    }
    return dtype::invalid;
}

/// Why elements of a kind are not read, and what to do.
[[nodiscard]] constexpr std::string_view why_not_read(char kind) noexcept {
    switch (kind) {
        case 'O':
            return "Python objects, pickled, which are not read: save an array of numbers "
                   "(array.astype(numpy.float32))";
        case 'S':
        case 'a':
        case 'U':
            return "texts, which are not read: only numbers and booleans are";
        case 'V':
            return "raw bytes (numpy writes bfloat16 and 8-bit floats so, and leaves out which they are): save them as "
                   "float32, or as .safetensors";
        case 'M':
        case 'm':
            return "dates or times, which are not read: save them as numbers (array.astype(numpy.int64))";
        default:
            return "of a type that this library does not have: save them as float64 or another usual type";
    }
}

/// One header on its way from bytes to an array.
class npy_parser {
public:
    explicit npy_parser(const std::string& file) : file_(file) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw corrupt_data("the file " + file_ + ": " + why, {.where = file_});
    }

    [[nodiscard]] stored_tensor parse(std::string_view header) const {
        literal_reader reader{header};
        std::optional<npy_type> type;
        std::optional<bool> columns_first;
        std::optional<shape_type> shape;
        bool is_good = reader.take('{');
        while (is_good && !reader.comes_next('}')) {
            const std::optional<std::string_view> key = reader.text();
            is_good = key && reader.take(':');
            if (!is_good) {
                break;
            }
            if (*key == "descr" && !type) {
                type = type_of(reader);
                is_good = type.has_value();
            } else if (*key == "fortran_order" && !columns_first) {
                columns_first = reader.truth();
                is_good = columns_first.has_value();
            } else if (*key == "shape" && !shape) {
                shape = reader.tuple();
                is_good = shape.has_value();
            } else {
                is_good = false;  // numpy refuses other keys, too
            }
            is_good = is_good && (reader.take(',') || reader.comes_next('}'));
        }
        if (!is_good || !reader.take('}') || !reader.at_end() || !type || !columns_first || !shape) {
            refuse("its header is not a dictionary of 'descr', 'fortran_order' and 'shape' as numpy writes it");
        }
        return {.name = {},
                .type = type->type,
                .shape = *shape,
                .where = {},
                .big_endian = type->big_endian,
                .columns_first = *columns_first && shape->size() > 1};
    }

private:
    [[nodiscard]] std::optional<npy_type> type_of(literal_reader& reader) const {
        if (reader.comes_next('[')) {
            throw unsupported("the file " + file_ +
                                  ": its elements are records of several fields, which are not read: save each field "
                                  "as an array of its own",
                              {.where = file_});
        }
        std::optional<std::string_view> text = reader.text();
        if (!text || text->empty()) {
            return std::nullopt;
        }
        const char order = text->front();
        if (std::string_view{"<>=|"}.find(order) != std::string_view::npos) {
            text->remove_prefix(1);
        }
        const dtype type = dtype_in_numpy(*text);
        if (type == dtype::invalid) {
            throw unsupported("the file " + file_ + ": its elements ('" + std::string{*text} + "') are " +
                                  std::string{why_not_read(text->empty() ? ' ' : text->front())},
                              {.where = file_});
        }
        return npy_type{type, order == '>' && size_of(type) > 1};
    }

    const std::string& file_;
};

SMDEBUG_INLINE stored_tensor read_npy_header(const std::string& file, std::uint64_t size, range_reader read) {
    constexpr std::string_view mark = "\x93NUMPY";
    constexpr std::uint64_t first_read = 4096;
    const npy_parser parser{file};
    const byte_buffer head = read({0, std::min(size, first_read)});
    const std::string_view front = as_text(head.view());
    if (front.starts_with(lfs_pointer_begin)) {
        parser.refuse(std::string{lfs_pointer_text});
    }
    if (!front.starts_with(mark)) {
        parser.refuse("it does not begin as a .npy does");
    }
    const std::size_t version = front.size() > mark.size() ? static_cast<unsigned char>(front[mark.size()]) : 1;
    const std::size_t begin = version == 1 ? 10 : 12;  // behind the length
    if (version < 1 || version > 3) {
        throw unsupported("the file " + file + " is of version " + std::to_string(version) +
                              " of the format .npy: 1, 2 and 3 are read",
                          {.where = file});
    }
    if (head.size() < begin) {
        parser.refuse("it ends within its header");
    }
    const std::byte* const number = head.data() + mark.size() + 2;
    const std::uint64_t length = version == 1 ? load_le<std::uint16_t>(number) : load_le<std::uint32_t>(number);
    if (length > most_npy_header_bytes) {
        parser.refuse("it says that its header has " + std::to_string(length) + " bytes; at most " +
                      std::to_string(most_npy_header_bytes) + " are read");
    }
    if (length > size - begin) {
        parser.refuse("it ends within its header");
    }
    const byte_range where{begin, length};
    const byte_buffer header = begin + length <= head.size() ? head.slice(where) : read(where);
    if (header.size() < length) {
        parser.refuse("it ends within its header");
    }
    stored_tensor array = parser.parse(as_text(header.view()));
    const std::optional<std::uint64_t> bytes = content_bytes(array.type, array.shape);
    const std::uint64_t left = size - begin - length;
    if (!bytes || *bytes > left) {
        parser.refuse("its shape " + shape_text(array.shape) + " of " + std::string{name_of(array.type)} +
                      " needs more than the " + std::to_string(left) + " bytes behind its header");
    }
    array.where = {begin + length, *bytes};
    return array;
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
