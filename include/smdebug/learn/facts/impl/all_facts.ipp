// The bodies of <smdebug/learn/facts/all_facts.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/learn/facts/all_facts.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail::learn {

SMDEBUG_INLINE const entry_facts* all_facts::find(std::string_view tensor, mode in) const noexcept {
    const auto found = tensors.find(tensor);
    return found != tensors.end() ? found->second.find(in) : nullptr;
}

/// "abs_max,l2,zeros".
[[nodiscard]] inline std::string names_of(const number_set& numbers) {
    std::string text;
    for (std::size_t i = 0; i < number_count; ++i) {
        if (numbers.contains(static_cast<number>(i))) {
            text.append(text.empty() ? "" : ",").append(number_names[i]);
        }
    }
    return text;
}

/// The place of each of some sorted runs in a longer sorted list.
[[nodiscard]] inline std::vector<run_place> places_in(const std::vector<std::string>& all,
                                                      const std::vector<std::string>& some) {
    std::vector<run_place> places;
    places.reserve(some.size());
    std::size_t at = 0;
    for (const std::string& each : some) {
        while (all[at] != each) {
            ++at;
        }
        places.push_back(static_cast<run_place>(at));
    }
    return places;
}

inline void renumber(tensor_facts& of, const std::vector<run_place>& places) {
    if (places.empty() || places.back() + std::size_t{1} == places.size()) {
        return;  // each keeps its place
    }
    for (auto& [in, entry] : of.by_mode) {
        for (auto& [which, series] : entry.numbers) {
            series.windows.renumber(places);
        }
    }
}

SMDEBUG_INLINE void all_facts::join(all_facts&& other) {
    if (runs.empty() || other.runs.empty()) {
        if (runs.empty()) {
            *this = std::move(other);
        }
        return;
    }
    const std::vector<run_place> places = begin_join(other);
    for (auto place = other.tensors.begin(); place != other.tensors.end(); place = other.tensors.erase(place)) {
        join_tensor(place->first, std::move(place->second), places);
    }
}

SMDEBUG_INLINE std::vector<run_place> all_facts::begin_join(const all_facts& other) {
    std::vector<std::string> both;
    std::set_intersection(runs.begin(), runs.end(), other.runs.begin(), other.runs.end(), std::back_inserter(both));
    if (!both.empty()) {
        throw value_error("the run " + printable(both.front()) +
                          " is in both: each run counts once.  Leave it out of one of them");
    }
    if (reductions != other.reductions) {
        throw value_error("the one keeps " + names_of(reductions) + ", the other " + names_of(other.reductions) +
                          ": only facts of the same numbers are joined.  Learn one of them again");
    }
    std::merge(runs.begin(), runs.end(), other.runs.begin(), other.runs.end(), std::back_inserter(both));
    const std::vector<run_place> own_places = places_in(both, runs);
    for (auto& [name, tensor] : tensors) {
        renumber(tensor, own_places);
    }
    for (const auto& [in, facts] : other.modes) {
        mode_facts& joined_facts = modes[in];
        joined_facts = {joined_facts.runs + facts.runs, std::max(joined_facts.last, facts.last)};
    }
    tied = runs.empty() ? other.tied : joined(tied, other.tied);
    std::vector<run_place> places = places_in(both, other.runs);
    runs = std::move(both);
    return places;
}

SMDEBUG_INLINE void all_facts::join_tensor(const std::string& name, tensor_facts&& facts,
                                           const std::vector<run_place>& places) {
    renumber(facts, places);
    tensor_facts& to = tensors[name];
    for (auto& [in, from] : facts.by_mode) {
        const auto [at, is_new] = to.by_mode.try_emplace(in);
        if (is_new) {
            at->second = std::move(from);
        } else {
            at->second.join(std::move(from));
        }
    }
}

SMDEBUG_INLINE void all_facts::settle() {
    std::vector<run_place> found;
    for (auto& [name, tensor] : tensors) {
        for (auto& [in, entry] : tensor.by_mode) {
            for (auto& [which, series] : entry.numbers) {
                find_margins(series, which, found);
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    suspects.clear();
    for (const run_place each : found) {
        suspects.push_back(runs[each]);
    }
}

}  // namespace smdebug::inline v1::detail::learn
