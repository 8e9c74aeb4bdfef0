// What a rank's engine sees of the batch: where its runs come from, and where results go.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/stop_token.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Source and sink of an engine that runs on one rank of many; run_on_ranks() makes it.
/// Threads: any, at once.
class rank_work {
public:
    /// The next run that this rank is to do; waits for it.  Nothing: there is none any more, or the batch is stopped.
    [[nodiscard]] std::optional<batch_run> next();
    /// Hands over what came out of a run that next() gave.  Where it has more rows of reductions than a few pieces, this
    /// waits until others have been sent.
    void emit(run_result&& result);

    // The other side, for run_on_ranks() --------------------------------------------------------------------------

    using engine = function_ref<void(rank_work&, std::stop_token)>;

    /// Rows of reductions, some at a time: before the result that they belong to.
    struct rows {
        std::uint64_t place = 0;
        std::uint64_t number = 0;  ///< 0: the result's own; else of its others, from 1
        std::string bytes = {};
    };
    using output = std::variant<run_result, rows>;

    /// `wake` is called, by any thread, when there is a result where there was none, and when the engine has ended.
    /// `in_pieces`: rows come apart from their results, whose own are then empty.
    explicit rank_work(std::function<void()> wake, bool in_pieces = false)
        : wake_(std::move(wake)), in_pieces_(in_pieces) {}
    rank_work(const rank_work&) = delete;
    rank_work& operator=(const rank_work&) = delete;
    /// Stops the engine, and waits for its end.
    ~rank_work();

    /// Calls the engine on a thread of its own.  Borrows it until it has ended.
    void start(engine run);
    void give(batch_run run);
    /// The places of the runs that next() has not given, but for the first of them: it will not give them.
    [[nodiscard]] std::vector<std::uint64_t> take_back();
    /// No more runs come.
    void close();
    /// The engine is to end: next() gives nothing, its stop token is set.
    void stop();
    /// The next result, or rows, if there are any now.
    [[nodiscard]] std::optional<output> take();
    /// Whether the engine has returned; take() after that gives what is left.
    [[nodiscard]] bool has_ended() const;
    /// What it threw, once it has ended.
    [[nodiscard]] std::exception_ptr failure() const;

private:
    void put(output what);
    void put_rows(std::uint64_t place, std::uint64_t number, std::shared_ptr<row_spool>& rows);

    std::function<void()> wake_;
    const bool in_pieces_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<batch_run> runs_;
    std::deque<output> results_;
    std::size_t pieces_ = 0;  // of results_
    bool closed_ = false;
    bool nobody_takes_ = false;
    bool ended_ = false;
    std::exception_ptr failure_;
    std::stop_source stop_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/rank_work.ipp>
#endif
