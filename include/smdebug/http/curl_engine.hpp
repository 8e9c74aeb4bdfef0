// The thread that carries requests: one multi handle of libcurl, with the connections of all who share it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/curl_multi.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/curl_transfer.hpp>
#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/origin.hpp>
#include <smdebug/http/response_builder.hpp>
#include <smdebug/http/waiting_line.hpp>

#include <curl/curl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// Threads: all calls on any.  In a child that was forked since it was made, nothing but is_here() may be called, and
/// it cannot be destroyed: its thread is not there.
class curl_engine {
public:
    /// A request in the engine's hands.
    class job {
    public:
        job(http::request what, http::detail::inbox& answers, std::size_t number)
            : ask_(std::move(what)), to_(answers), ticket_(number) {}

    private:
        friend curl_engine;
        enum class stage : std::uint8_t { waits, carried, done };

        http::request ask_;
        http::detail::inbox& to_;
        std::size_t ticket_;
        // Guarded by the engine's lock:
        stage at_ = stage::waits;
        bool cancelled_ = false;
        waiting_line<std::shared_ptr<job>>::place place_;
    };

    /// Errors: std::bad_alloc, std::system_error (the system gives no thread).
    explicit curl_engine(curl_options options);
    curl_engine(const curl_engine&) = delete;
    curl_engine& operator=(const curl_engine&) = delete;
    /// Every job was answered or cancelled before.
    ~curl_engine();

    /// Whether it was made by this process.
    [[nodiscard]] bool is_here() const noexcept { return maker_ == ::getpid(); }

    void start(const std::shared_ptr<job>& work);

    /// Nothing is put into the inbox from now on, and the body is not looked at.  Where the body may be on its way,
    /// waits until the thread is through with what the connections have for it: some microseconds, rarely milliseconds.
    void cancel(job& work) noexcept;

    [[nodiscard]] curl_counters counters();

private:
    using clock = http::request::clock;
    using stage = job::stage;

    struct flight {
        std::shared_ptr<job> work;
        std::unique_ptr<curl_transfer> transfer;
    };

    // With the lock held.
    void wake() noexcept;
    // With the lock held.
    static void answer(job& work, http::response made);

    // On the engine's thread ------------------------------------------------------------------------------------------

    void work();
    [[nodiscard]] bool take_orders();
    void give_up_waiting();
    void begin(std::shared_ptr<job> work);
    void take_finished();
    void give_up_late();
    void end(std::size_t which, CURLcode how, std::optional<http::response> instead = std::nullopt);

    curl_options options_;
    ::pid_t maker_ = ::getpid();

    std::mutex guard_;
    std::condition_variable done_;  // a job that was cancelled
    curl_counters counted_;
    waiting_line<std::shared_ptr<job>> line_;
    clock::time_point first_deadline_ = clock::time_point::max();  // of those that wait, or before that
    bool woken_ = false;
    bool cancels_ = false;
    bool stops_ = false;

    // The thread's own:
    curl_multi multi_;
    std::vector<std::unique_ptr<curl_transfer>> idle_;
    std::vector<flight> flights_;
    clock::time_point wake_at_ = clock::time_point::max();
    bool has_room_ = false;  // since orders were last taken

    std::thread thread_;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_engine.ipp>
#endif
