// The bodies of <smdebug/exporting/npz.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/exporting/npz.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail::crc32 {

namespace table = record::crc32c::detail::table;

inline constexpr table::table_set tables = table::make_tables(polynomial);

SMDEBUG_INLINE std::uint32_t extend_by_tables(std::uint32_t crc, byte_view bytes) noexcept {
    return ~table::pass(tables, ~crc, bytes.data(), bytes.size());
}

#if defined(__x86_64__)
using two_words = long long __attribute__((vector_size(16)));

// The factors that move 16 bytes `bits` further to the front: one for their first eight, one for the others.  A product
// of two reflected numbers is one bit too low, hence the shift.
[[nodiscard]] constexpr two_words factors_over(std::uint64_t bits) noexcept {
    return two_words{static_cast<long long>(std::uint64_t{power_of_x(bits + 32)} << 1U),
                     static_cast<long long>(std::uint64_t{power_of_x(bits - 32)} << 1U)};
}

// Compiler built-ins and "no-...": as in record/crc32c_x86.hpp.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline two_words load(
    const std::byte* at) noexcept {
    two_words value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline two_words folded(
    two_words value, two_words factors, two_words next) noexcept {
    return __builtin_ia32_pclmulqdq128(value, factors, 0x00) ^ __builtin_ia32_pclmulqdq128(value, factors, 0x11) ^ next;
}

// For 64 bytes or more.  Tables process the final 16 bytes, which stand for all.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::noinline]] inline std::uint32_t pass_by_products(
    std::uint32_t state, const std::byte* at, std::size_t count) noexcept {
    constexpr std::size_t lane = 16;
    const two_words over_four = factors_over(512);
    const two_words over_one = factors_over(128);
    two_words first = load(at) ^ two_words { static_cast<long long>(state), 0 };
    two_words second = load(at + lane);
    two_words third = load(at + 2 * lane);
    two_words fourth = load(at + 3 * lane);
    at += 4 * lane;
    count -= 4 * lane;
    for (; count >= 4 * lane; at += 4 * lane, count -= 4 * lane) {
        first = folded(first, over_four, load(at));
        second = folded(second, over_four, load(at + lane));
        third = folded(third, over_four, load(at + 2 * lane));
        fourth = folded(fourth, over_four, load(at + 3 * lane));
    }
    two_words all = folded(folded(folded(first, over_one, second), over_one, third), over_one, fourth);
    for (; count >= lane; at += lane, count -= lane) {
        all = folded(all, over_one, load(at));
    }
    std::byte rest[lane];
    std::memcpy(rest, &all, lane);
    return table::pass(tables, table::pass(tables, 0, rest, lane), at, count);
}
#endif

SMDEBUG_INLINE std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept {
#if defined(__x86_64__)
    if (bytes.size() >= 64 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2")) {
        return ~pass_by_products(~crc, bytes.data(), bytes.size());
    }
#endif
    return extend_by_tables(crc, bytes);
}

}  // namespace detail::crc32

