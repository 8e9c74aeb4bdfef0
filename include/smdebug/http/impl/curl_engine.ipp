// The bodies of <smdebug/http/curl_engine.hpp>.
#pragma once

#include <smdebug/http/curl_engine.hpp>

#include <csignal>

namespace smdebug::inline v1::http::detail {

SMDEBUG_INLINE curl_engine::curl_engine(curl_options options)
    : options_(std::move(options)),
      line_(options_.most_in_flight, options_.most_connections),
      multi_(options_.most_connections * 2),
      thread_([this] { work(); }) {}

SMDEBUG_INLINE curl_engine::~curl_engine() {
    {
        const std::lock_guard lock{guard_};
        stops_ = true;
        wake();
    }
    thread_.join();
}

SMDEBUG_INLINE void curl_engine::start(const std::shared_ptr<job>& work) {
    const auto server = origin_of(work->ask_.url);  // without one it is refused when its turn comes
    const std::lock_guard lock{guard_};
    work->place_ = line_.push(server ? server->server : "", work);
    first_deadline_ = std::min(first_deadline_, work->ask_.deadline);
    wake();
}

SMDEBUG_INLINE void curl_engine::cancel(job& work) noexcept {
    std::unique_lock lock{guard_};
    if (work.at_ == stage::waits) {
        line_.remove(work.place_);
        work.at_ = stage::done;
    } else if (work.at_ == stage::carried) {
        work.cancelled_ = true;
        cancels_ = true;
        wake();
        if (!work.ask_.body.empty()) {
            done_.wait(lock, [&] { return work.at_ == stage::done; });
        }
    }
}

SMDEBUG_INLINE void curl_engine::work() {
    // Leaves signals to the program's threads; a lost connection becomes an error instead of a SIGPIPE.
    ::sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (take_orders()) {
        has_room_ = false;
        multi_.perform();
        take_finished();
        give_up_late();
        if (!has_room_) {
            multi_.wait_until(wake_at_);
        }
    }
    while (!flights_.empty()) {
        end(flights_.size() - 1, CURLE_ABORTED_BY_CALLBACK);
    }
}

SMDEBUG_INLINE bool curl_engine::take_orders() {
    std::unique_lock lock{guard_};
    woken_ = false;
    if (stops_) {
        return false;
    }
    const bool cancels = std::exchange(cancels_, false);
    for (std::size_t which = cancels ? flights_.size() : 0; which-- > 0;) {
        if (flights_[which].work->cancelled_) {
            lock.unlock();
            end(which, CURLE_ABORTED_BY_CALLBACK);
            lock.lock();
        }
    }
    give_up_waiting();
    while (auto next = line_.next()) {
        (*next)->at_ = stage::carried;
        ++counted_.requests;
        lock.unlock();
        begin(*std::move(next));
        lock.lock();
    }
    wake_at_ = first_deadline_;
    return true;
}

SMDEBUG_INLINE void curl_engine::give_up_waiting() {
    const auto now = clock::now();
    if (first_deadline_ > now) {
        return;
    }
    first_deadline_ = clock::time_point::max();
    line_.remove_if([&](const std::shared_ptr<job>& waiting) {
        const bool late = waiting->ask_.deadline <= now;
        if (late) {
            waiting->to_.put({waiting->ticket_, not_answered(outcome::timed_out,
                                                             "The deadline passed before it was the request's turn.")});
            waiting->at_ = stage::done;
        } else {
            first_deadline_ = std::min(first_deadline_, waiting->ask_.deadline);
        }
        return late;
    });
}

SMDEBUG_INLINE void curl_engine::begin(std::shared_ptr<job> work) {
    if (idle_.empty()) {
        idle_.push_back(std::make_unique<curl_transfer>(options_));
    }
    flights_.push_back({std::move(work), std::move(idle_.back())});
    idle_.pop_back();
    const flight& begun = flights_.back();
    if (auto refused = begun.transfer->begin(begun.work->ask_)) {
        end(flights_.size() - 1, CURLE_FAILED_INIT, std::move(refused));
    } else if (!multi_.add(begun.transfer->handle())) {
        end(flights_.size() - 1, CURLE_OUT_OF_MEMORY);
    }
}

SMDEBUG_INLINE void curl_engine::take_finished() {
    while (const auto ended = multi_.next_finished()) {
        const auto found = std::find_if(flights_.begin(), flights_.end(), [&](const flight& carried) {
            return carried.transfer->handle() == ended->handle;
        });
        if (found != flights_.end()) {
            end(static_cast<std::size_t>(found - flights_.begin()), ended->how);
        }
    }
}

SMDEBUG_INLINE void curl_engine::give_up_late() {
    const auto now = clock::now();
    for (std::size_t which = flights_.size(); which-- > 0;) {
        curl_transfer& transfer = *flights_[which].transfer;
        if (auto late = transfer.overdue(now)) {
            end(which, CURLE_OPERATION_TIMEDOUT, std::move(late));
        } else {
            wake_at_ = std::min(wake_at_, transfer.due());
        }
    }
}

SMDEBUG_INLINE void curl_engine::end(std::size_t which, CURLcode how, std::optional<http::response> instead) {
    std::swap(flights_[which], flights_.back());
    flight ended = std::move(flights_.back());
    flights_.pop_back();
    has_room_ = true;

    curl_transfer& transfer = *ended.transfer;
    multi_.remove(transfer.handle());
    const std::uint64_t connections = transfer.connections_opened();
    const std::uint64_t bytes = transfer.bytes_received();
    const bool is_http2 = transfer.is_http2();
    http::response made = transfer.finish(how);
    if (instead) {
        made = *std::move(instead);
    }
    if (transfer.reusable()) {
        idle_.push_back(std::move(ended.transfer));
    }

    const std::lock_guard lock{guard_};
    counted_.connections += connections;
    counted_.bytes_received += bytes;
    counted_.http2_answers += made.answered() && is_http2 ? 1U : 0U;
    line_.ended(ended.work->place_, made.answered() ? std::optional{is_http2} : std::nullopt);
    if (!ended.work->cancelled_) {
        ended.work->to_.put({ended.work->ticket_, std::move(made)});
    }
    ended.work->at_ = stage::done;
    done_.notify_all();
}

}  // namespace smdebug::inline v1::http::detail
