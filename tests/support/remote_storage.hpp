// A storage that claims to be remote: it records requests, and fails where a test says so.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/range_plan.hpp>
#include <smdebug/storage/storage_base.hpp>

#include "support/given_text.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// The requests to such a storage.  "list <prefix> after <key>", "size <key>", "modified <key>", "read <key>" are
/// requests; "each <n>" and "ranges <n>" are calls that make many.
struct asked_for {
    std::vector<std::string> requests = {};
    std::vector<std::string> calls = {};
    std::uint64_t bytes = 0;  ///< read
    [[nodiscard]] std::size_t count(std::string_view what) const {
        return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(),
                                                      [&](const std::string& one) { return one.starts_with(what); }));
    }
};

/// Holds objects as memory_storage does; copies share everything.  Reads ranges one by one.
/// Threads: everything may be called at once.
class distant_storage : public smdebug::storage_base {
public:
    explicit distant_storage(smdebug::memory_storage objects) : objects_(std::move(objects)) {}

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = false, .views = false, .reads_ahead = false, .opens_small = false};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key,
                                            smdebug::byte_range where = smdebug::whole_object) const override {
        return read_noted(key, where);
    }
    void read_each(std::span<const std::string> keys, smdebug::object_sink sink) const override {
        note_call("each " + std::to_string(keys.size()));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            std::optional<smdebug::byte_buffer> object;
            try {
                object = read(keys[i]);
            } catch (const smdebug::not_found&) {
                object.reset();
            }
            if (!sink(i, object ? std::optional{object->view()} : std::nullopt, {})) {
                return;
            }
        }
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        note("list " + std::string{prefix} + " after " + std::string{after});
        return objects_.list(given_text(prefix), given_text(after));
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        note("size " + std::string{key});
        return objects_.size(key);
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        note("modified " + std::string{key});
        return objects_.modified(key);
    }
    [[nodiscard]] std::string name() const override { return "distant"; }

    // What tests say and ask -----------------------------------------------------------------------------------------

    /// Calls `told` before each read; it may throw.  Set it before there are two threads.
    void before_read(std::function<void(std::string_view, smdebug::byte_range)> told) const {
        state_->before = std::move(told);
    }
    /// The requests since the last call.
    asked_for asked() const {
        const std::scoped_lock lock{state_->guard};
        return std::exchange(state_->asked, {});
    }

protected:
    void note_call(std::string what) const {
        const std::scoped_lock lock{state_->guard};
        state_->asked.calls.push_back(std::move(what));
    }

private:
    struct state {
        std::mutex guard;
        asked_for asked;
        std::function<void(std::string_view, smdebug::byte_range)> before = [](auto, auto) {};
    };

    void note(std::string what, std::uint64_t bytes = 0) const {
        const std::scoped_lock lock{state_->guard};
        state_->asked.requests.push_back(std::move(what));
        state_->asked.bytes += bytes;
    }

    [[nodiscard]] smdebug::byte_buffer read_noted(std::string_view key, smdebug::byte_range where) const {
        note("read " + std::string{key});
        state_->before(key, where);
        // In its own allocation, so that a sanitizer detects every read beyond it.
        const smdebug::byte_buffer part = objects_.read(key, where);
        const std::scoped_lock lock{state_->guard};
        state_->asked.bytes += part.size();
        return smdebug::byte_buffer::take(std::vector<std::byte>(part.view().begin(), part.view().end()));
    }

    smdebug::memory_storage objects_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// The same, reading many ranges together; the answers to its requests come in any order.
class remote_storage : public distant_storage {
public:
    explicit remote_storage(smdebug::memory_storage objects, smdebug::detail::range_merging how = {})
        : distant_storage(std::move(objects)), how_(how) {}

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = distant_storage::abilities();
        can.batches_ranges = true;
        return can;
    }
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const override {
        note_call("ranges " + std::to_string(ranges.size()));
        const smdebug::detail::range_plan plan{ranges, how_};
        smdebug::detail::range_assembly assembly{plan, sink};
        std::vector<std::size_t> order(plan.requests().size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = 0; i < order.size(); i += 4) {
            const auto begin = order.begin() + static_cast<std::ptrdiff_t>(i);
            std::shuffle(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(4, order.size() - i)),
                         std::minstd_rand{static_cast<unsigned>(i + 1)});
        }
        for (const std::size_t request : order) {
            if (assembly.answered(request)) {
                continue;
            }
            const smdebug::object_range& wanted = plan.requests()[request];
            std::optional<smdebug::byte_buffer> bytes;
            std::exception_ptr failed;
            try {
                bytes = read(wanted.key, wanted.where);
            } catch (const smdebug::not_found&) {
                bytes.reset();
            } catch (...) {
                failed = std::current_exception();
            }
            if (failed) {
                assembly.fail(request, failed);
            } else {
                assembly.give(request, std::move(bytes));
            }
        }
    }

private:
    smdebug::detail::range_merging how_;
};

/// The same, but its abilities say that batches do not pay.
class reluctant_remote_storage : public remote_storage {
public:
    using remote_storage::remote_storage;
    [[nodiscard]] smdebug::storage_abilities abilities() const override { return distant_storage::abilities(); }
};

}  // namespace smdebug_test
