// The bodies of <smdebug/batch/run_batch.hpp>.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/system_time.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Requests runs to stop at their time limit.
class time_keeper {
    using clock = std::chrono::steady_clock;

public:
    /// One run's time.
    class watched {
    public:
        watched(time_keeper& by, std::stop_source run) : by_(by), run_(std::move(run)) {
            if (by_.limit_) {
                const std::lock_guard lock{by_.guard_};
                place_ = by_.runs_.emplace(clock::now() + *by_.limit_, this);
                by_.changed_.notify_one();
            }
        }
        watched(const watched&) = delete;
        watched& operator=(const watched&) = delete;
        ~watched() {
            if (by_.limit_) {
                const std::lock_guard lock{by_.guard_};
                if (!over_) {
                    by_.runs_.erase(place_);
                }
            }
        }
        [[nodiscard]] bool over() const noexcept { return over_; }

    private:
        friend time_keeper;
        time_keeper& by_;
        std::stop_source run_;
        std::multimap<clock::time_point, watched*>::iterator place_ = {};
        std::atomic<bool> over_ = false;
    };

    explicit time_keeper(std::optional<std::chrono::milliseconds> limit) {
        if (limit) {
            limit_ = std::min(*limit, longest_wait);
            thread_ = std::jthread{[this](const std::stop_token& end) { keep(end); }};
        }
    }

private:
    void keep(const std::stop_token& end) {
        std::unique_lock lock{guard_};
        while (!end.stop_requested()) {
            if (runs_.empty()) {
                changed_.wait(lock, end, [&] { return !runs_.empty(); });
                continue;
            }
            const auto first = runs_.begin();
            const clock::time_point due = first->first;  // the run may end during the wait, which removes its entry
            if (clock::now() < due) {
                changed_.wait_until(lock, end, due, [] { return false; });
                continue;
            }
            first->second->over_ = true;
            first->second->run_.request_stop();
            runs_.erase(first);
        }
    }

    std::optional<std::chrono::milliseconds> limit_;
    std::mutex guard_;
    std::condition_variable_any changed_;
    std::multimap<clock::time_point, watched*> runs_;
    std::jthread thread_;  // last: it uses all of the above
};

/// A running batch.
class batch_crew {
public:
    batch_crew(const batch_options& how, const run_source& next, const run_work& work, const result_sink& emit)
        : how_(how),
          next_(next),
          work_(work),
          threads_(how.threads > 0 ? how.threads : std::max(1U, std::thread::hardware_concurrency())),
          budget_(std::make_shared<thread_budget>(threads_)),
          clock_(how.run_timeout),
          results_(emit, how.in_order, std::max<std::size_t>(how.most_waiting, 2 * std::size_t{threads_})) {}

    [[nodiscard]] bool run() {
        {
            std::vector<std::jthread> crew;
            crew.reserve(threads_);
            for (unsigned i = 0; i < threads_; ++i) {
                crew.emplace_back([this] { serve(); });
            }
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return !stopping();
    }

private:
    [[nodiscard]] bool stopping() const { return how_.stop.stop_requested() || broken_.stop_requested(); }

    void serve() {
        try {
            std::uint64_t number = 0;
            while (const auto run = take(number)) {
                thread_permit permit = budget_->acquire();
                run_result result = do_one(*run);
                permit = {};
                results_.take(number, std::move(result));
            }
        } catch (...) {
            const std::lock_guard lock{failing_};
            if (!failure_) {
                failure_ = std::current_exception();
            }
            broken_.request_stop();
            results_.end();
        }
    }

    [[nodiscard]] std::optional<batch_run> take(std::uint64_t& number) {
        const std::lock_guard lock{taking_};
        if (over_ || stopping() || !results_.wait_for_room(taken_) || stopping()) {
            return std::nullopt;
        }
        auto run = next_();
        over_ = !run;
        if (run) {
            number = taken_++;
        }
        return run;
    }

    // Completes the results of an archive that was not processed to its end: the current run, and those that were not
    // begun.
    static void end_early(run_result& result, run_state why, const std::string& words) {
        run_result* last = result.others.empty() ? &result : nullptr;
        for (run_result& each : result.others) {
            if (each.state == run_state::undone) {
                each.state = why;
                each.error = words;
            } else {
                last = &each;
            }
        }
        if (last != nullptr && (last == &result || last->error.empty())) {
            last->state = why;
            last->error = words;
        }
    }

    [[nodiscard]] run_result do_one(const batch_run& run) {
        if (!run.error.empty()) {
            return {.run = run, .state = run_state::failed, .error = run.error};
        }
        const auto begin = std::chrono::steady_clock::now();
        std::stop_source stop;
        const auto ask = [&] { stop.request_stop(); };
        const std::stop_callback by_user{how_.stop, ask};
        const std::stop_callback by_failure{broken_.get_token(), ask};
        run_result result;
        bool late = false;
        {
            const time_keeper::watched time{clock_, stop};
            try {
                result = work_(run, {.stop = stop.get_token(), .threads = budget_, .memory = how_.memory});
            } catch (...) {
                result = failed_run(run);
            }
            late = time.over();
        }
        if (result.run.path.empty()) {
            result.run = run;
        }
        result.run.place = run.place;
        if (stopping()) {
            end_early(result, run_state::undone, "the batch was stopped");
        } else if (late) {
            end_early(result, run_state::timed_out,
                      "it took longer than the " + seconds_text(*how_.run_timeout) + " that one run may have");
        }
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return result;
    }

    [[nodiscard]] static std::string seconds_text(std::chrono::milliseconds time) {
        const auto rest = time.count() % 1000;
        const std::string digits = std::to_string(1000 + rest).substr(1);
        return std::to_string(time.count() / 1000) + (rest == 0 ? "" : "." + digits) + " s";
    }

    const batch_options& how_;
    const run_source& next_;
    const run_work& work_;
    unsigned threads_;
    std::shared_ptr<thread_budget> budget_;
    time_keeper clock_;
    ordered_results results_;
    std::mutex taking_;
    std::uint64_t taken_ = 0;
    bool over_ = false;
    std::mutex failing_;
    std::exception_ptr failure_;
    std::stop_source broken_;
};

}  // namespace detail

SMDEBUG_INLINE bool run_batch(const batch_options& how, const run_source& next, const run_work& work,
                              const result_sink& emit) {
    return detail::batch_crew{how, next, work, emit}.run();
}

SMDEBUG_INLINE run_result failed_run(const batch_run& run) {
    run_result result{.run = run, .state = run_state::failed};
    try {
        throw;
    } catch (const std::bad_alloc&) {
        result.state = run_state::no_memory;
        result.error = "not enough memory";
    } catch (const std::exception& failed) {
        result.error = failed.what();
    } catch (...) {
        result.error = "an exception of an unknown type";
    }
    return result;
}

}  // namespace smdebug::inline v1
