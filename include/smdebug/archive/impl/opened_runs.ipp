// The bodies of <smdebug/archive/opened_runs.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/zip.hpp>
#include <smdebug/archive/opened_runs.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

SMDEBUG_INLINE std::optional<opened_runs> open_runs(const any_storage& folder, const std::string& key,
                                                    std::string_view inside, const archive_options& options) {
    const auto source = std::make_shared<stored_source<any_storage>>(folder, key);
    const byte_buffer head = source->read({0, 512});
    if (format_of(head.view()) == format::unknown && !has_zip_end(*source)) {
        const bool is_known =
            !compression_not_read(head.view()).empty() || as_text(head.view()).starts_with(lfs_pointer_begin);
        if (is_known) {
            throw unsupported(source->name() + ": " + what_is_read(head.view()), {.where = source->name()});
        }
        return std::nullopt;
    }
    const archive_storage<any_storage> whole{std::make_shared<opened_archive>(source, inside, options)};
    opened_runs all{.name = folder.name() + "/" + key, .damage = whole.damage()};
    const std::vector<std::string> found = whole.runs();
    if (!inside.empty() || found.empty()) {
        all.runs.push_back({.inside = std::string{inside}, .store = any_storage{whole}});
        return all;
    }
    for (const std::string& run : found) {
        all.runs.push_back({.inside = run, .store = any_storage{whole.within(run)}});
    }
    return all;
}

SMDEBUG_INLINE std::string damage_text(const opened_runs& all) {
    std::string text = "the archive " + all.name + " is damaged: ";
    for (const std::string& place : all.damage) {
        text += (&place == all.damage.data() ? "" : "; ") + place;
    }
    return text;
}

SMDEBUG_INLINE any_storage only_run(opened_runs all, const archive_options& options) {
    if (!all.damage.empty() && !options.skip_damaged) {
        throw corrupt_data(
            damage_text(all) + ". To read what can be read around that, set archive_options::skip_damaged",
            {.where = all.name});
    }
    if (all.runs.size() > 1) {
        constexpr std::size_t most_named = 5;
        std::string names;
        for (std::size_t i = 0; i < std::min(all.runs.size(), most_named); ++i) {
            names += (i == 0 ? "" : ", ") + all.name + "!/" + all.runs[i].inside;
        }
        throw value_error("the archive " + all.name + " has " + std::to_string(all.runs.size()) +
                              " runs; name one of them: " + names + (all.runs.size() > most_named ? ", ..." : ""),
                          {.where = all.name});
    }
    return std::move(all.runs.front().store);
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
