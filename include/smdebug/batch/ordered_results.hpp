// Results that come in any order, given on in that of the runs.
#pragma once

#include <smdebug/batch/run_result.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Puts results back in order.  Threads: all calls may run at once; `emit` is called by one at a time.
class ordered_results {
public:
    /// Borrows emit.  `most`: how many may wait for an earlier one.
    ordered_results(const std::function<void(run_result&&)>& emit, bool in_order, std::size_t most)
        : in_order_(in_order), most_(most), emit_(emit) {}

    /// Waits until there is room for the result of another run; false: the batch has ended.
    [[nodiscard]] bool wait_for_room(std::uint64_t taken) {
        std::unique_lock lock{guard_};
        room_.wait(lock, [&] { return ended_ || !in_order_ || taken - due_ < most_; });
        return !ended_;
    }
    /// The result of the run of that number; they count from 0.  Errors: what emit throws.
    void take(std::uint64_t number, run_result&& result) {
        const std::lock_guard lock{guard_};
        if (ended_) {
            return;
        }
        if (!in_order_) {
            return emit_(std::move(result));
        }
        waiting_.emplace(number, std::move(result));
        while (!waiting_.empty() && waiting_.begin()->first == due_) {
            auto next = waiting_.extract(waiting_.begin());
            emit_(std::move(next.mapped()));
            ++due_;
        }
        room_.notify_all();
    }
    /// Nothing is given on any more.
    void end() {
        const std::lock_guard lock{guard_};
        ended_ = true;
        room_.notify_all();
    }

private:
    bool in_order_;
    std::size_t most_;
    const std::function<void(run_result&&)>& emit_;
    std::mutex guard_;
    std::condition_variable room_;
    std::map<std::uint64_t, run_result> waiting_;
    std::uint64_t due_ = 0;
    bool ended_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
