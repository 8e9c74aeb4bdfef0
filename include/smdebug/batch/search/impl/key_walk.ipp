// The bodies of <smdebug/batch/search/key_walk.hpp>.
#pragma once

#include <smdebug/batch/search/key_walk.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE key_walk::key_walk(any_storage store, where place, path_pattern pattern)
    : store_(std::move(store)), place_(std::move(place)), pattern_(std::move(pattern)) {}

SMDEBUG_INLINE std::optional<found_place> key_walk::next() {
    for (;;) {
        while (next_ < page_.size()) {
            const std::string& key = page_[next_++].key;
            if (passing_ && key.starts_with(*passing_)) {
                continue;
            }
            if (std::optional<found_place> found = take(key)) {
                return found;
            }
        }
        if (is_last_ || !read_page()) {
            return std::nullopt;
        }
    }
}

SMDEBUG_INLINE std::optional<found_place> key_walk::take(const std::string& key) {
    const bool is_first = !std::exchange(begun_, true);
    std::optional<std::string_view> run = run_of_key(key);
    if (is_first && place_.prefix.empty() && (!run || !run->empty()) && root_is_run()) {
        run = std::string_view{};
    }
    if (run) {
        passing_ = run->empty() ? std::string{} : std::string{*run} + "/";
        // What came before the first key that shows the run.
        std::erase_if(others_, [&](const auto& each) { return each.first.starts_with(*passing_); });
        is_last_ = run->empty();
        ++places_on_page_;
        if (is_last_) {
            next_ = page_.size();
        }
    }
    const std::string path{run ? *run : std::string_view{key}};
    if (!pattern_.covers(path)) {
        return std::nullopt;
    }
    if (!run && (archive_extension_of(key).empty() || is_resource_fork(key))) {
        if (const std::string_view ending = counted_ending_of(key); !ending.empty()) {
            ++others_[key.substr(0, key.rfind('/') + 1)][std::string{ending}];
        }
        return std::nullopt;
    }
    return found_place{.what = run ? found_place::kind::run : found_place::kind::archive, .path = path};
}

SMDEBUG_INLINE left_out_files key_walk::left_out() const {
    left_out_files all;
    for (const auto& [folder, some] : others_) {
        for (const auto& [ending, count] : some) {
            all[ending] += count;
        }
    }
    return all;
}

SMDEBUG_INLINE bool key_walk::root_is_run() const {
    constexpr std::array<std::string_view, 3> parts{"collections/", "events/", "index/"};
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        const std::string folder = place_.root + std::string{part};
        const auto first = store_.list_entries(folder, "", 1);
        const auto is_of_root = [&](const std::string& key) {
            return run_of_key(std::string_view{key}.substr(place_.root.size())) == std::string_view{};
        };
        if (first) {
            return !first->empty() && is_of_root(first->front().key);
        }
        const std::vector<std::string> keys = store_.list(folder, "");
        return !keys.empty() && is_of_root(keys.front());
    });
}

SMDEBUG_INLINE bool key_walk::read_page() {
    std::string after = page_.empty() ? std::string{} : std::move(page_.back().key);
    if (passing_ && after.starts_with(*passing_)) {
        after = passing_->substr(0, passing_->size() - 1) + "0";  // '0' follows '/': behind all keys of that run
        // A page that has no more than a part of one run is longer than it need be, if the next ones are as large.
        if (most_ == most_keys && places_on_page_ <= 1) {
            short_pages_ = most_short_pages;
        }
    }
    if (places_on_page_ > 1) {
        short_pages_ = 0;
    }
    most_ = !begun_ || short_pages_ > 0 ? fewest_keys : most_keys;
    short_pages_ -= short_pages_ > 0 ? 1U : 0U;
    page_.clear();
    next_ = 0;
    places_on_page_ = 0;
    is_last_ = true;  // also where this fails
    const std::string prefix = place_.root + place_.prefix;
    after = after.empty() ? after : place_.root + after;
    if (auto entries = store_.list_entries(prefix, after, most_)) {
        page_ = *std::move(entries);
        is_last_ = page_.size() < most_;
    } else {
        for (std::string& key : store_.list(prefix, after)) {
            page_.push_back({.key = std::move(key)});
        }
    }
    for (object_entry& one : page_) {
        one.key.erase(0, place_.root.size());
    }
    return !page_.empty();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
