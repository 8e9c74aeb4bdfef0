// The bodies of <smdebug/rules/built_in/replica_mismatch.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/element_differences.hpp>
#include <smdebug/rules/built_in/replica_mismatch.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void replica_mismatch::check() const {
    detail::check_range(name(), "rtol", rtol);
    detail::check_range(name(), "atol", atol);
}

SMDEBUG_INLINE std::vector<replica_mismatch::chosen> replica_mismatch::chosen_from(
    std::vector<std::string> selected, const std::vector<std::string>& stand_for,
    const std::vector<std::string>& selected_too) {
    std::map<std::string, chosen, std::less<>> all;
    for (std::string& each : selected) {
        if (!is_digest(each)) {
            all[each] = {.tensor = each, .values = true};
        }
    }
    for (const std::string& each : stand_for) {
        if (all.contains(each) || std::binary_search(selected_too.begin(), selected_too.end(), each)) {
            chosen& of = all[each];
            of.tensor = each;
            of.digest = true;
        }
    }
    std::vector<chosen> by_name;
    for (auto& each : all) {
        by_name.push_back(std::move(each.second));
    }
    return by_name;
}

SMDEBUG_INLINE std::optional<std::uint64_t> replica_mismatch::digest_in(const tensor_value& values) {
    const bool is_one = (values.type() == dtype::int64 || values.type() == dtype::uint64) && values.size() == 1;
    return is_one ? std::optional{load_le<std::uint64_t>(values.bytes().data())} : std::nullopt;
}

SMDEBUG_INLINE bool replica_mismatch::are_close(const tensor_value& value, const tensor_value& reference) const {
    return value.type() == reference.type() &&
           reduce::detail::allclose(value.view(), reference.view(), {rtol, atol, true});
}

SMDEBUG_INLINE replica_mismatch::verdict replica_mismatch::verdict_of(const held_by_workers& held, const fitting& fits,
                                                                      bool needs_reference) {
    // Workers with the same content are one group, which its first worker stands for.
    struct group {
        std::size_t first = 0;
        std::size_t workers = 0;
    };
    std::vector<group> groups;
    std::vector<std::size_t> group_of;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> known;
    for (std::size_t i = 0; i < held.workers.size(); ++i) {
        const auto found = known.try_emplace({held.contents[i].low, held.contents[i].high}, groups.size());
        if (found.second) {
            groups.push_back({.first = i});
        }
        ++groups[found.first->second].workers;
        group_of.push_back(found.first->second);
    }
    if (groups.size() == 1) {
        return {};
    }
    verdict best{.alike = false};
    std::size_t most = 0;
    for (std::size_t reference = 0; reference < groups.size(); ++reference) {
        if (!fits) {
            if (groups[reference].workers > most) {
                most = groups[reference].workers;
                best.reference = reference;
            }
            continue;
        }
        std::size_t count = 0;
        for (std::size_t other = 0; other < groups.size(); ++other) {
            if (other == reference || fits(groups[other].first, groups[reference].first)) {
                count += groups[other].workers;
            } else if (!needs_reference) {
                break;
            }
        }
        if (count == held.workers.size()) {
            return {};
        }
        if (count > most) {
            most = count;
            best.reference = reference;
        }
    }
    if (!needs_reference) {
        return best;
    }
    std::vector<bool> does_fit;
    for (std::size_t other = 0; other < groups.size(); ++other) {
        does_fit.push_back(other == best.reference ||
                           (fits && fits(groups[other].first, groups[best.reference].first)));
    }
    for (std::size_t i = 0; i < held.workers.size(); ++i) {
        if (!does_fit[group_of[i]]) {
            best.others.push_back(i);
        }
    }
    best.reference = groups[best.reference].first;
    return best;
}

SMDEBUG_INLINE std::string replica_mismatch::digests_text(const held_by_workers& held, const verdict& said) {
    return "its digest is " + std::to_string(held.contents[said.others.front()].low) + ", that of " +
           held.workers[said.reference] + " " + std::to_string(held.contents[said.reference].low);
}

SMDEBUG_INLINE std::string replica_mismatch::difference_text(const tensor_value& value,
                                                             const tensor_value& reference) const {
    const auto form = [](const tensor_value& of) {
        return std::string{name_of(of.type())} + " (" + shape_text(of.shape()) + ")";
    };
    if (value.type() != reference.type() || value.shape() != reference.shape()) {
        return "it is " + form(value) + " instead of " + form(reference);
    }
    const auto first = [&](const std::optional<reduce::detail::tolerance>& within) {
        reduce::detail::element_comparison all{value.type(), within};
        all.add(value.bytes(), reference.bytes());
        return all.first();
    };
    const auto found =
        first(has_tolerance() ? std::optional{reduce::detail::tolerance{rtol, atol, true}} : std::nullopt);
    return found ? "element " + std::to_string(found->place) + " is " + found->first + " instead of " + found->second
                 : std::string{"no element does"};
}

/// Some names, and how many more there are.
[[nodiscard]] inline std::string some_names(const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

SMDEBUG_INLINE finding replica_mismatch::finding_of(const held_by_workers& held, const verdict& said,
                                                    const std::string& where) {
    const std::size_t count = held.workers.size();
    const std::size_t fit = count - said.others.size();
    const bool is_majority = 2 * fit > count;
    std::vector<std::string> names;
    for (const std::size_t each : said.others) {
        names.push_back(held.workers[each]);
    }
    std::string tensor{held.are_digests ? tensor_of_digest(held.tensor) : std::string_view{held.tensor}};
    return {.met = true,
            .tensor = std::move(tensor),
            .worker = is_majority ? names.front() : std::string{},
            .value = static_cast<double>(names.size()),
            .threshold = 0,
            .message = std::to_string(names.size()) + " of " + std::to_string(count) + " workers do not hold what " +
                       held.workers[said.reference] + " does: " + some_names(names) + "; in " + names.front() + " " +
                       where + (is_majority ? "" : "; no majority: " + std::to_string(fit) + " hold the same")};
}

SMDEBUG_INLINE finding replica_mismatch::note_about_left_out(const std::vector<std::string>& tensors) {
    const bool is_one = tensors.size() == 1;
    return finding::note(std::to_string(tensors.size()) + (is_one ? " tensor differs" : " tensors differ") +
                         " between the workers where " + (is_one ? "it is" : "they are") +
                         " first compared, as shards do, and " + (is_one ? "is" : "are") +
                         " left out: " + some_names(tensors));
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
