// The bodies of <smdebug/batch/search/folder_walk.hpp>.
#pragma once

#include <smdebug/batch/search/folder_walk.hpp>
#include <smdebug/core/error.hpp>

#include <cstring>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
            // The folders of a log's modes are one log, also where a run lies below the folder that has them.  The root is left
            // out of that: in a folder of runs "test" is the name of one of them.
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
    if (!has_found_) {  // the folder itself is what was asked for
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
            // Gone meanwhile, but for a path that is longer than the system takes.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
