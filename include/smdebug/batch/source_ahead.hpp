// Runs that are looked for while others are worked on: how many there are is known as early as can be.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Asks a source for runs ahead of those who want them, on a thread of its own.
class source_ahead {
public:
    /// `most`: how many runs may wait.  on_end(count) is called on that thread when the source has given its last one.
    source_ahead(run_source from, std::size_t most, std::function<void(std::size_t)> on_end = {});
    source_ahead(const source_ahead&) = delete;
    source_ahead& operator=(const source_ahead&) = delete;
    /// Waits for the source, should it be asked at the moment.
    ~source_ahead() = default;

    /// The next run, in the source's order; nothing: there are no more.  Waits for it; `stop` ends that.
    /// Errors: what the source throws, behind the runs that it gave before.
    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop = {});

private:
    void read(const std::stop_token& end);

    run_source from_;
    std::size_t most_;
    std::function<void(std::size_t)> on_end_;
    std::mutex guard_;
    std::condition_variable_any changed_;
    std::deque<batch_run> waiting_;
    std::exception_ptr failure_;
    bool over_ = false;
    std::jthread reader_;  // last: it uses all of the above
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/source_ahead.ipp>
#endif
