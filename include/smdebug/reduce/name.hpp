// The reductions as values: their enumerators and names, plain and of absolute values, and sets of them.
// Rules, trials, hooks, exports and kernels name reductions by these; nothing is computed here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {

/// The nine reductions of the Python package, in the order in which they are listed everywhere.
enum class reduction : std::uint8_t { min, max, mean, std, variance, sum, prod, l1, l2 };

inline constexpr std::size_t reduction_count = 9;

inline constexpr std::array<std::string_view, reduction_count> reduction_names{"min", "max",  "mean", "std", "variance",
                                                                               "sum", "prod", "l1",   "l2"};

/// "min", "std", "l2", ...
[[nodiscard]] constexpr std::string_view name_of(reduction which) noexcept {
    return reduction_names[static_cast<std::size_t>(which)];
}

/// The reduction of exactly that name, without "abs_".
[[nodiscard]] constexpr std::optional<reduction> reduction_named(std::string_view name) noexcept {
    for (std::size_t i = 0; i < reduction_count; ++i) {
        if (reduction_names[i] == name) {
            return static_cast<reduction>(i);
        }
    }
    return std::nullopt;
}

/// A reduction of x or of |x|.
struct reduction_key {
    reduction what = reduction::min;
    bool abs = false;
    friend constexpr auto operator<=>(const reduction_key&, const reduction_key&) = default;

    /// 0 to 8 plain, 9 to 17 abs: a place in arrays of 18.
    [[nodiscard]] constexpr std::size_t index() const noexcept {
        return static_cast<std::size_t>(what) + (abs ? reduction_count : 0);
    }
    [[nodiscard]] static constexpr reduction_key from_index(std::size_t index) noexcept {
        return {static_cast<reduction>(index % reduction_count), index >= reduction_count};
    }
    /// "mean", "abs_mean".
    [[nodiscard]] std::string name() const { return (abs ? std::string{"abs_"} : std::string{}).append(name_of(what)); }
};

/// The key of "mean" or "abs_mean".
[[nodiscard]] constexpr std::optional<reduction_key> reduction_key_named(std::string_view name) noexcept {
    constexpr std::string_view prefix = "abs_";
    const bool abs = name.starts_with(prefix);
    const auto what = reduction_named(abs ? name.substr(prefix.size()) : name);
    return what ? std::optional{reduction_key{*what, abs}} : std::nullopt;
}

/// The prefix of the names of saved reductions.
inline constexpr std::string_view reductions_prefix = "smdebug/reductions/";

/// Appends the name under which a reduction of a tensor is saved: "smdebug/reductions/abs_mean/dense/kernel:0".  The
/// tensor's name is kept whole, including an index such as ":0" at its end: readers take it back unchanged.
inline void append_reduction_tensor_name(std::string& out, std::string_view tensor, reduction_key key) {
    out += reductions_prefix;
    out += key.abs ? "abs_" : "";
    out += name_of(key.what);
    out += '/';
    out += tensor;
}

[[nodiscard]] inline std::string reduction_tensor_name(std::string_view tensor, reduction_key key) {
    std::string name;
    append_reduction_tensor_name(name, tensor, key);
    return name;
}

/// The suffix of the names of histogram tables: rows of left edge, right edge and count, as in logs.  They are not
/// values of a model's tensor: rules, statistics and reports skip them.
inline constexpr std::string_view table_suffix = " [buckets]";
/// The collection of a log's histograms: only tensors in it have tables, whatever other names end with.
inline constexpr std::string_view histograms_collection = "histograms";

/// The name of a histogram's table: "w [buckets]".
[[nodiscard]] inline std::string table_of_histogram(std::string_view histogram) {
    return std::string{histogram} += table_suffix;
}
[[nodiscard]] constexpr bool is_histogram_table(std::string_view name) noexcept { return name.ends_with(table_suffix); }
/// The histogram to which a table belongs.
[[nodiscard]] constexpr std::string_view histogram_of_table(std::string_view table) noexcept {
    return table.substr(0, table.size() - table_suffix.size());
}

/// The prefix of the names of saved digests: "digest/w" is that of "w".  They are not values of a model's tensor:
/// rules, statistics and reports skip them, and so do the regexes of collections.
inline constexpr std::string_view digest_prefix = "digest/";
/// The collection of the saved digests: only a run that has it has digests, whatever names begin with.
inline constexpr std::string_view digests_collection = "digests";

/// The name of a tensor's digest: "digest/w".
[[nodiscard]] inline std::string digest_of_tensor(std::string_view tensor) {
    return std::string{digest_prefix} += tensor;
}
[[nodiscard]] constexpr bool is_digest(std::string_view name) noexcept { return name.starts_with(digest_prefix); }
/// The tensor to which a digest belongs.
[[nodiscard]] constexpr std::string_view tensor_of_digest(std::string_view digest) noexcept {
    return digest.substr(digest_prefix.size());
}

/// A set of reductions, and of the four counts (NaN, +Inf, -Inf, zeros).  May be a template argument.
struct reduction_set {
    /// A bit for each reduction, by reduction_key::index(), then one for the counts: public so that the type is
    /// structural.
    std::uint32_t mask = 0;

    constexpr reduction_set() = default;
    constexpr reduction_set(reduction_key key) noexcept : mask(std::uint32_t{1} << key.index()) {}  // NOLINT: implicit
    constexpr reduction_set(reduction what, bool abs = false) noexcept                              // NOLINT: implicit
        : reduction_set(reduction_key{what, abs}) {}

    /// All 18 and the counts; the nine plain ones; the nine abs ones; the counts alone.
    [[nodiscard]] static constexpr reduction_set all() noexcept { return reduction_set{raw{}, (1U << 19U) - 1U}; }
    [[nodiscard]] static constexpr reduction_set plain() noexcept { return reduction_set{raw{}, 0x1FFU}; }
    [[nodiscard]] static constexpr reduction_set absolute() noexcept { return reduction_set{raw{}, 0x1FFU << 9U}; }
    [[nodiscard]] static constexpr reduction_set counts() noexcept { return reduction_set{raw{}, 1U << 18U}; }

    [[nodiscard]] constexpr bool contains(reduction_key key) const noexcept {
        return ((mask >> key.index()) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool contains(reduction what, bool abs = false) const noexcept {
        return contains(reduction_key{what, abs});
    }
    [[nodiscard]] constexpr bool has_counts() const noexcept { return ((mask >> 18U) & 1U) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return mask == 0; }

    friend constexpr reduction_set operator|(reduction_set a, reduction_set b) noexcept {
        return reduction_set{raw{}, a.mask | b.mask};
    }
    /// The members of `a` that are not in `b`.
    friend constexpr reduction_set operator-(reduction_set a, reduction_set b) noexcept {
        return reduction_set{raw{}, a.mask & ~b.mask};
    }
    friend constexpr reduction_set operator&(reduction_set a, reduction_set b) noexcept {
        return reduction_set{raw{}, a.mask & b.mask};
    }
    friend constexpr bool operator==(reduction_set, reduction_set) = default;

private:
    struct raw {};
    constexpr reduction_set(raw /*tag*/, std::uint32_t bits) noexcept : mask(bits) {}
};

}  // namespace smdebug::inline v1
