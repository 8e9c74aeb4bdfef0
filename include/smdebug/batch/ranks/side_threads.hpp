// Rank 0's source and sink, each on a thread of its own: however long a listing or a disk takes, the other ranks are heard.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/stop_token.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Asks a source for runs, a few more than are needed.
class run_feeder {
public:
    using source = function_ref<std::optional<batch_run>()>;

    /// Borrows the source.  `wake` is called by the thread when there is a run where there was none, and at the end.
    run_feeder(source from, std::size_t ahead, std::function<void()> wake);
    run_feeder(const run_feeder&) = delete;
    run_feeder& operator=(const run_feeder&) = delete;
    ~run_feeder() { stop(); }

    /// A run, if there is one now.
    [[nodiscard]] std::optional<batch_run> take();
    /// How many there are now.
    [[nodiscard]] std::size_t size() const;
    /// Whether there is no run any more.
    [[nodiscard]] bool is_empty() const;
    /// Whether the source had been asked to its end, whatever take() has left.
    [[nodiscard]] bool has_all() const;
    /// Whether the source is not being asked, and will not be.
    [[nodiscard]] bool has_ended() const;
    [[nodiscard]] std::exception_ptr failure() const;
    /// Asks no more.
    void stop();

private:
    void feed(source from);

    const std::size_t ahead_;
    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<batch_run> runs_;
    bool has_all_ = false;
    bool stopped_ = false;
    bool ended_ = false;
    std::exception_ptr failure_;
    std::jthread thread_;  // last: it uses the others
};

/// Gives results to a sink, in the order of push().
class result_writer {
public:
    using sink = function_ref<void(run_result&&)>;

    /// `wake` is called by the thread when so few results are left, none is left, or it has failed.
    result_writer(sink to, std::function<void()> wake, std::size_t few = 0);
    result_writer(const result_writer&) = delete;
    result_writer& operator=(const result_writer&) = delete;
    /// Gives all that was pushed to the sink, unless it has failed.
    ~result_writer();

    void push(run_result result);
    /// Results that the sink has not been given, or has not returned from.  None once it has failed.
    [[nodiscard]] std::size_t waiting() const;
    /// What it threw; it is not called any more then.
    [[nodiscard]] std::exception_ptr failure() const;

private:
    void write(sink to);

    std::function<void()> wake_;
    const std::size_t few_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<run_result> results_;
    bool busy_ = false;
    bool closed_ = false;
    std::exception_ptr failure_;
    std::jthread thread_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/side_threads.ipp>
#endif
