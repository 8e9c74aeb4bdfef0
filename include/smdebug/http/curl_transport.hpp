// A transport over libcurl: HTTP/1.1 and HTTP/2, many concurrent requests over few persistent connections.
#pragma once

#include <smdebug/http/concepts.hpp>
#include <smdebug/http/curl_engine.hpp>
#include <smdebug/http/curl_transfer.hpp>
#include <smdebug/http/message.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace smdebug::inline v1 {

/// Copies are handles of one engine with one thread, which starts with the first request and ends with the last copy
/// and the last exchange.
/// Answers:  a body is allocated once if the server sends its length.  A body with neither a length nor chunks ends
///           with the connection: whether it is complete cannot be known.
/// Resends:  libcurl resends a GET or HEAD when a kept connection turns out to be closed; nothing else.
/// Forks:    in a child, transports use an engine of their own; the parent's requests in flight stay with the parent.
/// Cost:     some tens of microseconds a request, on the engine's thread; a body is copied once from libcurl's buffer.
/// Threads:  all calls on any.
class curl_transport {
    class shared;

public:
    /// A request in flight; destroying it cancels the request.
    class exchange {
    public:
        exchange(exchange&& other) noexcept = default;
        exchange& operator=(exchange&& other) noexcept;
        exchange(const exchange&) = delete;
        exchange& operator=(const exchange&) = delete;
        ~exchange();

    private:
        friend curl_transport;
        exchange() = default;

        std::shared_ptr<shared> home_;  // keeps the engine alive
        http::detail::curl_engine* engine_ = nullptr;
        std::shared_ptr<http::detail::curl_engine::job> job_;
    };

    curl_transport() : curl_transport(curl_options{}) {}
    explicit curl_transport(curl_options options) : shared_(std::make_shared<shared>(std::move(options))) {}

    /// Errors: std::bad_alloc.
    [[nodiscard]] exchange start(http::request ask, http::detail::completion_queue& to, std::size_t ticket) const;

    [[nodiscard]] curl_counters counters() const;

private:
    // No locks: another thread might have held one when this process was forked.
    class shared {
    public:
        explicit shared(curl_options options) : options_(std::move(options)) {}
        shared(const shared&) = delete;
        shared& operator=(const shared&) = delete;
        ~shared() { delete running(); }

        /// Null: there is none yet, or it is the parent's, which is left alone: its thread is not in this process.
        [[nodiscard]] http::detail::curl_engine* running() const noexcept;
        [[nodiscard]] http::detail::curl_engine& engine();

    private:
        curl_options options_;
        std::atomic<http::detail::curl_engine*> engine_ = nullptr;
    };

    std::shared_ptr<shared> shared_;
};

static_assert(http_transport<curl_transport>);

inline curl_transport::exchange& curl_transport::exchange::operator=(exchange&& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(engine_, other.engine_);
    std::swap(job_, other.job_);
    return *this;
}

inline curl_transport::exchange::~exchange() {
    if (job_ && engine_->is_here()) {
        engine_->cancel(*job_);
    }
}

inline curl_transport::exchange curl_transport::start(http::request ask, http::detail::completion_queue& to,
                                                      std::size_t ticket) const {
    exchange made;
    try {
        made.engine_ = &shared_->engine();
    } catch (const std::exception& thrown) {
        to.put({ticket, http::detail::not_answered(
                            http::outcome::unreachable,
                            "The thread that carries requests cannot be started: " + std::string{thrown.what()})});
        return made;
    }
    made.home_ = shared_;
    made.job_ = std::make_shared<http::detail::curl_engine::job>(std::move(ask), to, ticket);
    made.engine_->start(made.job_);
    return made;
}

inline curl_counters curl_transport::counters() const {
    http::detail::curl_engine* running = shared_->running();
    return running == nullptr ? curl_counters{} : running->counters();
}

inline http::detail::curl_engine* curl_transport::shared::running() const noexcept {
    http::detail::curl_engine* current = engine_.load();
    return current != nullptr && current->is_here() ? current : nullptr;
}

inline http::detail::curl_engine& curl_transport::shared::engine() {
    http::detail::curl_engine* current = engine_.load();
    if (current != nullptr && current->is_here()) {
        return *current;
    }
    auto made = std::make_unique<http::detail::curl_engine>(options_);
    // Another thread may have been quicker: then `current` is its engine.
    return engine_.compare_exchange_strong(current, made.get()) ? *made.release() : *current;
}

}  // namespace smdebug::inline v1
