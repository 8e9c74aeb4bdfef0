// The bodies of <smdebug/batch/source_ahead.hpp>.
#pragma once

#include <smdebug/batch/source_ahead.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE source_ahead::source_ahead(run_source from, std::size_t most, std::function<void(std::size_t)> on_end)
    : from_(std::move(from)),
      most_(most > 0 ? most : 1),
      on_end_(std::move(on_end)),
      reader_([this](const std::stop_token& end) { read(end); }) {}

SMDEBUG_INLINE std::optional<batch_run> source_ahead::next(const std::stop_token& stop) {
    std::unique_lock lock{guard_};
    changed_.wait(lock, stop, [&] { return !waiting_.empty() || over_; });
    if (waiting_.empty()) {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return std::nullopt;
    }
    std::optional<batch_run> run = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return run;
}

SMDEBUG_INLINE void source_ahead::read(const std::stop_token& end) {
    std::size_t count = 0;
    try {
        while (auto run = from_()) {
            ++count;
            std::unique_lock lock{guard_};
            if (!changed_.wait(lock, end, [&] { return waiting_.size() < most_; })) {
                return;
            }
            waiting_.push_back(*std::move(run));
            changed_.notify_all();
        }
        if (on_end_) {
            on_end_(count);
        }
    } catch (...) {
        const std::lock_guard lock{guard_};
        failure_ = std::current_exception();
    }
    const std::lock_guard lock{guard_};
    over_ = true;
    changed_.notify_all();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
