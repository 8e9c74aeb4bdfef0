// The front door of http/: what carries requests to a server and answers back.
#pragma once

#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>

#include <concepts>
#include <cstddef>

namespace smdebug {
inline namespace v1 {

/// An exchange that goes on: movable, not copied.
template <class E>
concept http_exchange = std::movable<E> && !std::copy_constructible<E>;

/// Carries requests over HTTP, many at once.  A type T models `http_transport` when:
///  1. start(request, inbox, ticket) returns at once; later exactly one answer with that ticket is put into the inbox,
///     on any thread, also from within start();
///  2. destroying the exchange that start() gave ends it: from then on nothing is put into the inbox for it, and the
///     request's body is not looked at any more.  Until then inbox and body are borrowed;
///  3. a body is given whole, or the outcome is not `answered`;
///  4. redirections are not followed, nothing but GET and HEAD is sent twice, and no header is added that a signature
///  covers
///     (x-amz-*, authorization); "host" is that of the URL;
///  5. const calls may run at once on many threads; copies share what they hold.
template <class T>
concept http_transport =
    std::copyable<T> && requires(const T& transport, http::request ask, http::detail::inbox& to, std::size_t ticket) {
        { transport.start(std::move(ask), to, ticket) } -> http_exchange;
    };

/// One exchange from start to end, on the calling thread.
template <http_transport Transport>
[[nodiscard]] http::response perform(const Transport& transport, http::request ask) {
    http::detail::inbox answers;
    [[maybe_unused]] const auto exchange = transport.start(std::move(ask), answers, 0);
    return answers.take_until(http::detail::inbox::clock::time_point::max())->response;
}

}  // namespace v1
}  // namespace smdebug
