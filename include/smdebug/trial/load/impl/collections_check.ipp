// The bodies of <smdebug/trial/load/collections_check.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/key_check.hpp>
#include <smdebug/trial/load/collections_check.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void check_keys(std::vector<difference>& found, std::string_view file, const std::string& where,
                               const std::optional<json::value>& object, std::span<const std::string_view> known) {
    if (!object) {
        return;
    }
    for (const auto& wrong : {renamed_keys(*object, known), repeated_keys(*object)}) {
        if (wrong) {
            found.push_back({.kind = difference_kind::renamed_key, .file = std::string{file}, .what = where + *wrong});
        }
    }
}

SMDEBUG_INLINE void collections_check::add(const std::string& key, byte_view bytes, json::document& parser,
                                           std::vector<difference>& found) {
    collections_file parsed;
    if (const auto wrong = parse_collections_file(bytes, parser, parsed)) {
        throw corrupt_data(*wrong, {.where = key});
    }
    check_all_keys(key, *parser.parse(bytes), found);
    if (key_.empty()) {
        key_ = key;
        first_ = std::move(parsed);
    } else {
        compare(key, parsed, found);
    }
}

SMDEBUG_INLINE void collections_check::compare_names(const std::set<std::string, std::less<>>& seen,
                                                     std::vector<difference>& found) const {
    std::set<std::string_view> listed;
    for (const auto& [name, group] : first_.collections) {
        listed.insert(group.tensor_names.begin(), group.tensor_names.end());
    }
    std::vector<std::string_view> lonely;
    std::set_difference(seen.begin(), seen.end(), listed.begin(), listed.end(), std::back_inserter(lonely));
    constexpr std::size_t most = 4096;  // each is compared with each
    if (lonely.size() > most) {
        return;
    }
    for (const auto& [name, group] : first_.collections) {
        for (const std::string& tensor : group.tensor_names) {
            const auto near = std::find_if(lonely.begin(), lonely.end(),
                                           [&](std::string_view other) { return is_near(tensor, other); });
            if (near != lonely.end() && !seen.contains(tensor)) {
                found.push_back({.kind = difference_kind::collections,
                                 .file = key_,
                                 .tensor = std::string{*near},
                                 .what = "collection \"" + name + "\" has \"" + tensor + "\", which no step has"});
            }
        }
    }
}

SMDEBUG_INLINE void collections_check::check_all_keys(const std::string& key, json::value root,
                                                      std::vector<difference>& found) {
    constexpr std::array<std::string_view, 2> sections{"collections", "_meta"};
    constexpr std::array<std::string_view, 1> meta{"num_workers"};
    check_keys(found, key, "", root, sections);
    check_keys(found, key, "_meta: ", root["_meta"], meta);
    const auto groups = root["collections"];
    check_keys(found, key, "collections: ", groups, {});
    static_cast<void>(groups && groups->for_each_field([&](std::string_view name, json::value group) {
        check_group(key, name, group, found);
        return true;
    }));
}

SMDEBUG_INLINE void collections_check::check_group(const std::string& key, std::string_view name, json::value group,
                                                   std::vector<difference>& found) {
    constexpr std::array<std::string_view, 6> known{"name",        "include_regex",    "tensor_names",
                                                    "save_config", "reduction_config", "save_histogram"};
    constexpr std::array<std::string_view, 3> reductions{"reductions", "save_raw_tensor", "save_shape"};
    constexpr std::array<std::string_view, 4> intervals{"save_interval", "save_steps", "start_step", "end_step"};
    const std::string where = "collection \"" + std::string{name} + "\": ";
    check_keys(found, key, where, group, known);
    check_keys(found, key, where, group["reduction_config"], reductions);
    if (const auto modes = group["save_config"]) {
        static_cast<void>(modes->for_each_field([&](std::string_view, json::value mode) {
            check_keys(found, key, where, mode, intervals);
            return true;
        }));
    }
    const auto field = group["name"];
    const auto own = field ? field->string() : std::nullopt;
    if (own && *own != name) {
        found.push_back({.kind = difference_kind::collections,
                         .file = key,
                         .what = where + "it calls itself \"" + std::string{*own} + "\""});
    }
}

SMDEBUG_INLINE void collections_check::compare(const std::string& key, collections_file& one,
                                               std::vector<difference>& found) const {
    if (one.num_workers != first_.num_workers) {
        found.push_back({.kind = difference_kind::workers,
                         .file = key,
                         .what = "it says " + std::to_string(one.num_workers) + " workers, " + key_ + " says " +
                                 std::to_string(first_.num_workers)});
    }
    const auto tell = [&](const std::string& name, const std::string& what) {
        found.push_back({.kind = difference_kind::collections,
                         .file = key,
                         .what = "collection \"" + name + "\" is " + what + " " + key_});
    };
    for (auto& [name, group] : one.collections) {
        const auto same = first_.collections.find(name);
        if (same == first_.collections.end()) {
            tell(name, "not in");
            continue;
        }
        group.tensor_names = same->second.tensor_names;
        if (group != same->second) {
            tell(name, "configured otherwise than in");
        }
    }
    for (const auto& [name, group] : first_.collections) {
        if (!one.collections.contains(name)) {
            tell(name, "missing, which is in");
        }
    }
}

SMDEBUG_INLINE bool collections_check::is_near(std::string_view a, std::string_view b) noexcept {
    std::size_t other = a.size() == b.size() ? 0 : 2;
    for (std::size_t i = 0; other < 2 && i < a.size(); ++i) {
        other += a[i] != b[i] ? 1U : 0U;
    }
    return other == 1;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
