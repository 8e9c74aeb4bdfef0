// The bodies of <smdebug/formats/checkpoints/npz_directory.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/formats/checkpoints/joined_object.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::formats::detail {

/// Whether macOS has added this member beside a file of a zip; detected by its first bytes, as an array may have any
/// name.
[[nodiscard]] inline bool is_apple_double(const any_storage& files, const std::string& member) {
    try {
        return as_text(files.read(member, {0, 4}).view()) == std::string_view{"\0\5\x16\7", 4};
    } catch (const error&) {
        return false;  // reading it as an array reports the fault
    }
}

SMDEBUG_INLINE npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                                const archive_options& options) {
    constexpr std::string_view ending = ".npy";
    const std::string file = smdebug::detail::path_of(folder, key);
    const byte_buffer head = folder.read(key, {0, lfs_pointer_begin.size()});
    const std::string_view mark = as_text(head.view());
    if (mark == lfs_pointer_begin) {
        throw corrupt_data("the file " + file + ": " + std::string{lfs_pointer_text}, {.where = file});
    }
    if (!is_zip(mark)) {
        throw corrupt_data("the file " + file + ": it is not a zip as numpy writes it", {.where = file});
    }
    npz_directory all{.files = open_zip(folder, key, options)};
    for (const problem& one : all.files.problems()) {
        const std::size_t inside = one.where.starts_with(file + "!/") ? file.size() + 2 : 0;
        all.not_read.push_back({one.where.substr(inside), one.what, one.kind});
    }
    for (const std::string& member : all.files.list("", "")) {
        if (is_resource_fork(member) && is_apple_double(all.files, member)) {
            continue;
        }
        if (!member.ends_with(ending)) {
            all.not_read.push_back({member, "it is no .npy", problem_kind::left_out});
            continue;
        }
        try {
            const std::uint64_t size = all.files.size(member).value_or(0);
            stored_tensor array = read_npy_header(file + "!/" + member, size,
                                                  [&](byte_range where) { return all.files.read(member, where); });
            std::ranges::move(left_behind(member, array, size), std::back_inserter(all.not_read));
            array.name = member.substr(0, member.size() - ending.size());
            all.tensors.push_back(std::move(array));
        } catch (const unsupported& refused) {
            all.not_read.push_back({member, std::string{refused.message()}, problem_kind::unsupported});
        } catch (const corrupt_data& damaged) {
            all.not_read.push_back({member, std::string{damaged.message()}});
        }
    }
    std::sort(all.tensors.begin(), all.tensors.end(),
              [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
    return all;
}

SMDEBUG_INLINE std::vector<left_out> left_behind(const std::string& name, const stored_tensor& array,
                                                 std::uint64_t size) {
    const std::uint64_t behind = size - array.where.offset - array.where.length;
    const std::string bytes = std::to_string(behind) + (behind == 1 ? " byte" : " bytes");
    return behind == 0 ? std::vector<left_out>{}
                       : std::vector<left_out>{{name,
                                                bytes + " behind its array are not read: save each array in a file of "
                                                        "its own, or all by numpy.savez",
                                                problem_kind::left_out}};
}

/// Reads Python literals from the front of a text, to the extent that a numeric header needs.
class literal_reader {
public:
    explicit literal_reader(std::string_view text) : rest_(text) {}

    /// Whether that character comes next, after blanks; consumes it.
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

/// numpy's name of an element type, "<f4".
struct npy_type {
    dtype type = dtype::invalid;
    bool big_endian = false;
};

/// The dtype of a kind and a size, or of another name of numpy's; `invalid` for none.
[[nodiscard]] constexpr dtype dtype_in_numpy(std::string_view name) noexcept {
    struct row {
        std::string_view names;
        dtype type;
    };
    // With numpy's names and letters, as numpy.load takes them; on the machines that it runs on, a long has 8 bytes.
    constexpr row rows[] = {{"b1 ? bool bool_ bool8", dtype::boolean},
                            {"i1 b int8 byte", dtype::int8},
                            {"i2 h int16 short", dtype::int16},
                            {"i4 i int32 intc", dtype::int32},
                            {"i8 l q p int64 int int_ long longlong intp", dtype::int64},
                            {"u1 B uint8 ubyte", dtype::uint8},
                            {"u2 H uint16 ushort", dtype::uint16},
                            {"u4 I uint32 uintc", dtype::uint32},
                            {"u8 L Q P uint64 uint ulong ulonglong uintp", dtype::uint64},
                            {"f2 e float16 half", dtype::float16},
                            {"f4 f float32 single", dtype::float32},
                            {"f8 d float64 float float_ double", dtype::float64},
                            {"c8 F complex64 csingle singlecomplex", dtype::complex64},
                            {"c16 D complex128 complex complex_ cdouble", dtype::complex128},
                            {"bfloat16", dtype::bfloat16},
                            {"float8_e4m3fn", dtype::float8_e4m3fn},
                            {"float8_e5m2", dtype::float8_e5m2}};
    for (const row& each : rows) {
        for (std::string_view rest = each.names; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            if (one == name) {
                return each.type;
            }
        }
    }
    return dtype::invalid;
}

/// Why elements of a kind are not read, and what the user can do.
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
            return "of an unsupported type: save them as float64 or another usual type";
    }
}

/// Parses one header.
class npy_parser {
public:
    explicit npy_parser(const std::string& file) : file_(file) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw corrupt_data("the file " + file_ + ": " + why, {.where = file_});
    }

    [[nodiscard]] stored_tensor parse(std::string_view header) const {
        literal_reader reader{header};
        std::optional<npy_type> type;
        std::optional<bool> column_major;
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
            } else if (*key == "fortran_order" && !column_major) {
                column_major = reader.truth();
                is_good = column_major.has_value();
            } else if (*key == "shape" && !shape) {
                shape = reader.tuple();
                is_good = shape.has_value();
            } else {
                is_good = false;  // numpy refuses other keys, too
            }
            is_good = is_good && (reader.take(',') || reader.comes_next('}'));
        }
        if (!is_good || !reader.take('}') || !reader.at_end() || !type || !column_major || !shape) {
            refuse("its header is not a dictionary of 'descr', 'fortran_order' and 'shape' as numpy writes it");
        }
        return {.name = {},
                .type = type->type,
                .shape = *shape,
                .where = {},
                .big_endian = type->big_endian,
                .column_major = *column_major && shape->size() > 1};
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
    const std::size_t begin = version == 1 ? 10 : 12;  // after the length
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

}  // namespace smdebug::inline v1::formats::detail
