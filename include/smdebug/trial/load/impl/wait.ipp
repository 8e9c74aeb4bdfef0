// The bodies of <smdebug/trial/load/wait.hpp>.
#pragma once

#include <smdebug/core/system_time.hpp>
#include <smdebug/trial/load/wait.hpp>

#include <algorithm>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE change_feed::change_feed(const signal_source& signals) : signal_(signals ? signals() : nullptr) {
    announces_ = signal_ != nullptr;
    if (!signal_) {
        signal_ = announcer{}.watch({});
    }
}

SMDEBUG_INLINE void change_feed::listen(clock::time_point until) {
    // If anything below fails, the next look is at everything.
    const bool was_everything = std::exchange(everything_, true);
    bool keys_suffice = true;
    if (signal_->wait_until(std::min(until, next_look_))) {
        const auto keys = signal_->changed_keys();
        keys_suffice = keys.has_value() && keys->size() + unseen_.size() <= most_keys;
        if (keys_suffice) {
            unseen_.insert(unseen_.end(), keys->begin(), keys->end());
        }
    }
    everything_ = was_everything || !keys_suffice || clock::now() >= next_look_;
}

SMDEBUG_INLINE void change_feed::pause(clock::time_point until) {
    listen(until);
    if (everything_ && clock::now() < next_look_) {
        static_cast<void>(rest_->wait_until(std::min(rested_, until)));
    }
}

SMDEBUG_INLINE void change_feed::interrupt() noexcept {
    signal_->interrupt();
    rest_->interrupt();
}

SMDEBUG_INLINE void change_feed::end_look(std::chrono::milliseconds interval) noexcept {
    if (everything_) {
        const auto now = clock::now();
        const auto taken = now - looking_since_;
        rested_ = now + std::min<clock::duration>(rest_share * taken, interval);
        next_look_ = now + std::max<clock::duration>(announces_ ? idle_share * taken : clock::duration{0}, interval);
    }
    unseen_.clear();
    everything_ = false;
}

SMDEBUG_INLINE std::unique_ptr<change_feed> feed_pool::take() {
    const auto idle = idle_.lock();
    if (idle->empty()) {
        return nullptr;
    }
    auto feed = std::move(idle->back());
    idle->pop_back();
    return feed;
}

SMDEBUG_INLINE void feed_pool::give_back(std::unique_ptr<change_feed> feed) noexcept {
    const auto idle = idle_.lock();
    if (idle->size() < most) {
        idle->push_back(std::move(feed));  // the capacity suffices: this cannot throw
    }
}

SMDEBUG_INLINE waiter::waiter(std::chrono::milliseconds interval, std::optional<std::chrono::milliseconds> timeout,
                              std::stop_token stop, std::stop_token also_stop, signal_source signals, feed_pool* pool)
    : interval_(std::clamp<std::chrono::milliseconds>(interval, shortest, longest_wait)),
      stop_(std::move(stop)),
      also_stop_(std::move(also_stop)),
      signals_(std::move(signals)),
      pool_(pool) {
    // A timeout beyond the clock's range counts as none.
    if (timeout && *timeout < longest_wait) {
        deadline_ = clock::now() + std::max(*timeout, std::chrono::milliseconds{0});
    }
}

SMDEBUG_INLINE waiter::~waiter() {
    ended_.reset();
    also_ended_.reset();
    if (pool_ != nullptr && feed_ && feed_->announces()) {
        pool_->give_back(std::move(feed_));
    }
}

SMDEBUG_INLINE const std::vector<std::string>* waiter::begin_look() {
    if (!feed_ && pool_ != nullptr) {
        feed_ = pool_->take();
        if (feed_) {
            connect();
            feed_->listen(clock::now());
        }
    }
    if (!feed_) {
        return nullptr;
    }
    feed_->begin_look();
    return feed_->unseen();
}

SMDEBUG_INLINE void waiter::end_look() noexcept {
    if (feed_) {
        feed_->end_look(interval_);
    }
}

SMDEBUG_INLINE wait_outcome waiter::pause(clock::time_point latest) {
    end_look();
    if (is_stopped()) {
        return wait_outcome::stopped;
    }
    if (deadline_ && clock::now() >= *deadline_) {
        return wait_outcome::timed_out;
    }
    if (!feed_) {
        feed_ = std::make_unique<change_feed>(signals_);
        connect();
        if (feed_->announces()) {
            return wait_outcome::look_again;
        }
        feed_->plan_look_in(interval_);
    }
    feed_->pause(deadline_ ? std::min(latest, *deadline_) : latest);
    feed_->begin_look();
    return is_stopped() ? wait_outcome::stopped : wait_outcome::look_again;
}

SMDEBUG_INLINE std::chrono::milliseconds waiter::intervals(std::chrono::milliseconds interval, int count) noexcept {
    const auto one = std::clamp<std::chrono::milliseconds>(interval, shortest, longest_wait);
    return count > 0 && one > longest_wait / count ? longest_wait : one * count;
}

SMDEBUG_INLINE void waiter::connect() {
    const auto wake = [feed = feed_.get()] { feed->interrupt(); };
    ended_.emplace(stop_, wake);
    also_ended_.emplace(also_stop_, wake);
}

}  // namespace smdebug::inline v1::detail
