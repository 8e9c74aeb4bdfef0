// The bodies of <smdebug/learn/facts/entry.hpp>.
#pragma once

#include <smdebug/learn/facts/entry.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace smdebug::inline v1::detail::learn {

/// Adds to a sorted list, or drops it where it becomes too long.
inline void add_dtypes(std::optional<std::vector<std::string>>& all, const std::vector<std::string>& more) {
    std::vector<std::string> both;
    std::set_union(all->begin(), all->end(), more.begin(), more.end(), std::back_inserter(both));
    all = both.size() > entry_facts::most_dtypes ? std::nullopt : std::optional{std::move(both)};
}

SMDEBUG_INLINE void entry_facts::see_dtype(std::string_view name) {
    if (dtypes && std::find(dtypes->begin(), dtypes->end(), name) == dtypes->end()) {
        add_dtypes(dtypes, {std::string{name}});
    }
}

/// The extents that two lists have in common; nothing: of another rank.
[[nodiscard]] inline std::optional<shape_fact> common_shape(const shape_fact& a, const shape_fact& b) {
    if (!a.extents || !b.extents) {
        return a.extents ? a : b;
    }
    if (a.extents->size() != b.extents->size()) {
        return std::nullopt;
    }
    shape_fact both = a;
    for (std::size_t i = 0; i < both.extents->size(); ++i) {
        std::optional<std::size_t>& extent = (*both.extents)[i];
        extent = extent == (*b.extents)[i] ? extent : std::nullopt;
    }
    return both;
}

SMDEBUG_INLINE void entry_facts::see_shape(const std::vector<std::size_t>& extents) {
    if (!shape) {
        return;
    }
    if (shape->extents && std::equal(extents.begin(), extents.end(), shape->extents->begin(), shape->extents->end())) {
        return;  // the usual save: nothing is allocated
    }
    shape = common_shape(*shape, {.extents = {{extents.begin(), extents.end()}}});
}

SMDEBUG_INLINE void entry_facts::join(entry_facts&& other) {
    const auto add = [](std::optional<std::uint64_t>& to, const std::optional<std::uint64_t>& from) {
        to = to && from ? std::optional{*to + *from} : std::nullopt;
    };
    runs += other.runs;
    every = {std::max(every.saves, other.every.saves), std::max(every.steps, other.every.steps)};
    if (dtypes && other.dtypes) {
        add_dtypes(dtypes, *other.dtypes);
    } else {
        dtypes.reset();
    }
    shape = shape && other.shape ? common_shape(*shape, *other.shape) : std::nullopt;
    add(finite, other.finite);
    add(nonnegative, other.nonnegative);
    add(nonpositive, other.nonpositive);
    add(constant, other.constant);
    add(changing, other.changing);
    add(replicas, other.replicas);
    for (auto& [which, series] : other.numbers) {
        const auto [place, is_new] = numbers.try_emplace(which);
        place->second = is_new ? std::move(series) : joined(place->second, series);
        series = {};
    }
}

SMDEBUG_INLINE std::vector<tied_class> joined(const std::vector<tied_class>& a, const std::vector<tied_class>& b) {
    std::map<std::string, std::vector<std::size_t>, std::less<>> in_b;  // its classes, usually one
    for (std::size_t i = 0; i < b.size(); ++i) {
        for (const std::string& tensor : b[i].tensors) {
            in_b[tensor].push_back(i);
        }
    }
    std::vector<tied_class> both;
    for (const tied_class& one : a) {
        std::map<std::size_t, std::vector<std::string>> common;  // by the class of b
        for (const std::string& tensor : one.tensors) {
            if (const auto found = in_b.find(tensor); found != in_b.end()) {
                for (const std::size_t place : found->second) {
                    common[place].push_back(tensor);
                }
            }
        }
        for (auto& [place, tensors] : common) {
            if (tensors.size() >= 2) {
                both.push_back({std::move(tensors), one.saves + b[place].saves});
            }
        }
    }
    std::sort(both.begin(), both.end(), [](const tied_class& one, const tied_class& other) {
        return std::tie(one.tensors, one.saves) < std::tie(other.tensors, other.saves);
    });
    return both;
}

}  // namespace smdebug::inline v1::detail::learn
