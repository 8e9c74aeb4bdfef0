// Ranks of one process, a thread each, that send each other messages: all can be lost, late or stopped.
#pragma once

#include <smdebug/batch/ranks/channel.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace smdebug_test {

/// What quit() and abort() throw here, abort() at the next call in all others, too.
struct ranks_aborted : std::runtime_error {
    ranks_aborted(int with, const std::string& why) : std::runtime_error(why), status(with) {}
    int status;
};

class fake_ranks {
public:
    using clock = std::chrono::steady_clock;

    explicit fake_ranks(int count) : ranks_(static_cast<std::size_t>(count)) {}

    /// Of one rank; lives no longer than this object.
    [[nodiscard]] std::unique_ptr<smdebug::rank_channel> channel(int rank) {
        return std::make_unique<channel_end>(*this, rank);
    }

    /// Whatever a rank sends from now on is lost, and whatever is sent to it.
    void lose(int rank) {
        const std::lock_guard lock{mutex_};
        at(rank).lost = true;
    }
    /// Its calls do not return until go_on().
    void stop(int rank) {
        const std::lock_guard lock{mutex_};
        at(rank).stopped = true;
    }
    void go_on(int rank) {
        const std::lock_guard lock{mutex_};
        at(rank).stopped = false;
        changed_.notify_all();
    }
    /// What a rank is sent takes so long from now on.
    void delay(int rank, std::chrono::milliseconds time) {
        const std::lock_guard lock{mutex_};
        at(rank).delay = time;
    }
    /// Where work of a rank waits while it is stopped: all threads of a stopped process do.
    void stop_point(int rank) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return !at(rank).stopped || is_over(rank); });
    }
    /// Ends those that rank 0 has forgotten, as the end of a real batch does.
    void end_forgotten() {
        const std::lock_guard lock{mutex_};
        ended_ = true;
        changed_.notify_all();
    }
    /// Whether it has received all that it was sent.
    [[nodiscard]] bool has_all(int rank) {
        const std::lock_guard lock{mutex_};
        return at(rank).inbox.empty();
    }
    [[nodiscard]] bool is_forgotten(int rank) {
        const std::lock_guard lock{mutex_};
        return at(rank).forgotten;
    }

private:
    struct waiting {
        clock::time_point due;
        smdebug::rank_channel::packet what;
    };
    struct member {
        std::deque<waiting> inbox;
        bool lost = false;
        bool stopped = false;
        bool woken = false;
        bool forgotten = false;
        std::chrono::milliseconds delay{0};
    };

    class channel_end final : public smdebug::rank_channel {
    public:
        channel_end(fake_ranks& all, int rank) : all_(all), rank_(rank) {}
        [[nodiscard]] int rank() const noexcept override { return rank_; }
        [[nodiscard]] int size() const noexcept override { return static_cast<int>(all_.ranks_.size()); }
        [[nodiscard]] std::string machine() const override { return "node" + std::to_string(rank_); }
        void send(int to, std::string bytes) override {
            std::unique_lock lock{all_.mutex_};
            all_.pass(lock, rank_);
            if (bytes.empty()) {
                throw std::logic_error("an empty message");
            }
            if (!all_.at(rank_).lost && !all_.at(to).lost) {
                all_.at(to).inbox.push_back(
                    {.due = clock::now() + all_.at(to).delay, .what = {.from = rank_, .bytes = std::move(bytes)}});
                all_.changed_.notify_all();
            }
        }
        [[nodiscard]] bool all_sent() override { return true; }
        [[nodiscard]] std::optional<packet> receive(std::chrono::milliseconds longest) override {
            std::unique_lock lock{all_.mutex_};
            const auto until = clock::now() + longest;
            for (;;) {
                all_.pass(lock, rank_);
                member& own = all_.at(rank_);
                if (!own.inbox.empty() && own.inbox.front().due <= clock::now()) {
                    packet first = std::move(own.inbox.front().what);
                    own.inbox.pop_front();
                    return first;
                }
                if (std::exchange(own.woken, false) || clock::now() >= until) {
                    return std::nullopt;
                }
                all_.changed_.wait_until(lock, own.inbox.empty() ? until : std::min(until, own.inbox.front().due));
            }
        }
        void wake() noexcept override {
            const std::lock_guard lock{all_.mutex_};
            all_.at(rank_).woken = true;
            all_.changed_.notify_all();
        }
        void forget(int rank) noexcept override {
            const std::lock_guard lock{all_.mutex_};
            all_.at(rank).forgotten = true;
        }
        [[noreturn]] void abort(int status, const std::string& why) override {
            const std::lock_guard lock{all_.mutex_};
            all_.aborted_.emplace(status, why);
            all_.changed_.notify_all();
            throw ranks_aborted{status, why};
        }
        [[noreturn]] void quit(int status, const std::string& why) override { throw ranks_aborted{status, why}; }
        void end(int status) override { static_cast<void>(status); }

    private:
        fake_ranks& all_;
        int rank_;
    };

    member& at(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
    void pass(std::unique_lock<std::mutex>& lock, int rank) {
        changed_.wait(lock, [&] { return !at(rank).stopped || is_over(rank); });
        if (aborted_) {
            throw ranks_aborted{aborted_->first, aborted_->second};
        }
        if (is_over(rank)) {
            throw ranks_aborted{0, "the others have ended"};
        }
    }
    bool is_over(int rank) { return aborted_ || (ended_ && at(rank).forgotten); }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<member> ranks_;
    std::optional<std::pair<int, std::string>> aborted_;
    bool ended_ = false;
};

}  // namespace smdebug_test
