// Runs that are looked for while others are worked on: how many there are is known as early as can be.
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

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Asks a source for runs ahead of those who want them, on a thread of its own.
class source_ahead {
public:
    /// Whether a run is to go before others, of which so many wait.
    using preference = std::function<bool(const batch_run& run, std::size_t waiting)>;

    /// `most`: how many runs may wait.  On that thread on_end(count) is called when the source has given its last one, and
    /// `goes_first` for each.
    source_ahead(run_source from, std::size_t most, std::function<void(std::size_t)> on_end = {},
                 preference goes_first = {});
    source_ahead(const source_ahead&) = delete;
    source_ahead& operator=(const source_ahead&) = delete;
    /// Waits for the source, should it be asked at the moment.
    ~source_ahead() = default;

    /// The next run, in the source's order, but those first that go first; nothing: there are no more.  Waits for it; `stop` ends that.
    /// Errors: what the source throws, behind the runs that it gave before.
    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop = {});

    /// Some runs, for one of `takers` that do about as many each: the fewer are left, the fewer at once, so that all end at
    /// about the same time; one that goes first alone.  None: there are no more, or the source broke, which next() tells.
    /// Nothing: none waits at the moment.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
