// The bodies of <smdebug/archive.hpp>, which is not included here: that would make the component known to every program of
// the compiled form.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {

SMDEBUG_INLINE std::optional<any_storage> open_run(const any_storage& folder, const std::string& key,
                                                   std::string_view inside, const archive_options& options) {
    std::optional<opened_runs> all = open_runs(folder, key, inside, options);
    return all ? std::optional{only_run(std::move(*all), options)} : std::nullopt;
}

/// Refuses a zip whose members share bytes: a small file could otherwise inflate to any size, member by member.
inline void check_members_apart(const archive_storage& archive, const directory& of) {
    std::vector<const std::pair<const std::string, member>*> members;
    for (const auto& each : of.members) {
        members.push_back(&each);
    }
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->second.where.offset < b->second.where.offset; });
    const auto shares = [](const auto* a, const auto* b) {
        constexpr std::uint64_t least_head = 30;
        return b->second.where.offset - a->second.where.offset < least_head + a->second.where.length;
    };
    const auto two = std::adjacent_find(members.begin(), members.end(), shares);
    if (two != members.end()) {
        throw corrupt_data("the archive " + archive.name() + ": its members " + (*two)->first + " and " +
                               (*std::next(two))->first + " share bytes, which no writer makes",
                           {.where = archive.name(), .offset = (*two)->second.where.offset});
    }
}

SMDEBUG_INLINE any_storage open_files(const any_storage& folder, const std::string& key, const archive_options& options,
                                      member_names names) {
    const auto source = std::make_shared<stored_source>(folder, key);
    const auto all_of_it = std::make_shared<const contents>(source, options, indexes::used, names);
    const archive_storage whole = folder_of(all_of_it, source->name(), "");
    const opened_runs all{.name = whole.name(), .runs = {}, .damage = whole.damage()};
    if (!all.damage.empty() && !options.skip_damaged) {
        throw corrupt_data(damage_text(all), {.where = all.name});
    }
    if (all_of_it->kind() == "zip") {
        check_members_apart(whole, all_of_it->members());
    }
    return any_storage{whole};
}

SMDEBUG_INLINE std::vector<std::optional<std::uint64_t>> stored_places(const any_storage& files,
                                                                       std::span<const std::string> keys) {
    const archive_storage* const archive = files.target<archive_storage>();
    return archive != nullptr ? archive->stored_places(keys) : std::vector<std::optional<std::uint64_t>>(keys.size());
}

}  // namespace smdebug::inline v1::archive::detail
