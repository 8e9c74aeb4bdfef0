// The bodies of <smdebug/batch/search/folder_walk.hpp>.
#pragma once

#include <smdebug/batch/search/folder_walk.hpp>
#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::detail {

[[nodiscard]] inline bool has_step_group(const std::string& folder) {
    bool has = false;
    if (auto reader = posix::folder_reader::open_if_there(posix::working_folder, folder, folder)) {
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            has = has || ((entry.what == kind::folder || entry.what == kind::link) && is_step_group(entry.name));
        });
    }
    return has;
}

SMDEBUG_INLINE std::optional<folder_names> names_in(const std::string& folder) {
    auto reader = posix::folder_reader::open_if_there(posix::working_folder, folder, folder);
    if (!reader) {
        return std::nullopt;
    }
    folder_names names{.self = reader->identity()};
    std::string part;
    std::size_t parts = 0;
    bool has_ended = false;
    bool has_folders = false;
    reader->each([&](const posix::folder_entry& entry) {
        using kind = posix::folder_entry::kind;
        const bool is_link = entry.what == kind::link;
        const bool is_folder = is_link || entry.what == kind::folder;
        has_folders = has_folders || is_folder;
        if (is_folder && is_run_part(entry.name)) {
            part = entry.name;
            ++parts;
        }
        has_ended = has_ended || (entry.what == kind::file && ended_job_of(path_below(folder, entry.name)));
        const bool is_lost = entry.what == kind::loose && posix::may_name_folder(entry.name);
        if (is_folder || is_lost ||
            (entry.what == kind::file && !archive_extension_of(entry.name).empty() && !is_resource_fork(entry.name))) {
            names.children.push_back(
                {std::string{entry.name}, is_folder || is_lost, is_link ? std::optional{entry.target} : std::nullopt});
        } else if (entry.what == kind::file) {
            const std::string path = path_below(folder, entry.name);
            if (const std::string_view ending = counted_ending_of(path); !ending.empty()) {
                ++names.others[std::string{ending}];
                names.has_data =
                    names.has_data || is_tensorboard_log(path) || is_data_file(entry.name) || entry.name == ".metadata";
            }
        }
    });
    names.is_run = parts > 1 || (parts == 1 && (has_ended || has_step_group(path_below(folder, part)))) ||
                   (has_ended && !has_folders && !names.has_data);
    if (names.is_run) {
        names.children.clear();
        names.others.clear();
    }
    std::sort(names.children.begin(), names.children.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    return names;
}

SMDEBUG_INLINE bool may_be_folder(const std::string& path) noexcept {
    try {
        return posix::open_folder(path).has_value();
    } catch (const error&) {
        return true;
    }
}

SMDEBUG_INLINE bool is_regular_file(const std::string& path) noexcept {
    try {
        return posix::facts_of(path).has_value();
    } catch (const error&) {
        return false;
    }
}

SMDEBUG_INLINE std::optional<object_entry> file_entry_of(const std::string& folder, const std::string& name) {
    const auto facts = posix::facts_of(path_below(folder, name));
    if (!facts) {
        return std::nullopt;
    }
    return object_entry{.key = name, .size = facts->size(), .version = facts->version()};
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::next() {
    if (phase_ != phase::data) {
        if (auto found = next_below()) {
            has_found_ = true;
            // An archive may lie beside a log, or below its folder.
            if (found->what == found_place::kind::run) {
                std::string above = found->path == root_ ? root_ : folder_above(found->path);
                while (above_.insert(above).second && above != root_) {
                    above = folder_above(above);
                }
            }
            return found;
        }
        phase_ = phase::data;
        find_data();
    }
    if (data_.empty()) {
        return std::nullopt;
    }
    return found_place{.what = found_place::kind::run, .path = std::move(data_.extract(data_.begin()).value())};
}

SMDEBUG_INLINE std::string folder_walk::folder_above(const std::string& path) const {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos || slash < root_.size() ? root_ : path.substr(0, slash);
}

SMDEBUG_INLINE void folder_walk::find_data() {
    const auto whole = [&](std::string folder) {
        while (folder != root_) {
            std::string above = folder_above(folder);
            // The folders of a log's modes are one log, even if a run lies below their parent.  The root is an
            // exception: in a folder of runs "test" is the name of a run.
            const bool is_of_mode = above != root_ && mode_of_folder(folder.substr(folder.rfind('/') + 1));
            if (above_.contains(above) && !is_of_mode) {
                break;
            }
            folder = std::move(above);
        }
        return folder;
    };
    for (const auto& [folder, others] : others_) {
        if (others.has_data && !above_.contains(folder)) {
            data_.insert(whole(folder));
        }
    }
    for (const auto& [folder, others] : others_) {
        if (!data_.contains(whole(folder))) {
            for (const auto& [ending, count] : others.files) {
                left_out_[ending] += count;
            }
        }
    }
    if (!has_found_) {  // the folder itself was named
        data_.clear();
        left_out_.clear();
    }
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::next_below() {
    if (phase_ == phase::root) {
        phase_ = phase::folders;
        if (auto found = take_root()) {
            return found;
        }
    }
    for (;;) {
        if (levels_.empty()) {
            if (phase_ == phase::folders) {
                phase_ = phase::links;
                see_those_above();
            }
            if (links_.empty()) {
                return std::nullopt;
            }
            if (auto found = take_link()) {
                return found;
            }
            continue;
        }
        level& top = levels_.back();
        const bool has_next = top.next < top.children.size();
        if (!top.waiting.empty() && (!has_next || top.waiting.begin()->first < top.children[top.next].name)) {
            auto first = top.waiting.extract(top.waiting.begin());
            first.key().pop_back();
            level below{.path = path_below(top.path, first.key()), .children = std::move(first.mapped())};
            levels_.push_back(std::move(below));
        } else if (!has_next) {
            levels_.pop_back();
        } else if (auto found = take_next(top)) {
            return found;
        }
    }
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::take_root() {
    std::vector<folder_names::child> children;
    std::optional<found_place> found = look(root_, children);
    if (!found) {
        levels_.push_back({.path = root_, .children = std::move(children)});
    }
    return found;
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::take_next(level& of) {
    const folder_names::child one = std::move(of.children[of.next++]);
    std::string path = path_below(of.path, one.name);
    if (one.target) {
        links_.emplace(std::move(path), *one.target);
        return std::nullopt;
    }
    if (!one.is_folder) {
        return found_place{.what = found_place::kind::archive, .path = std::move(path)};
    }
    std::vector<folder_names::child> children;
    std::optional<found_place> found = look(path, children);
    if (!found && !children.empty()) {
        of.waiting.emplace(one.name + "/", std::move(children));
    }
    return found;
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::take_link() {
    const auto link = links_.extract(links_.begin());
    if (!see(link.mapped())) {
        return std::nullopt;
    }
    std::vector<folder_names::child> children;
    std::optional<found_place> found = look(link.key(), children);
    if (!found) {
        levels_.push_back({.path = link.key(), .children = std::move(children)});
    }
    return found;
}

SMDEBUG_INLINE std::optional<found_place> folder_walk::look(const std::string& path,
                                                            std::vector<folder_names::child>& children) {
    try {
        std::optional<folder_names> names = names_in(path);
        if (!names) {
            std::error_code failed;
            if (std::filesystem::is_symlink(path, failed)) {
                throw not_found(path + " is a link to a folder that is not there", {.where = path});
            }
            // Removed meanwhile, unless the path is longer than the system allows.
            constexpr std::size_t longest = 4095;
            if (path.size() <= longest) {
                return std::nullopt;
            }
            throw unsupported("the path of the folder " + path.substr(0, 80) + "... has " +
                                  std::to_string(path.size()) + " bytes, more than the system takes",
                              {.where = path});
        }
        if (names->self) {
            see(*names->self);
        }
        if (names->is_run) {
            return found_place{.what = found_place::kind::run, .path = path};
        }
        children = std::move(names->children);
        if (!names->others.empty()) {
            others_.insert_or_assign(path, others_in{std::move(names->others), names->has_data});
        }
        return std::nullopt;
    } catch (const error& failed) {
        return found_place{.what = found_place::kind::error, .path = path, .error = failed.what()};
    }
}

SMDEBUG_INLINE bool folder_walk::see(const posix::folder_identity& folder) {
    char bytes[sizeof folder.device + sizeof folder.inode];
    std::memcpy(bytes, &folder.device, sizeof folder.device);
    std::memcpy(bytes + sizeof folder.device, &folder.inode, sizeof folder.inode);
    return seen_.insert({bytes, sizeof bytes});
}

SMDEBUG_INLINE void folder_walk::see_those_above() {
    constexpr int most_levels = 256;
    std::string path = root_;
    std::optional<posix::folder_identity> below;
    for (int up = 0; !links_.empty() && up < most_levels; ++up) {
        path += "/..";
        try {
            const auto reader = posix::folder_reader::open_if_there(posix::working_folder, path, path);
            const auto self = reader ? reader->identity() : std::nullopt;
            if (!self || self == below) {
                return;  // the root of all
            }
            see(*self);
            below = self;
        } catch (const error&) {
            return;
        }
    }
}

SMDEBUG_INLINE std::optional<found_place> pattern_walk::next() {
    if (!begun_) {
        begun_ = true;
        const path_pattern::progress start = pattern_.begin();
        if (pattern_.is_end(start)) {
            return may_be_folder(root_) ? std::optional{found_place{.what = found_place::kind::folder, .path = root_}}
                                        : std::nullopt;
        }
        if (auto failed = enter(root_, start)) {
            return failed;
        }
    }
    while (!levels_.empty()) {
        level& top = levels_.back();
        if (top.next == top.steps.size()) {
            levels_.pop_back();
            continue;
        }
        const step one = std::move(top.steps[top.next++]);
        std::string path = path_below(top.path, one.name);
        if (pattern_.is_end(one.reached)) {
            return found_place{.what = one.is_folder ? found_place::kind::folder : found_place::kind::archive,
                               .path = std::move(path)};
        }
        if (auto failed = enter(std::move(path), one.reached)) {
            return failed;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<found_place> pattern_walk::enter(std::string path, const path_pattern::progress& reached) {
    try {
        std::vector<step> steps = steps_in(path, reached);
        if (!steps.empty()) {
            levels_.push_back({.path = std::move(path), .steps = std::move(steps)});
        }
        return std::nullopt;
    } catch (const error& failed) {
        return found_place{.what = found_place::kind::error, .path = path, .error = failed.what()};
    }
}

SMDEBUG_INLINE void pattern_walk::add_step(std::vector<step>& steps, const path_pattern::progress& before,
                                           const step& candidate, bool is_link) const {
    path_pattern::progress reached = pattern_.after(before, candidate.name, is_link);
    if (candidate.is_folder ? pattern_.goes_on(reached) : pattern_.is_end(reached)) {
        steps.push_back({candidate.name, candidate.is_folder, std::move(reached)});
    }
}

SMDEBUG_INLINE std::vector<pattern_walk::step> pattern_walk::steps_in(const std::string& path,
                                                                      const path_pattern::progress& reached) {
    std::vector<step> steps;
    if (const std::string& name = pattern_.only_name(reached); !name.empty()) {
        const std::string below = path_below(path, name);
        if (may_be_folder(below)) {
            add_step(steps, reached, {name, true, {}}, false);
        } else if (!archive_extension_of(name).empty() && is_regular_file(below)) {
            add_step(steps, reached, {name, false, {}}, false);
        }
        return steps;
    }
    if (auto reader = posix::folder_reader::open_if_there(posix::working_folder, path, path)) {
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            const bool is_link = entry.what == kind::link;
            const bool is_folder = is_link || entry.what == kind::folder;
            if (is_folder || (entry.what == kind::file && !archive_extension_of(entry.name).empty() &&
                              !is_resource_fork(entry.name))) {
                add_step(steps, reached, {std::string{entry.name}, is_folder, {}}, is_link);
            } else if (entry.what == kind::file) {
                const std::string below = path_below(path, entry.name);
                if (const std::string_view ending = counted_ending_of(below);
                    !ending.empty() && pattern_.is_end(pattern_.after(reached, entry.name))) {
                    ++left_out_[std::string{ending}];
                }
            }
        });
    }
    // Paths inside a folder continue with '/'.
    const auto order = [&](const step& one) { return pattern_.is_end(one.reached) ? one.name : one.name + "/"; };
    std::sort(steps.begin(), steps.end(),
              [&](const step& one, const step& other) { return order(one) < order(other); });
    return steps;
}

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
        last_ = *passing_;
        // Places before the first key that shows the run.
        std::erase_if(others_, [&](const auto& each) { return each.first.starts_with(*passing_); });
        is_last_ = run->empty();
        ++places_on_page_;
        if (is_last_) {
            next_ = page_.size();
        }
    }
    const std::string folder = key.substr(0, key.rfind('/') + 1);
    if (!run && !last_.starts_with(folder) && !others_.contains(folder)) {
        run = ended_job_of(key);  // it has saved nothing
    }
    const std::string path{run ? *run : std::string_view{key}};
    if (!pattern_.covers(path)) {
        return std::nullopt;
    }
    if (!run && (archive_extension_of(key).empty() || is_resource_fork(key))) {
        if (const std::string_view ending = counted_ending_of(key); !ending.empty()) {
            ++others_[folder][std::string{ending}];
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
        const auto first = store_.entries(folder, "", 1);
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
        after = passing_->substr(0, passing_->size() - 1) + "0";  // '0' follows '/': after all keys of that run
        // A page that covers only a part of one run is larger than needed, if the next runs are as large.
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
    is_last_ = true;  // even if this fails
    const std::string prefix = place_.root + place_.prefix;
    after = after.empty() ? after : place_.root + after;
    if (auto entries = store_.entries(prefix, after, most_)) {
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

}  // namespace smdebug::inline v1::detail
