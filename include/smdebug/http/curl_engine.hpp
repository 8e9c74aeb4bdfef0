// The thread that carries requests: one libcurl multi handle, whose connections all users of the engine share.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/curl_transfer.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// RAII for a libcurl multi handle: runs easy handles concurrently and waits for events.
namespace smdebug::inline v1::http::detail {

/// Threads: one at a time; wake() on any.
class curl_multi {
public:
    using clock = std::chrono::steady_clock;

    struct finished {
        CURL* handle = nullptr;
        CURLcode how = CURLE_OK;
    };

    /// Keeps up to that many idle connections open.   Errors: std::bad_alloc.
    explicit curl_multi(std::size_t kept) : handle_(::curl_multi_init()) {
        if (!handle_) {
            throw std::bad_alloc{};
        }
        // libcurl's default limit follows the number of running handles, and closes idle connections as it shrinks.
        const auto most = static_cast<long>(std::clamp<std::size_t>(kept, 1, 1U << 16U));
        ::curl_multi_setopt(handle_.get(), CURLMOPT_MAXCONNECTS, most);
    }
    curl_multi(const curl_multi&) = delete;
    curl_multi& operator=(const curl_multi&) = delete;
    ~curl_multi() = default;

    /// False when memory is exhausted.
    [[nodiscard]] bool add(CURL* easy) noexcept { return ::curl_multi_add_handle(handle_.get(), easy) == CURLM_OK; }
    /// Aborts the handle's transfer, if one runs.
    void remove(CURL* easy) noexcept { ::curl_multi_remove_handle(handle_.get(), easy); }

    /// Does all work that does not block.
    void perform() noexcept {
        int running = 0;
        ::curl_multi_perform(handle_.get(), &running);
    }
    /// Returns a finished handle, each once.
    [[nodiscard]] std::optional<finished> next_finished() noexcept {
        int more = 0;
        const ::CURLMsg* message = ::curl_multi_info_read(handle_.get(), &more);
        while (message != nullptr && message->msg != CURLMSG_DONE) {
            message = ::curl_multi_info_read(handle_.get(), &more);
        }
        return message == nullptr ? std::nullopt : std::optional{finished{message->easy_handle, message->data.result}};
    }
    /// Waits until there is something to perform, wake() was called since the last wait, or the time is up.
    void wait_until(clock::time_point latest) noexcept {
        using std::chrono::milliseconds;
        constexpr clock::duration longest = std::chrono::minutes{10};
        const auto now = clock::now();
        const auto left = latest <= now ? clock::duration::zero() : std::min(latest - now, longest);
        const auto whole = static_cast<int>(std::chrono::ceil<milliseconds>(left).count());
        ::curl_multi_poll(handle_.get(), nullptr, 0, whole, nullptr);
    }
    void wake() noexcept { ::curl_multi_wakeup(handle_.get()); }

private:
    // libcurl's global initialisation is reference-counted.
    struct libcurl {
        libcurl() {
            if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
                throw std::bad_alloc{};
            }
        }
        libcurl(const libcurl&) = delete;
        libcurl& operator=(const libcurl&) = delete;
        ~libcurl() { ::curl_global_cleanup(); }
    };
    struct cleaner {
        void operator()(CURLM* handle) const noexcept { ::curl_multi_cleanup(handle); }
    };

    libcurl loaded_;
    std::unique_ptr<CURLM, cleaner> handle_;
};

// Requests wait here until the limits, per server and in total, admit one more.
// libcurl could hold them back itself, but would count the wait as time to connect.

/// First come, first served, among the requests whose server has room.
/// Threads: one at a time.
template <class Job>
class request_queue {
    struct entry {
        std::uint64_t number;
        Job job;
    };
    struct lane {
        std::list<entry> waiting;
        std::size_t carried = 0;
        bool shares = false;  // whether its last answer came over a connection that carries many requests
    };

public:
    /// A job's place in the queue: valid until the job was taken out and has ended.
    class place {
    public:
        place() = default;

    private:
        friend request_queue;
        place(lane* server, typename std::list<entry>::iterator at) : server_(server), at_(at) {}
        lane* server_ = nullptr;
        typename std::list<entry>::iterator at_ = {};
    };

    /// At most `most` run at once, and `most_of_server` at a server that shares no connections; 0 counts as 1.
    request_queue(std::size_t most, std::size_t most_of_server)
        : most_(most > 0 ? most : 1), most_of_server_(most_of_server > 0 ? most_of_server : 1) {}

    /// Servers are never forgotten.
    [[nodiscard]] place push(std::string_view server, Job job) {
        auto found = lanes_.find(server);
        if (found == lanes_.end()) {
            found = lanes_.try_emplace(std::string{server}).first;
        }
        lane& in = found->second;
        in.waiting.push_back({++count_, std::move(job)});
        return {&in, std::prev(in.waiting.end())};
    }