namespace detail {

SMDEBUG_INLINE std::string_view numpy_type(dtype type) noexcept {
    switch (type) {
        case dtype::float16:
            return "<f2";
        case dtype::float32:
            return "<f4";
        case dtype::float64:
            return "<f8";
        case dtype::int8:
            return "|i1";
        case dtype::int16:
            return "<i2";
        case dtype::int32:
            return "<i4";
        case dtype::int64:
            return "<i8";
        case dtype::uint8:
            return "|u1";
        case dtype::uint16:
            return "<u2";
        case dtype::uint32:
            return "<u4";
        case dtype::uint64:
            return "<u8";
        case dtype::boolean:
            return "|b1";
        case dtype::complex64:
            return "<c8";
        case dtype::complex128:
            return "<c16";
        case dtype::bfloat16:
        case dtype::float8_e4m3fn:
        case dtype::float8_e5m2:
        case dtype::string:
        case dtype::invalid:
            return {};
    }
    return {};
}

SMDEBUG_INLINE std::string npy_head(std::string_view type, std::span<const std::size_t> shape) {
    constexpr std::size_t most_digits = 21;  // numpy reserves so many for the first extent
    constexpr std::size_t alignment = 64;
    std::string text{"{'descr': '"};
    text.append(type).append("', 'fortran_order': False, 'shape': (");
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
    }
    text += shape.size() == 1 ? ",), }" : "), }";
    if (!shape.empty()) {
        text.append(most_digits - std::to_string(shape.front()).size(), ' ');
    }
    const bool is_long = text.size() + alignment > 0xffff;
    std::string head{"\x93NUMPY"};
    head += is_long ? '\2' : '\1';
    head += '\0';
    const std::size_t before = head.size() + (is_long ? 4 : 2);
    text.append(alignment - (before + text.size() + 1) % alignment, ' ').append("\n");
    for (std::size_t i = 0; i < (is_long ? 4U : 2U); ++i) {
        head += static_cast<char>((text.size() >> (8 * i)) & 0xffU);
    }
    return head + text;
}

template <std::unsigned_integral Integer>
void put_le(std::string& out, Integer value) {
    out += as_text(std::as_bytes(std::span{&value, 1}));
}

// The fields that both headers of a member have in the same order: version needed, flags, method, time, date, checksum,
// sizes, length of the name, length of the extra field.
inline void put_member_fields(std::string& out, std::string_view name, std::uint32_t checksum, std::uint32_t size,
                              bool is_large, std::size_t extra) {
    constexpr std::uint16_t named_in_utf8 = 0x800;
    constexpr std::uint16_t first_of_1980 = 0x21;  // as numpy writes it
    const bool ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    put_le(out, std::uint16_t{is_large ? std::uint16_t{45} : std::uint16_t{20}});
    put_le(out, ascii ? std::uint16_t{0} : named_in_utf8);
    put_le(out, std::uint16_t{0});
    put_le(out, std::uint16_t{0});
    put_le(out, first_of_1980);
    put_le(out, checksum);
    put_le(out, size);
    put_le(out, size);
    put_le(out, static_cast<std::uint16_t>(name.size()));
    put_le(out, static_cast<std::uint16_t>(extra));
}

inline constexpr std::uint16_t zip64_field = 1;
inline constexpr std::uint32_t in_zip64_field = 0xffffffff;

SMDEBUG_INLINE std::string zip_writer::local_header(const member& of) {
    std::string out{"PK\3\4"};
    put_member_fields(out, of.name, of.checksum, of.is_large ? in_zip64_field : static_cast<std::uint32_t>(of.size),
                      of.is_large, of.is_large ? 20 : 0);
    out += of.name;
    if (of.is_large) {
        put_le(out, zip64_field);
        put_le(out, std::uint16_t{16});
        put_le(out, of.size);
        put_le(out, of.size);
    }
    return out;
}

SMDEBUG_INLINE std::string zip_writer::directory_entry(const member& of) const {
    const bool large_size = of.size >= limits_.size;
    const bool large_offset = of.offset >= limits_.size;
    std::string extra;
    if (large_size || large_offset) {
        put_le(extra, zip64_field);
        put_le(extra, static_cast<std::uint16_t>((large_size ? 16 : 0) + (large_offset ? 8 : 0)));
        if (large_size) {
            put_le(extra, of.size);
            put_le(extra, of.size);
        }
        if (large_offset) {
            put_le(extra, of.offset);
        }
    }
    std::string out{"PK\1\2"};
    put_le(out, std::uint16_t{3 << 8 | 45});  // by Unix
    put_member_fields(out, of.name, of.checksum, large_size ? in_zip64_field : static_cast<std::uint32_t>(of.size),
                      of.is_large || large_offset, extra.size());
    put_le(out, std::uint16_t{0});               // length of the comment
    put_le(out, std::uint16_t{0});               // disk
    put_le(out, std::uint16_t{0});               // internal attributes
    put_le(out, std::uint32_t{0100644} << 16U);  // a file, rw-r--r--
    put_le(out, large_offset ? in_zip64_field : static_cast<std::uint32_t>(of.offset));
    return out + of.name + extra;
}

