// The bodies of <smdebug/batch/ranks/rank_work.hpp>.
#pragma once

#include <smdebug/batch/ranks/rank_work.hpp>

#include <smdebug/batch/row_spool.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::optional<batch_run> rank_work::next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return closed_ || !runs_.empty() || stop_.stop_requested(); });
    if (runs_.empty() || stop_.stop_requested()) {
        return std::nullopt;
    }
    batch_run run = std::move(runs_.front());
    runs_.pop_front();
    return run;
}

SMDEBUG_INLINE rank_work::~rank_work() {
    {
        const std::lock_guard lock{mutex_};
        nobody_takes_ = true;
    }
    stop();
}

SMDEBUG_INLINE void rank_work::emit(run_result&& result) {
    if (in_pieces_) {
        put_rows(result.run.place, 0, result.reductions);
        for (std::size_t i = 0; i < result.others.size(); ++i) {
            put_rows(result.run.place, i + 1, result.others[i].reductions);
        }
    }
    put(std::move(result));
}

SMDEBUG_INLINE void rank_work::put_rows(std::uint64_t place, std::uint64_t number, std::shared_ptr<row_spool>& spool) {
    if (!spool) {
        return;
    }
    const std::shared_ptr<row_spool> all = std::exchange(spool, std::make_shared<row_spool>());
    all->for_each_piece(
        [&](std::string_view some) { put(rows{.place = place, .number = number, .bytes = std::string{some}}); });
}

SMDEBUG_INLINE void rank_work::put(output what) {
    {
        constexpr std::size_t most_pieces = 8;  // of a megabyte each
        const bool is_piece = std::holds_alternative<rows>(what);
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return !is_piece || pieces_ < most_pieces || nobody_takes_; });
        pieces_ += is_piece ? 1 : 0;
        results_.push_back(std::move(what));
        if (results_.size() > 1) {
            return;  // whoever was woken for the first takes them all
        }
    }
    wake_();
}

SMDEBUG_INLINE void rank_work::start(engine run) {
    thread_ = std::jthread{[this, run] {
        std::exception_ptr failure;
        try {
            run(*this, stop_.get_token());
        } catch (...) {
            failure = std::current_exception();
        }
        {
            const std::lock_guard lock{mutex_};
            failure_ = failure;
            ended_ = true;
        }
        wake_();
    }};
}

SMDEBUG_INLINE void rank_work::give(batch_run run) {
    {
        const std::lock_guard lock{mutex_};
        runs_.push_back(std::move(run));
    }
    changed_.notify_all();
}

SMDEBUG_INLINE std::vector<std::uint64_t> rank_work::take_back() {
    std::vector<std::uint64_t> places;
    const std::lock_guard lock{mutex_};
    while (runs_.size() > 1) {
        places.push_back(runs_.back().place);
        runs_.pop_back();
    }
    std::ranges::reverse(places);
    return places;
}

SMDEBUG_INLINE void rank_work::close() {
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    changed_.notify_all();
}

SMDEBUG_INLINE void rank_work::stop() {
    stop_.request_stop();
    // Whoever has looked at the token but does not wait yet, holds the mutex.
    { const std::lock_guard lock{mutex_}; }
    changed_.notify_all();
}

SMDEBUG_INLINE std::optional<rank_work::output> rank_work::take() {
    std::optional<output> next;
    {
        const std::lock_guard lock{mutex_};
        if (results_.empty()) {
            return next;
        }
        next = std::move(results_.front());
        results_.pop_front();
        if (std::holds_alternative<run_result>(*next)) {
            return next;
        }
        --pieces_;
    }
    changed_.notify_all();
    return next;
}

SMDEBUG_INLINE bool rank_work::has_ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
}

SMDEBUG_INLINE std::exception_ptr rank_work::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

}  // namespace v1
}  // namespace smdebug
