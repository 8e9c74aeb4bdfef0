#include <program/source_ahead.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail {

source_ahead::source_ahead(run_source from, std::size_t most, std::function<void(std::size_t)> on_end,
                           preference goes_first)
    : from_(std::move(from)),
      most_(most > 0 ? most : 1),
      on_end_(std::move(on_end)),
      goes_first_(std::move(goes_first)),
      reader_([this](const std::stop_token& end) { read(end); }) {}

std::optional<batch_run> source_ahead::next(const std::stop_token& stop) {
    std::unique_lock lock{guard_};
    changed_.wait(lock, stop, [&] { return !waiting_.empty() || over_; });
    if (waiting_.empty()) {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return std::nullopt;
    }
    return pop();
}

std::optional<std::vector<batch_run>> source_ahead::try_some(std::size_t takers) {
    constexpr std::size_t most_at_once = 64;
    const std::lock_guard lock{guard_};
    std::vector<batch_run> some;
    if (waiting_.empty()) {
        return over_ ? std::optional{some} : std::nullopt;
    }
    const std::size_t share = waiting_.size() / (4 * std::max<std::size_t>(takers, 1));
    const std::size_t count = first_ > 0 ? 1 : std::clamp<std::size_t>(share, 1, most_at_once);
    while (some.size() < count) {
        some.push_back(pop());
    }
    return some;
}

batch_run source_ahead::pop() {
    batch_run run = std::move(waiting_.front());
    waiting_.pop_front();
    first_ -= first_ > 0 ? 1U : 0U;
    changed_.notify_all();
    return run;
}

void source_ahead::read(const std::stop_token& end) {
    std::size_t count = 0;
    try {
        while (auto run = from_()) {
            ++count;
            std::unique_lock lock{guard_};
            bool is_first = false;
            if (goes_first_) {
                const std::size_t waiting = waiting_.size();
                lock.unlock();
                is_first = goes_first_(*run, waiting);
                lock.lock();
            }
            if (!changed_.wait(lock, end, [&] { return waiting_.size() < most_; })) {
                return;
            }
            waiting_.insert(
                is_first ? std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(first_)) : waiting_.end(),
                *std::move(run));
            first_ += is_first ? 1U : 0U;
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

}  // namespace smdebug::inline v1::detail