SMDEBUG_INLINE void zip_writer::add(std::string_view name, std::span<const byte_view> pieces) {
    member added{.name = std::string{name}, .offset = to_->size()};
    for (const byte_view piece : pieces) {
        added.size += piece.size();
        added.checksum = crc32::extend(added.checksum, piece);
    }
    added.is_large = added.size >= limits_.size;
    to_->append(local_header(added));
    for (const byte_view piece : pieces) {
        to_->append(piece);
    }
    members_.push_back(std::move(added));
}

SMDEBUG_INLINE void zip_writer::begin(std::string_view name, std::size_t head) {
    members_.push_back({.name = std::string{name}, .offset = to_->size(), .is_large = true});
    to_->append(local_header(members_.back()));
    to_->append(std::string(head, '\0'));
}

SMDEBUG_INLINE void zip_writer::append(byte_view bytes) {
    member& last = members_.back();
    last.size += bytes.size();
    last.checksum = crc32::extend(last.checksum, bytes);
    to_->append(bytes);
}

SMDEBUG_INLINE void zip_writer::end(byte_view head) {
    member& last = members_.back();
    last.checksum = crc32::combine(crc32::extend(0, head), last.checksum, last.size);
    last.size += head.size();
    const std::string header = local_header(last);
    to_->overwrite(last.offset, as_bytes(std::string_view{header}));
    to_->overwrite(last.offset + header.size(), head);
}

SMDEBUG_INLINE void zip_writer::finish() {
    const std::uint64_t begin = to_->size();
    for (const member& each : members_) {
        to_->append(directory_entry(each));
    }
    const std::uint64_t end = to_->size();
    const bool large = members_.size() >= limits_.members || begin >= limits_.size || end - begin >= limits_.size;
    std::string out;
    if (large) {
        out += "PK\6\6";
        put_le(out, std::uint64_t{44});  // bytes of this record after this field
        put_le(out, std::uint16_t{3 << 8 | 45});
        put_le(out, std::uint16_t{45});
        put_le(out, std::uint32_t{0});
        put_le(out, std::uint32_t{0});
        put_le(out, std::uint64_t{members_.size()});
        put_le(out, std::uint64_t{members_.size()});
        put_le(out, end - begin);
        put_le(out, begin);
        out += "PK\6\7";
        put_le(out, std::uint32_t{0});
        put_le(out, end);
        put_le(out, std::uint32_t{1});
    }
    const auto count = large ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(members_.size());
    out += "PK\5\6";
    put_le(out, std::uint16_t{0});
    put_le(out, std::uint16_t{0});
    put_le(out, count);
    put_le(out, count);
    put_le(out, large ? in_zip64_field : static_cast<std::uint32_t>(end - begin));
    put_le(out, large ? in_zip64_field : static_cast<std::uint32_t>(begin));
    put_le(out, std::uint16_t{0});
    to_->append(out);
}

/// The largest number of dimensions of a numpy array (from numpy 2.0 on: 64).
inline constexpr std::size_t most_numpy_dimensions = 32;

/// A tensor as a numpy array: a head and its elements.
struct numpy_array {
    std::string type = {};             ///< numpy's name of the dtype
    std::vector<std::byte> made = {};  ///< converted elements
    byte_view bytes = {};              ///< in the tensor, or in `made`

