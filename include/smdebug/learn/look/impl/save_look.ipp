// The bodies of <smdebug/learn/look/save_look.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/reduce/allclose.hpp>

#include <algorithm>
#include <bit>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

SMDEBUG_INLINE reduce::detail::tensor_hash folded(const reduce::detail::tensor_hash& so_far, std::uint64_t low,
                                                  std::uint64_t high) noexcept {
    // The finalizer of SplitMix64, twice, with seeds that differ.
    const auto mix = [](std::uint64_t bits) {
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
        return bits ^ (bits >> 31U);
    };
    return {mix(mix(so_far.low + 0x9E3779B97F4A7C15U + low) + high),
            mix(mix(so_far.high + 0xD1B54A32D192ED03U + high) + std::rotl(low, 32))};
}

SMDEBUG_INLINE values_look values_measure::operator()(const tensor_view& values) const {
    values_look found{
        .type = values.type, .count = values.count(), .shape = shape_type{values.shape.begin(), values.shape.end()}};
    if (is_void(values.type)) {
        return found;
    }
    found.hash = reduce::detail::tensor_hash_of(values);
    if (found.count == 1) {
        std::array<double, reduce::detail::pair_block> room;
        found.element = reduce::detail::widened(values, 0, 1, room)[0];
    }
    return found;
}

SMDEBUG_INLINE reduction_set reductions_for(const number_set& kept) noexcept {
    reduction_set wanted = reduction_set{reduction::min} | reduction_set{reduction::max} | reduction_set::counts();
    for (std::size_t i = 0; i < number_count; ++i) {
        if (const auto key = reduction_of(static_cast<number>(i)); key && kept.contains(static_cast<number>(i))) {
            wanted = wanted | *key;
        }
    }
    return wanted;
}

/// A reduction of a save: as it was saved, else computed.
class reduction_finder {
public:
    explicit reduction_finder(const save_parts& parts) : parts_(parts) {}

    [[nodiscard]] std::optional<double> saved(reduction_key key) const noexcept {
        return parts_.saved.contains(key) ? std::optional{parts_.saved_value[key.index()]} : std::nullopt;
    }
    [[nodiscard]] std::optional<double> computed(reduction_key key) const noexcept {
        const bool is_there = parts_.computed != nullptr && parts_.computed->computed.contains(key);
        return is_there ? std::optional{(*parts_.computed)(key.what, key.abs)} : std::nullopt;
    }
    [[nodiscard]] std::optional<double> operator()(reduction_key key) const noexcept {
        const std::optional<double> found = saved(key);
        return found ? found : computed(key);
    }

private:
    const save_parts& parts_;
};

/// Whether a save without values has bad ones, judging by its saved extremes; nothing: none was saved.
[[nodiscard]] inline std::optional<bool> bad_by_reductions(const reduction_finder& find) noexcept {
    std::optional<bool> bad;
    for (const reduction_key key : {reduction_key{reduction::min, false}, reduction_key{reduction::max, false},
                                    reduction_key{reduction::min, true}, reduction_key{reduction::max, true}}) {
        if (const std::optional<double> extreme = find.saved(key)) {
            bad = bad.value_or(false) || !is_finite(*extreme);
        }
    }
    return bad;
}

[[nodiscard]] inline std::optional<double> value_of(const save_parts& parts, const reduction_finder& find) noexcept {
    if (parts.values != nullptr) {
        return parts.values->element;
    }
    for (const reduction what : {reduction::mean, reduction::sum, reduction::max, reduction::min}) {
        if (const std::optional<double> saved = find.saved({what, false})) {
            return saved;
        }
    }
    return std::nullopt;
}

[[nodiscard]] inline std::optional<double> number_of(number which, const save_parts& parts,
                                                     const reduction_finder& find) noexcept {
    if (which == number::zeros) {
        const bool can_count = parts.computed != nullptr && parts.computed->computed.has_counts();
        return parts.values != nullptr && parts.values->count > 0 && can_count
                   ? std::optional{static_cast<double>(parts.computed->zeros) /
                                   static_cast<double>(parts.values->count)}
                   : std::nullopt;
    }
    const std::optional<reduction_key> key = reduction_of(which);
    if (!key) {
        return std::nullopt;
    }
    std::optional<double> saved = find.saved(*key);
    if (!saved && (which == number::l1 || which == number::l2)) {
        saved = find.saved({key->what, true});
    }
    if (!saved && which == number::abs_max) {
        const std::optional<double> min = find.saved({reduction::min, false});
        const std::optional<double> max = find.saved({reduction::max, false});
        if (min && max) {
            // Of NaN and another number, magnitude() has either.
            saved = is_nan(*min) || is_nan(*max) ? *min + *max : number_range{*min, *max}.magnitude();
        }
    }
    return saved ? saved : find.computed(*key);
}

SMDEBUG_INLINE save_look look_at(const save_parts& parts, const number_set& kept) {
    save_look found;
    const reduction_finder find{parts};
    const values_look* const values = parts.values;
    if (values != nullptr && is_void(values->type)) {
        found.is_void = true;
        return found;
    }
    found.has_values = values != nullptr;
    found.has_shape = parts.shape != nullptr;
    if (parts.shape != nullptr) {
        const auto count = element_count(*parts.shape);
        found.size = count ? std::optional<std::uint64_t>{*count} : std::nullopt;
    }
    if (values != nullptr) {
        found.type = values->type;
        found.size = values->count;
        found.content = {.what = save_content::kind::values, .hash = values->hash};
        if (parts.computed != nullptr && parts.computed->computed.has_counts()) {
            const std::uint64_t bad = parts.computed->nan + parts.computed->pos_inf + parts.computed->neg_inf;
            found.bad = bad > 0;
            found.bad_share =
                values->count > 0 ? static_cast<double>(bad) / static_cast<double>(values->count) : found.bad_share;
        }
    } else {
        found.bad = bad_by_reductions(find);
        if (!parts.saved.empty()) {
            found.content.what = save_content::kind::reductions;
            found.content.reductions = parts.saved.mask;
            for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
                if (parts.saved.contains(reduction_key::from_index(i))) {
                    found.content.hash =
                        folded(found.content.hash, i, std::bit_cast<std::uint64_t>(parts.saved_value[i]));
                }
            }
        }
    }
    if (found.bad.value_or(false) || found.size == 0U || parts.name.starts_with(digest_prefix)) {
        return found;
    }
    const auto finite = [](std::optional<double> number) {
        return number && is_finite(*number) ? number : std::nullopt;
    };
    found.least = finite(find({reduction::min, false}));
    found.greatest = finite(find({reduction::max, false}));
    const auto take = [&](number which, const std::optional<double>& one) {
        if (const auto taken = finite(one)) {
            found.has.insert(which);
            found.numbers[static_cast<std::size_t>(which)] = *taken;
        }
    };
    if (found.size == 1U) {
        take(number::value, value_of(parts, find));
        return found;
    }
    for (std::size_t i = 0; i < number_count; ++i) {
        if (const auto which = static_cast<number>(i); kept.contains(which) && which != number::value) {
            take(which, number_of(which, parts, find));
        }
    }
    return found;
}

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
