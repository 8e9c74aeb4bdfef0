// The bodies of <smdebug/batch/run_version.hpp> that are templates.
#pragma once

#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/search/version_digest.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <concepts>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A page of a listing with versions; nothing where the storage tells none.
template <storage S>
[[nodiscard]] std::optional<std::vector<object_entry>> versions_in(const S& store, std::string_view after,
                                                                   std::size_t most) {
    if constexpr (std::same_as<S, any_storage>) {
        return store.list_entries("", after, most);
    } else if constexpr (entry_lister<S>) {
        return store.entries("", after, most);
    } else {
        return std::nullopt;
    }
}

/// An entry of a storage that tells no versions; nothing where the object went.
template <storage S>
[[nodiscard]] std::optional<object_entry> entry_of(const S& store, std::string key) {
    const std::optional<std::uint64_t> size = store.size(key);
    if (!size) {
        return std::nullopt;
    }
    object_entry entry{.key = std::move(key), .size = *size};
    if constexpr (dated_storage<S>) {
        if (const auto written = store.modified(entry.key)) {
            entry.version = std::to_string(written->time_since_epoch().count());
        }
    }
    return entry;
}

}  // namespace detail

template <storage S>
std::optional<run_files> run_version(const S& store) {
    const auto is_of_run = [&](std::string_view key) {
        if constexpr (std::same_as<S, any_storage>) {
            return store.source() != nullptr || detail::is_file_of_run(key);  // logs and checkpoints have any name
        } else {
            return detail::is_file_of_run(key);
        }
    };
    constexpr std::size_t page_keys = std::size_t{1} << 16U;
    run_files all;
    detail::version_digest digest;
    const auto add = [&](const object_entry& one) {
        digest.add(one);
        all.bytes += one.size;
        ++all.files;
    };
    std::string after;
    for (bool goes_on = true; goes_on;) {
        const std::optional<std::vector<object_entry>> page = detail::versions_in(store, after, page_keys);
        if (!page) {
            for (std::string& key : store.list("", "")) {
                if (is_of_run(key)) {
                    if (const std::optional<object_entry> one = detail::entry_of(store, std::move(key))) {
                        add(*one);
                    }
                }
            }
            break;
        }
        for (const object_entry& one : *page) {
            if (is_of_run(one.key)) {
                add(one);
            }
        }
        goes_on = page->size() == page_keys;
        after = goes_on ? page->back().key : after;
    }
    if (all.files == 0) {
        return std::nullopt;
    }
    all.version = digest.text();
    return all;
}

}  // namespace v1
}  // namespace smdebug
