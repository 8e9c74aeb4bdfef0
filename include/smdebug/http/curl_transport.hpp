// Requests by libcurl: HTTP/1.1 and HTTP/2, many at once over few connections that are kept.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/curl_engine.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/response_builder.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Copies are handles of one engine with one thread, which starts with the first request, and ends with the last copy
/// and the last exchange.
/// Answers:  the body is in memory that is taken once, where the server says its length.  A body that neither has a
///           length nor comes in chunks ends where the connection does: whether it is whole cannot be known.
/// Twice:    libcurl sends a GET or HEAD again when a kept connection turns out to be closed; nothing else.
/// Forks:    in a child, transports go on with an engine of their own; what the parent has in flight is not theirs.
/// Cost:     some tens of microseconds a request, on the engine's thread; a body is copied once from libcurl's buffer.
/// Threads:  all calls on any.
class curl_transport {
    class shared;

public:
    /// A request that is under way; ends when this is destroyed.
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

        std::shared_ptr<shared> home_;  // keeps the engine
        http::detail::curl_engine* engine_ = nullptr;
        std::shared_ptr<http::detail::curl_engine::job> job_;
    };

    curl_transport() : curl_transport(curl_options{}) {}
    explicit curl_transport(curl_options options) : shared_(std::make_shared<shared>(std::move(options))) {}

    /// Errors: std::bad_alloc.
    [[nodiscard]] exchange start(http::request ask, http::detail::inbox& to, std::size_t ticket) const;

    [[nodiscard]] curl_counters counters() const;

private:
    // No locks: another thread might have held one while this process was forked.
    class shared {
    public:
        explicit shared(curl_options options) : options_(std::move(options)) {}
        shared(const shared&) = delete;
        shared& operator=(const shared&) = delete;
        ~shared() { delete running(); }

        /// Null: there is none, or it is the parent's, which stays as it is: its thread is not in this process.
        [[nodiscard]] http::detail::curl_engine* running() const noexcept;
        [[nodiscard]] http::detail::curl_engine& engine();

    private:
        curl_options options_;
        std::atomic<http::detail::curl_engine*> engine_ = nullptr;
    };

    std::shared_ptr<shared> shared_;
};

static_assert(http_transport<curl_transport>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_transport.ipp>
#endif