    /// Fills it, or returns why there is no such array, as export_target::add() does.  bfloat16 and float8 become
    /// float32; strings become bytes of one length, padded with zeros.
    [[nodiscard]] std::string hold(const tensor_view& tensor) {
        if (tensor.shape.size() > most_numpy_dimensions) {
            return "has " + std::to_string(tensor.shape.size()) + " dimensions, and numpy at most " +
                   std::to_string(most_numpy_dimensions);
        }
        if (tensor.type == dtype::string) {
            constexpr std::size_t most_bytes = std::size_t{1} << 30U;
            std::size_t longest = 1;  // numpy's size of empty strings
            for (const std::string_view text : tensor.strings) {
                if (text.ends_with('\0')) {
                    return "has a string that ends in a zero byte, which numpy drops";
                }
                longest = std::max(longest, text.size());
            }
            if (longest > most_bytes / std::max<std::size_t>(tensor.strings.size(), 1)) {
                return "has strings that would take more than 1 GiB, each as long as the longest";
            }
            made.assign(longest * tensor.strings.size(), std::byte{0});
            for (std::size_t i = 0; i < tensor.strings.size(); ++i) {
                const byte_view text = as_bytes(tensor.strings[i]);
                std::copy(text.begin(), text.end(), made.begin() + static_cast<std::ptrdiff_t>(i * longest));
            }
            type = "|S" + std::to_string(longest);
            bytes = made;
            return {};
        }
        if (numpy_type(tensor.type).empty() && is_numeric(tensor.type)) {
            const std::size_t count = tensor.count();
            made.resize(count * sizeof(float));
            visit_dtype(tensor.type, [&]<class Element>() {
                if constexpr (narrow_float<Element>) {
                    for (std::size_t i = 0; i < count; ++i) {
                        const Element number = load_le<Element>(tensor.bytes.data() + i * sizeof(Element));
                        store_le(made.data() + i * sizeof(float), static_cast<float>(number));
                    }
                }
            });
            type = numpy_type(dtype::float32);
            bytes = made;
            return {};
        }
        type = numpy_type(tensor.type);
        bytes = tensor.bytes;
        return type.empty() ? "has a dtype that numpy has no word for" : "";
    }
};

// The name of a tensor's member, within the limits of a zip.
[[nodiscard]] inline std::string npz_member(std::string_view tensor) {
    std::string name = member_name(tensor) + ".npy";
    return name.size() > zip_writer::longest_name ? std::string{} : name;
}

/// An .npz a step.
class npz_steps final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists, value_error (one file, and several steps).
    npz_steps(std::string output, const export_extent& what, const export_options& options)
        : files_(std::move(output), ".npz", what, options) {}

    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        const std::string name = npz_member(tensor.name);
        if (name.empty()) {
            return "has a name that is too long for a zip";
        }
        const tensor_view values = tensor.values()->view();
        if (std::string why_not = array_.hold(values); !why_not.empty()) {
            return why_not;
        }
        if (!zip_) {
            zip_.emplace(files_.open(tensor));
        }
        const std::string head = npy_head(array_.type, values.shape);
        const std::array pieces{as_bytes(std::string_view{head}), array_.bytes};
        zip_->add(name, pieces);
        return {};
    }

    void end_file() override {
        if (zip_) {
            zip_->finish();
            zip_.reset();
            files_.close();
        }
    }

    void finish(export_result& result) override { files_.finish(result); }

private:
    step_files files_;
    std::optional<zip_writer> zip_;
    numpy_array array_;
};

inline constexpr std::string_view steps_member = "steps";
inline constexpr std::string_view modes_member = "modes";
inline constexpr std::size_t longest_mode = 7;  // PREDICT

/// One .npz of one tensor over its steps: its values as one array with an additional dimension, and "steps".
class npz_stack final : public export_target {
public:
    /// Errors: run_exists, value_error (several workers).
    npz_stack(const std::string& output, const export_extent& what, const export_options& options)
        : replace_(options.replace),
          file_((check_output_file(output, replace_), output)),
          zip_(file_),
          member_(npz_member(what.tensors.front())) {
        const auto refuse = [&](const std::string& why) {
            throw value_error(output + " cannot be written: " + why, {.where = output});
        };
        if (what.workers.size() > 1) {
            refuse(std::to_string(what.workers.size()) + " workers have saved " + what.tensors.front() +
                   ", and the steps of one are stacked: choose one, or name a folder");
        }
        if (what.repeats_steps) {
            modes_.emplace();
        }
        if (member_.empty() || what.tensors.front() == steps_member ||
            (modes_ && what.tensors.front() == modes_member)) {
            refuse("the tensor has a name that is " +
                   std::string{member_.empty() ? "too long" : "also that of the steps or their modes"} +
                   ": name a folder");
        }
    }

