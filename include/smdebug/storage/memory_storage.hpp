// A storage that is a map in memory: the reference of what a storage does, and a place for runs that never see a disk.
// Used by: tests, rules inside the training process.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Objects in memory.  Copies are handles on the same objects, so that a writer and a trial can share one.
/// Reading shares the bytes: no copy, and an object that is replaced stays whole for those who hold it.
/// Threads: everything may be called at once.
class memory_storage {
public:
    /// `label` is what name() gives, as "memory:<label>".
    memory_storage() : memory_storage("run") {}
    explicit memory_storage(const std::string& label) : name_("memory:" + label), state_(std::make_shared<state>()) {}

    /// The whole object.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        if (found == state_->objects.end()) {
            throw not_found("there is no object " + std::string{key} + " in " + name_, {.where = std::string{key}});
        }
        return found->second;
    }

    /// A part of it, cut at its end.  Errors: not_found.
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return read(key).slice(where); }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        const std::shared_lock lock{state_->guard};
        const std::string_view start = after > prefix ? after : prefix;
        std::vector<std::string> keys;
        for (auto at = state_->objects.lower_bound(start); at != state_->objects.end(); ++at) {
            if (!at->first.starts_with(prefix)) {
                break;
            }
            if (at->first != after) {
                keys.push_back(at->first);
            }
        }
        return keys;
    }

    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        const std::shared_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        return found == state_->objects.end() ? std::nullopt : std::optional<std::uint64_t>{found->second.size()};
    }

    [[nodiscard]] std::string name() const { return name_; }

    /// Puts an object there, or another in its place.  Copies the bytes.
    void write(std::string_view key, byte_view bytes) {
        auto buffer = byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end()));
        const std::unique_lock lock{state_->guard};
        state_->objects.insert_or_assign(std::string{key}, std::move(buffer));
    }

    /// Takes an object away.  Returns whether it was there.
    bool remove(std::string_view key) {
        const std::unique_lock lock{state_->guard};
        const auto found = state_->objects.find(key);
        if (found == state_->objects.end()) {
            return false;
        }
        state_->objects.erase(found);
        return true;
    }

private:
    struct state {
        mutable std::shared_mutex guard;
        std::map<std::string, byte_buffer, std::less<>> objects;
    };
    std::string name_;
    std::shared_ptr<state> state_;
};

static_assert(writable_storage<memory_storage>);

}  // namespace v1
}  // namespace smdebug
