// The bodies of <smdebug/storage/posix/folder_follower.hpp> that are templates.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace smdebug::inline v1::detail {

template <class System>
basic_folder_follower<System>::basic_folder_follower(std::string root, std::string_view prefix, System system)
    : root_(std::move(root)), prefix_(prefix), system_(std::move(system)) {
    assert(prefix.empty() || prefix.ends_with('/'));
}

template <class System>
std::vector<std::string> basic_folder_follower<System>::next() {
    folders_listed_ = 0;
    std::vector<std::string> keys;
    std::optional<posix::directory_handle> top;
    if (!root_.empty() && (prefix_.empty() || stays_inside(prefix_))) {
        top = posix::directory_handle::open(root_ + "/" + prefix_);
    }
    if (!top) {
        folders_.clear();  // folders that reappear are new
        return keys;
    }
    round work{.top = top->get(), .time_of_day = system_.time_of_day()};
    look_at_all(work);
    if (!work.waiting.empty()) {
        work.note(system_.look(posix::working_folder, root_.c_str()));
        list_waiting(work, keys);
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        // Only now, when nothing can throw any more: folders listed by a failed call must be listed again.
        for (auto& [name, known] : folders_) {
            known.settled = known.settled || known.settles;
        }
    }
    return keys;
}

template <class System>
void basic_folder_follower<System>::round::note(const posix::folder_look& seen) {
    // A time in the future may be from before the clock was set back, and then proves nothing.
    if (seen.is == posix::folder_look::state::there && seen.stamp.changed <= time_of_day) {
        auto& newest = latest.try_emplace(seen.stamp.self.device, seen.stamp.changed).first->second;
        newest = std::max(newest, seen.stamp.changed);
    }
}

template <class System>
std::optional<std::chrono::nanoseconds> basic_folder_follower<System>::round::latest_of(std::uint64_t device) const {
    const auto found = latest.find(device);
    return found == latest.end() ? std::nullopt : std::optional{found->second};
}

template <class System>
void basic_folder_follower<System>::look_at_all(round& work) {
    if (const auto top = folders_.find(""); top != folders_.end() && !is_same(top->second, look(work, ""))) {
        folders_.clear();
    }
    folders_.try_emplace("");
    for (auto entry = folders_.begin(); entry != folders_.end();) {
        auto& [name, known] = *entry;
        known.listed = false;
        const posix::folder_look seen = look(work, name);
        if (!name.empty() && !is_same(known, seen)) {
            entry = forget_gone(entry, work);
            continue;
        }
        update(known, seen);
        if (!known.settled) {
            work.waiting.insert(name);
        }
        ++entry;
    }
}

template <class System>
void basic_folder_follower<System>::list_waiting(round& work, std::vector<std::string>& keys) {
    for (;;) {
        if (!work.waiting.empty()) {
            list(work.waiting.extract(work.waiting.begin()).value(), work, keys);
        } else if (!work.links.empty()) {
            // Links come last: only now all followed folders are known.
            const auto link = work.links.extract(work.links.begin());
            if (is_followed(link.mapped())) {
                look_again(parent_of(link.key()),
                           work);  // if the folder is removed, only the link still leads there
            } else {
                discover(link.key(), work);
            }
        } else {
            return;
        }
    }
}

template <class System>
void basic_folder_follower<System>::list(const std::string& name, round& work, std::vector<std::string>& keys) {
    const auto place = folders_.find(name);
    if (place == folders_.end()) {
        return;
    }
    folder& known = place->second;
    const steady_time began = system_.now();
    auto reader =
        posix::folder_reader::open_if_there(work.top, name.empty() ? "." : name, root_ + "/" + prefix_ + name);
    const posix::folder_look seen =
        reader ? system_.look(reader->get(), "") : posix::folder_look{.is = posix::folder_look::state::missing};
    if (!is_same(known, seen)) {
        forget_gone(place, work);
        return;
    }
    ++folders_listed_;
    known.listed = true;
    known.self = reader->identity();
    update(known, seen);
    bool settles = known.stamp && system_.trusts(reader->get()) &&
                   posix::is_settled(*known.stamp, known.first_seen, began, work.latest_of(known.stamp->self.device));
    const std::string stem = prefix_ + name;
    reader->each([&](const posix::folder_entry& entry) {
        using kind = posix::folder_entry::kind;
        if (entry.what == kind::file || entry.what == kind::other || entry.what == kind::loose ||
            entry.what == kind::loose_other) {
            // Pipes, devices, links to them and dangling links count as files: reading one is an error.
            keys.push_back(posix::joined(stem, entry.name));
        } else if (entry.what == kind::folder || entry.what == kind::link) {
            std::string below = posix::joined(name, entry.name) + '/';
            if (!folders_.contains(below)) {
                if (entry.what == kind::folder) {
                    discover(below, work);
                } else {
                    work.links.emplace(std::move(below), entry.target);
                }
            }
        }
        if (entry.what == kind::loose || entry.what == kind::loose_other) {
            settles = false;
        }
    });
    known.settles = settles;
}

template <class System>
void basic_folder_follower<System>::discover(const std::string& name, round& work) {
    update(folders_.try_emplace(name).first->second, look(work, name));
    work.waiting.insert(name);
}

template <class System>
typename basic_folder_follower<System>::folder_map::iterator basic_folder_follower<System>::forget_gone(
    typename folder_map::iterator at, round& work) {
    const std::string gone = at->first;
    while (at != folders_.end() && at->first.starts_with(gone)) {
        at = folders_.erase(at);
    }
    if (!gone.empty()) {
        look_again(parent_of(gone), work);
    }
    return at;
}

template <class System>
void basic_folder_follower<System>::look_again(std::string_view name, round& work) {
    if (const auto place = folders_.find(name); place != folders_.end()) {
        place->second.settled = place->second.settles = false;
        if (!place->second.listed) {
            work.waiting.insert(place->first);
        }
    }
}

template <class System>
posix::folder_look basic_folder_follower<System>::look(round& work, const std::string& name) {
    const posix::folder_look seen = system_.look(work.top, name.c_str());
    work.note(seen);
    return seen;
}

template <class System>
void basic_folder_follower<System>::update(folder& known, const posix::folder_look& seen) {
    const bool is_there = seen.is == posix::folder_look::state::there;
    if (!is_there || known.stamp != seen.stamp) {
        known.stamp = is_there ? std::optional{seen.stamp} : std::nullopt;
        known.first_seen = system_.now();
        known.settled = false;
    }
}

template <class System>
bool basic_folder_follower<System>::is_same(const folder& known, const posix::folder_look& seen) noexcept {
    return seen.is != posix::folder_look::state::missing &&
           (seen.is == posix::folder_look::state::unknown || !known.stamp || known.stamp->self == seen.stamp.self);
}

template <class System>
bool basic_folder_follower<System>::is_followed(const posix::folder_identity& self) const {
    return std::any_of(folders_.begin(), folders_.end(), [&](const auto& known) { return known.second.self == self; });
}

}  // namespace smdebug::inline v1::detail