    /// Removes a waiting job.
    void remove(const place& where) noexcept { where.server_->waiting.erase(where.at_); }

    /// Takes the next job that the limits admit; nothing if there is none.
    [[nodiscard]] std::optional<Job> next() {
        lane* first = nullptr;
        for (auto& [server, in] : lanes_) {
            const bool may = !in.waiting.empty() && (in.shares || in.carried < most_of_server_);
            if (may && (first == nullptr || in.waiting.front().number < first->waiting.front().number)) {
                first = &in;
            }
        }
        if (first == nullptr || carried_ >= most_) {
            return std::nullopt;
        }
        std::optional<Job> gone{std::move(first->waiting.front().job)};
        first->waiting.pop_front();
        ++first->carried;
        ++carried_;
        return gone;
    }

    /// Notes that a job that next() returned has ended, and whether its server shares connections; unset if unknown.
    void ended(const place& where, std::optional<bool> shares = std::nullopt) noexcept {
        --where.server_->carried;
        --carried_;
        where.server_->shares = shares.value_or(where.server_->shares);
    }

    /// Removes the waiting jobs for which give_up(job) is true.
    template <class GiveUp>
    void remove_if(GiveUp&& give_up) {
        for (auto& [server, in] : lanes_) {
            in.waiting.remove_if([&](entry& waiting) { return give_up(waiting.job); });
        }
    }

private:
    std::size_t most_;
    std::size_t most_of_server_;
    std::map<std::string, lane, std::less<>> lanes_;
    std::uint64_t count_ = 0;
    std::size_t carried_ = 0;
};

/// Threads: all calls on any.  In a forked child only is_here() may be called on the parent's engine, and the engine
/// cannot be destroyed: its thread does not exist there.
class curl_engine {
public:
    /// A request that the engine has accepted.
    class job {
    public:
        job(http::request what, completion_queue& answers, std::size_t number)
            : ask_(std::move(what)), to_(answers), ticket_(number) {}

    private:
        friend curl_engine;
        enum class stage : std::uint8_t { waits, carried, done };

        http::request ask_;
        completion_queue& to_;
        std::size_t ticket_;
        // Guarded by the engine's mutex:
        stage at_ = stage::waits;
        bool cancelled_ = false;
        request_queue<std::shared_ptr<job>>::place place_;
    };

    /// Errors: std::bad_alloc, std::system_error (no thread could be started).
    explicit curl_engine(curl_options options);
    curl_engine(const curl_engine&) = delete;
    curl_engine& operator=(const curl_engine&) = delete;
    /// Precondition: every job was answered or cancelled.
    ~curl_engine();

    /// Whether this process created the engine, rather than its parent.
    [[nodiscard]] bool is_here() const noexcept { return maker_ == ::getpid(); }

    void start(const std::shared_ptr<job>& work);

    /// After this nothing is put into the inbox, and the body is not read.  If the body may be in transfer, waits until
    /// the thread has finished its current round of work: some microseconds, rarely milliseconds.
    void cancel(job& work) noexcept;

    [[nodiscard]] curl_counters counters() {
        const std::lock_guard lock{guard_};
        return counted_;
    }

private:
    using clock = http::request::clock;
    using stage = job::stage;

    struct flight {
        std::shared_ptr<job> work;
        std::unique_ptr<curl_transfer> transfer;
    };

    // With the lock held.
    void wake() noexcept {
        if (!std::exchange(woken_, true)) {
            multi_.wake();
        }
    }

    // On the engine's thread ------------------------------------------------------------------------------------------

    void work();
    [[nodiscard]] bool take_orders();  // false when the thread should end
    void give_up_waiting();            // with the lock held
    void begin(std::shared_ptr<job> work);
    void take_finished();
    void give_up_late();
    // The last flight takes the index of the one that ends.
    void end(std::size_t which, CURLcode how, std::optional<http::response> instead = std::nullopt);

    curl_options options_;
    ::pid_t maker_ = ::getpid();

    std::mutex guard_;
    std::condition_variable done_;  // a cancelled job has ended
    curl_counters counted_;
    request_queue<std::shared_ptr<job>> line_;
    clock::time_point first_deadline_ = clock::time_point::max();  // at or before the first deadline of waiting jobs
    bool woken_ = false;
    bool cancels_ = false;
    bool stops_ = false;

    // Used by the engine's thread only:
    curl_multi multi_;
    std::vector<std::unique_ptr<curl_transfer>> idle_;
    std::vector<flight> flights_;
    clock::time_point wake_at_ = clock::time_point::max();
    bool has_room_ = false;  // since orders were last taken

    std::thread thread_;
};

}  // namespace smdebug::inline v1::http::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_engine.ipp>
#endif
