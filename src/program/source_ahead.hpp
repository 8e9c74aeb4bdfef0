// Searches for runs while others are scanned, so that their number is known as early as possible.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/stop_token.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace smdebug::inline v1::detail {

/// Fetches runs from a source ahead of the consumers, on a thread of its own.
class source_ahead {
public:
    /// Whether a run goes before others, of which so many wait.
    using preference = std::function<bool(const batch_run& run, std::size_t waiting)>;

    /// `most`: how many runs may wait.  That thread calls goes_first for each run, and on_end(count) after the last one.
    source_ahead(run_source from, std::size_t most, std::function<void(std::size_t)> on_end = {},
                 preference goes_first = {});
    source_ahead(const source_ahead&) = delete;
    source_ahead& operator=(const source_ahead&) = delete;
    /// Waits for a call to the source that is in progress.
    ~source_ahead() = default;

    /// The next run, in the source's order, preferred runs first; nothing if there are no more.  Waits for it;
    /// `stop` ends that. Errors: what the source throws, behind the runs that it gave before.
    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop = {});

    /// Some runs, for one of `takers` that do about as many each: the fewer are left, the fewer at once, so that all
    /// end at about the same time; a preferred run comes alone.  Empty if there are no more, or the source failed,
    /// which next() throws.  Nothing if none waits at the moment.
    [[nodiscard]] std::optional<std::vector<batch_run>> try_some(std::size_t takers);

private:
    void read(const std::stop_token& end);
    [[nodiscard]] batch_run pop();

    run_source from_;
    std::size_t most_;
    std::function<void(std::size_t)> on_end_;
    std::mutex guard_;
    std::condition_variable_any changed_;
    preference goes_first_;
    std::deque<batch_run> waiting_;  // those that go first before the others
    std::size_t first_ = 0;          // how many of them go first
    std::exception_ptr failure_;
    bool over_ = false;
    std::jthread reader_;  // last: it uses all of the above
};

}  // namespace smdebug::inline v1::detail
