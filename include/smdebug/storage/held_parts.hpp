// The parts of objects that somebody holds, by key: there, or on their way.
// Used by: storage/caching_reader.hpp, storage/object_holder.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A part that begins with an object and is longer than that is the whole of it.
/// Threads: everything may be called at once.  Memory: what is held, until the last who holds it lets go.
class held_parts {
public:
    /// A whole object, whatever its size.
    static constexpr byte_range whole{0, std::numeric_limits<std::uint64_t>::max()};

    /// One part.  What is in it belongs to the table.
    class part {
    public:
        part(std::string_view key, byte_range asked) : key_(key), asked_(asked) {}
        [[nodiscard]] const std::string& key() const noexcept { return key_; }
        [[nodiscard]] byte_range asked() const noexcept { return asked_; }

    private:
        friend class held_parts;
        std::string key_;
        byte_range asked_;
        bool over = false;  // no longer on its way
        std::optional<byte_buffer> bytes;
        object_version version;
        std::size_t holders = 0;
    };
    using part_handle = std::shared_ptr<part>;

    struct promised {
        part_handle what;
        bool fresh = false;  ///< who has promised it is to bring it
    };

    /// Holds a part, which is on its way from now on, or has been before.
    [[nodiscard]] promised promise(std::string_view key, byte_range asked) {
        const std::lock_guard lock{guard_};
        std::vector<part_handle>& known = by_key_[std::string{key}];
        const auto same = std::find_if(known.begin(), known.end(), [&](const part_handle& one) {
            return one->asked_ == asked && (!one->over || one->bytes);
        });
        promised made{same != known.end() ? *same : std::make_shared<part>(key, asked), same == known.end()};
        if (made.fresh) {
            known.push_back(made.what);
        }
        ++made.what->holders;
        return made;
    }
    /// What has come of it; nothing: it cannot be had, or is not there.
    void put(const part_handle& what, std::optional<byte_buffer> bytes, object_version version = {}) {
        const std::lock_guard lock{guard_};
        what->over = true;
        if (bytes && what->holders > 0) {
            what->bytes = std::move(bytes);
            what->version = std::move(version);
        } else {
            erase(what);
        }
        over_.notify_all();
    }
    /// Lets go of it once.
    void release(const part_handle& what) {
        const std::lock_guard lock{guard_};
        if (--what->holders == 0) {
            erase(what);
            if (what->over) {
                what->bytes.reset();
            }
        }
    }
    /// Whether anybody still holds it.
    [[nodiscard]] bool is_held(const part_handle& what) const {
        const std::lock_guard lock{guard_};
        return what->holders > 0;
    }

    /// A range of an object, cut at the object's end, if it is inside of what is held; waits for it, if it is on its
    /// way.  Nothing for an empty range, and for one behind the object's end.
    /// `told`: is set to the version that it is of, as far as that is known.
    [[nodiscard]] std::optional<byte_buffer> find(std::string_view key, byte_range where,
                                                  object_version* told = nullptr) const {
        std::unique_lock lock{guard_};
        while (const part_handle held = look(key, where)) {
            if (held->over) {
                if (told != nullptr) {
                    *told = held->version;
                }
                return held->bytes->slice({where.offset - held->asked_.offset, where.length});
            }
            over_.wait(lock, [&] { return held->over; });
        }
        return std::nullopt;
    }
    [[nodiscard]] bool covers(std::string_view key, byte_range where) const {
        const std::lock_guard lock{guard_};
        return look(key, where) != nullptr;
    }

    /// Is told of an object that has been, or may have been, replaced: what is held of it is not given any more.
    void forget(std::string_view key) {
        const std::lock_guard lock{guard_};
        if (const auto known = by_key_.find(key); known != by_key_.end()) {
            by_key_.erase(known);
        }
    }
    void forget() {
        const std::lock_guard lock{guard_};
        by_key_.clear();
    }

private:
    [[nodiscard]] static bool covers(const part& held, byte_range where) noexcept {
        if (where.length == 0 || where.offset < held.asked_.offset || (held.over && !held.bytes)) {
            return false;
        }
        const std::uint64_t begin = where.offset - held.asked_.offset;
        const bool inside = begin <= held.asked_.length && where.length <= held.asked_.length - begin;
        if (!held.over) {
            return inside || (held.asked_.offset == 0 && where == whole);  // it may be all: that will be seen
        }
        const bool ended = held.bytes->size() < held.asked_.length;
        return begin < held.bytes->size() && (inside || ended);  // behind an object's end there may be more by now
    }

    [[nodiscard]] part_handle look(std::string_view key, byte_range where) const {
        const auto known = by_key_.find(key);
        if (known == by_key_.end()) {
            return nullptr;
        }
        const auto held = std::find_if(known->second.begin(), known->second.end(),
                                       [&](const part_handle& one) { return covers(*one, where); });
        return held != known->second.end() ? *held : nullptr;
    }

    void erase(const part_handle& what) {
        if (const auto known = by_key_.find(what->key_); known != by_key_.end()) {
            std::erase(known->second, what);
            if (known->second.empty()) {
                by_key_.erase(known);
            }
        }
    }

    mutable std::mutex guard_;
    mutable std::condition_variable over_;
    std::unordered_map<std::string, std::vector<part_handle>, text_hash, std::equal_to<>> by_key_;
};

}  // namespace v1
}  // namespace smdebug
