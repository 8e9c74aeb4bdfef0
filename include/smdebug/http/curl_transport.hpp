// A transport over libcurl: HTTP/1.1 and HTTP/2, many concurrent requests over few persistent connections.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>

#include <cstddef>
#include <memory>

namespace smdebug::inline v1 {

/// Copies are handles of one engine with one thread, which starts with the first request and ends with the last copy
/// and the last exchange.
/// Answers:  a body is allocated once if the server sends its length.  A body with neither a length nor chunks ends
///           with the connection: whether it is complete cannot be known.
/// Resends:  libcurl resends a GET or HEAD when a kept connection turns out to be closed; nothing else.
/// Forks:    in a child, transports use an engine of their own; the parent's requests in flight stay with the parent.
/// Cost:     some tens of microseconds a request, on the engine's thread; a body is copied once from libcurl's buffer.
/// Threads:  all calls on any.
class curl_transport final : public http_transport {
public:
    explicit curl_transport(curl_options options = {});

    /// Errors: std::bad_alloc.
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<exchange> start(http::request ask, http::completion_queue& to,
                                                                 std::size_t ticket) const override;

    [[nodiscard]] http::curl_counters counters() const;

private:
    class shared;
    class carried;

    std::shared_ptr<shared> shared_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_transport.ipp>
#endif
