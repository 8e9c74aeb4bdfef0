// A storage in memory that fails, waits, or removes folders when a test says so, for testing writers.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>

#include "support/given_text.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// Which calls of a faulty_storage fail with `unavailable`, counted from 0 over all kinds of calls.
struct fault_plan {
    std::optional<std::size_t> first = {};  ///< none: no call fails
    std::size_t count = 1;                  ///< how many in a row
    std::string only = {};                  ///< only calls that contain this text fail and count
    bool in_part = false;                   ///< a failed call takes effect all the same, as if its reply was lost
};

/// Holds objects as memory_storage does, where trials can look at them; copies share everything.
/// Everything that a writer calls is counted: create, append, commit, write, remove, list, read, size, claim, claimed,
/// release.  Threads: all calls may run at once.
class faulty_storage : public smdebug::storage_base {
    struct state {
        std::mutex guard;
        fault_plan plan;
        std::vector<std::string> calls;
        std::size_t counted = 0;                                        // those that the plan is about
        std::string failed;                                             // the first call that did
        std::function<void(const std::string&)> before = [](auto&) {};  // may wait
    };

public:
    explicit faulty_storage(smdebug::memory_storage objects = {}, fault_plan plan = {}) : objects_(std::move(objects)) {
        state_->plan = std::move(plan);
    }

    class output final : public smdebug::object_output {
    public:
        output(std::shared_ptr<state> told, std::string key, std::unique_ptr<smdebug::object_output> inner)
            : state_(std::move(told)), key_(std::move(key)), inner_(std::move(inner)) {}
        void append(std::span<const smdebug::byte_view> pieces) override {
            doing(*state_, "append " + key_, [&] { inner_->append(pieces); });
        }
        void commit(smdebug::durability how) override {
            doing(*state_, "commit " + key_, [&] { inner_->commit(how); });
        }

    private:
        std::shared_ptr<state> state_;
        std::string key_;
        std::unique_ptr<smdebug::object_output> inner_;
    };

    class held_key final : public smdebug::object_claim {
    public:
        held_key(std::shared_ptr<state> told, std::unique_ptr<smdebug::object_claim> inner)
            : state_(std::move(told)), inner_(std::move(inner)) {}
        void release() override {
            doing(*state_, "release", [&] { inner_->release(); });
        }

    private:
        std::shared_ptr<state> state_;
        std::unique_ptr<smdebug::object_claim> inner_;
    };

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = true,
                .removes = true,
                .claims = true};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key,
                                            smdebug::byte_range where = smdebug::whole_object) const override {
        return doing(*state_, "read " + std::string{key}, [&] { return objects_.read(key, where); });
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return doing(*state_, "list " + std::string{prefix},
                     [&] { return objects_.list(given_text(prefix), given_text(after)); });
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        return doing(*state_, "size " + std::string{key}, [&] { return objects_.size(key); });
    }
    [[nodiscard]] std::string name() const override { return "faulty"; }
    void write(std::string_view key, smdebug::byte_view bytes) override {
        doing(*state_, "write " + std::string{key}, [&] { objects_.write(key, bytes); });
    }
    [[nodiscard]] std::unique_ptr<smdebug::object_output> create(std::string_view key) override {
        return doing(*state_, "create " + std::string{key},
                     [&] { return std::make_unique<output>(state_, std::string{key}, objects_.create(key)); });
    }
    bool remove(std::string_view key, smdebug::durability how = smdebug::durability::cached) override {
        return doing(*state_, "remove " + std::string{key}, [&] { return objects_.remove(key, how); });
    }
    [[nodiscard]] std::unique_ptr<smdebug::object_claim> claim(
        std::string_view key, smdebug::durability how = smdebug::durability::cached) override {
        return doing(*state_, "claim " + std::string{key},
                     [&] { return std::make_unique<held_key>(state_, objects_.claim(key, how)); });
    }
    [[nodiscard]] bool claimed(std::string_view key) const override {
        return doing(*state_, "claimed " + std::string{key}, [&] { return objects_.claimed(key); });
    }

    // What tests say and ask -----------------------------------------------------------------------------------------

    /// Its content, without faults.
    [[nodiscard]] const smdebug::memory_storage& objects() const noexcept { return objects_; }
    /// Sets which calls fail from now on; restarts counting.
    void plan(fault_plan next) const {
        const std::scoped_lock lock{state_->guard};
        state_->plan = std::move(next);
        state_->counted = 0;
        state_->calls.clear();
        state_->failed.clear();
    }
    /// Calls `told` before each call, "commit index/...", on the caller's thread.  Set it before there are two threads.
    void before_each(std::function<void(const std::string&)> told) const { state_->before = std::move(told); }
    /// The first call that failed, such as "commit index/...", or nothing.
    [[nodiscard]] std::string failed() const {
        const std::scoped_lock lock{state_->guard};
        return state_->failed;
    }
    /// All calls so far.
    [[nodiscard]] std::vector<std::string> calls() const {
        const std::scoped_lock lock{state_->guard};
        return state_->calls;
    }

private:
    template <class Doing>
    static auto doing(state& told, const std::string& what, Doing&& call) -> decltype(call()) {
        told.before(what);
        bool fails = false;
        bool in_part = false;
        {
            const std::scoped_lock lock{told.guard};
            told.calls.push_back(what);
            const bool counts = what.find(told.plan.only) != std::string::npos;
            const std::size_t number = told.counted;
            told.counted += counts ? 1 : 0;
            fails =
                counts && told.plan.first && number >= *told.plan.first && number - *told.plan.first < told.plan.count;
            in_part = told.plan.in_part;
            if (fails && told.failed.empty()) {
                told.failed = what;
            }
        }
        if (fails) {
            if (in_part) {
                static_cast<void>(call());
            }
            throw smdebug::unavailable("cannot " + what + ": the test says so", {.where = what});
        }
        return call();
    }

    smdebug::memory_storage objects_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace smdebug_test
