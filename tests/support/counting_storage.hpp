// A storage that lists with versions and reads in batches, counts its calls, and calls a test's callback: for testing
// the layers between a storage and a reader.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>

#include "support/given_text.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// What a counting_storage can do beyond a plain one.
struct counted_abilities {
    bool versions = true;  ///< entries, read_versioned
    bool batches = true;   ///< read_each, read_ranges
};

/// Holds objects as memory_storage does; copies share everything.  A batch counts as one call, "each a b c" or
/// "ranges a b"; the others are "read a", "entries a" (with the prefix), "list a", "size a".
/// Threads: everything may be called at once.
template <counted_abilities Can = counted_abilities{}>
class counting_storage : public smdebug::storage_base {
    struct state {
        std::mutex guard;
        std::vector<std::string> calls;
        std::function<void(const std::string&)> before = [](const auto&) {};
    };

public:
    explicit counting_storage(smdebug::memory_storage objects = {}) : objects_(std::move(objects)) {}

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = Can.batches,
                .views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = true,
                .removes = true};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key,
                                            smdebug::byte_range where = smdebug::whole_object) const override {
        note(where == smdebug::whole_object ? "read " : "part ", key);
        return objects_.read(key, where);
    }
    [[nodiscard]] smdebug::versioned_object read_versioned(std::string_view key) const override {
        if constexpr (!Can.versions) {
            return storage_base::read_versioned(key);
        }
        note("read ", key);
        return objects_.read_versioned(key);
    }
    void read_each(std::span<const std::string> keys, smdebug::object_sink sink) const override {
        if constexpr (!Can.batches) {
            return storage_base::read_each(keys, sink);
        }
        std::string all = "each";
        for (const std::string& key : keys) {
            all += " " + key;
        }
        note(all, {});
        for (std::size_t i = 0; i < keys.size(); ++i) {
            before("one " + keys[i]);
            const auto whole = objects_.view(keys[i]);
            if (!sink(i, whole ? std::optional{whole->view()} : std::nullopt, {})) {
                return;
            }
        }
    }
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const override {
        if constexpr (!Can.batches) {
            return storage_base::read_ranges(ranges, sink);
        }
        std::string all = "ranges";
        for (const smdebug::object_range& one : ranges) {
            all.append(" ").append(one.key);
        }
        note(all, {});
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            before("one " + std::string{ranges[i].key});
            const auto whole = objects_.view(ranges[i].key);
            if (!sink(i, whole ? std::optional{whole->slice(ranges[i].where)} : std::nullopt, {})) {
                return;
            }
        }
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        note("list ", prefix);
        return objects_.list(given_text(prefix), given_text(after));
    }
    [[nodiscard]] std::optional<std::vector<smdebug::object_entry>> entries(std::string_view prefix,
                                                                            std::string_view after,
                                                                            std::size_t most) const override {
        if constexpr (!Can.versions) {
            return std::nullopt;
        }
        note("entries ", prefix);
        return objects_.entries(given_text(prefix), given_text(after), most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        note("size ", key);
        return objects_.size(key);
    }
    [[nodiscard]] std::string name() const override { return "counting"; }
    void write(std::string_view key, smdebug::byte_view bytes) override { objects_.write(key, bytes); }
    [[nodiscard]] std::unique_ptr<smdebug::object_output> create(std::string_view key) override {
        return objects_.create(key);
    }
    bool remove(std::string_view key, smdebug::durability how = smdebug::durability::cached) override {
        return objects_.remove(key, how);
    }

    // What tests say and ask -----------------------------------------------------------------------------------------

    /// Its content, to be changed without counting.
    [[nodiscard]] smdebug::memory_storage objects() const { return objects_; }
    /// Calls `told` before each call, on the caller's thread; it may wait, or throw.  Set it before there are two
    /// threads.
    void before_each(std::function<void(const std::string&)> told) const { state_->before = std::move(told); }
    /// All calls since the last question, in order.
    [[nodiscard]] std::vector<std::string> calls() const {
        const std::scoped_lock lock{state_->guard};
        return std::exchange(state_->calls, {});
    }

private:
    void note(std::string_view what, std::string_view key) const {
        std::string call{what};
        call += key;
        {
            const std::scoped_lock lock{state_->guard};
            state_->calls.push_back(call);
        }
        before(call);
    }
    void before(const std::string& call) const { state_->before(call); }

    smdebug::memory_storage objects_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// One with the required operations only.
using plain_counting_storage = counting_storage<counted_abilities{.versions = false, .batches = false}>;

}  // namespace smdebug_test