    /// Errors: value_error where a step has another dtype or shape than the first.
    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        const tensor_view values = tensor.values()->view();
        if (values.shape.size() + 1 > most_numpy_dimensions) {
            return "has too many dimensions to be stacked";
        }
        if (values.type == dtype::string) {
            return "holds strings, which are of other lengths at other steps: name a folder";
        }
        if (std::string why_not = array_.hold(values); !why_not.empty()) {
            return why_not;
        }
        if (steps_.empty()) {
            begin(tensor);
        } else if (values.type != first_type_ ||
                   !std::equal(values.shape.begin(), values.shape.end(), shape_.begin() + 1, shape_.end())) {
            const auto described = [](dtype type, std::span<const std::size_t> shape) {
                return std::string{name_of(type)} + " of shape (" + shape_text(shape) + ")";
            };
            throw value_error("the steps of " + std::string{tensor.name} + " do not stack: at step " +
                                  std::to_string(tensor.shown_step) + " it is " + described(values.type, values.shape) +
                                  ", at step " + std::to_string(steps_.front()) + " " +
                                  described(first_type_, std::span{shape_}.subspan(1)) + ": name a folder",
                              {.tensor = std::string{tensor.name}, .step = tensor.shown_step});
        }
        ++shape_.front();
        steps_.push_back(tensor.shown_step);
        if (modes_) {
            modes_->append(name_of(tensor.mode)).resize(longest_mode * steps_.size(), '\0');
        }
        zip_.append(array_.bytes);
        return {};
    }

    void finish(export_result& result) override {
        const std::string made = head();
        zip_.end(as_bytes(std::string_view{made}));
        const std::array count{steps_.size()};
        const std::string head_of_steps = npy_head(numpy_type(dtype::int64), count);
        const std::array pieces{as_bytes(std::string_view{head_of_steps}), byte_view{std::as_bytes(std::span{steps_})}};
        zip_.add(std::string{steps_member} + ".npy", pieces);
        if (modes_) {
            const std::string head_of_modes = npy_head("|S" + std::to_string(longest_mode), count);
            const std::array texts{as_bytes(std::string_view{head_of_modes}), as_bytes(std::string_view{*modes_})};
            zip_.add(std::string{modes_member} + ".npy", texts);
        }
        zip_.finish();
        finish_file(file_, replace_, result);
    }

private:
    void begin(const scanned_tensor& tensor) {
        const tensor_view values = tensor.values()->view();
        first_type_ = values.type;
        type_ = array_.type;
        shape_.assign(1, 0);
        shape_.insert(shape_.end(), values.shape.begin(), values.shape.end());
        zip_.begin(member_, head().size());
    }

    [[nodiscard]] std::string head() const { return npy_head(type_, shape_); }

    bool replace_;
    buffered_output file_;
    zip_writer zip_;
    numpy_array array_;
    std::string member_;
    std::string type_;
    dtype first_type_ = dtype::invalid;
    shape_type shape_;  // the number of steps, then the tensor's shape
    std::vector<std::int64_t> steps_;
    std::optional<std::string> modes_;  // of the steps, seven bytes each; nothing where the numbers suffice
};

}  // namespace detail

SMDEBUG_INLINE export_result export_npz(const trial& run, const std::string& output, const export_options& options) {
    const std::string path = detail::output_path(output, run.path());
    const auto from = detail::catalog_of(run);
    const auto what = detail::export_extent::of(*from, options.which);
    if (path.ends_with(".npz") && what.tensors.size() == 1 && what.files.size() > 1) {
        detail::npz_stack target{path, what, options};
        return detail::walk_export(run, options, target);
    }
    detail::npz_steps target{path, what, options};
    return detail::walk_export(run, options, target);
}

}  // namespace smdebug::inline v1
