// A minimal model of http_transport.
#pragma once

#include <smdebug/http/concepts.hpp>
#include <support/scripted_transport.hpp>

#include <cstddef>
#include <utility>

namespace smdebug_test {

/// An exchange and nothing else: movable, not copyable, no default constructor.
class exchange_archetype {
public:
    explicit exchange_archetype(scripted_transport::exchange inner) : inner_(std::move(inner)) {}
    exchange_archetype(exchange_archetype&&) = default;
    exchange_archetype& operator=(exchange_archetype&&) = default;
    exchange_archetype(const exchange_archetype&) = delete;
    exchange_archetype& operator=(const exchange_archetype&) = delete;
    ~exchange_archetype() = default;

private:
    scripted_transport::exchange inner_;
};

/// A transport and nothing else: no default constructor.
class transport_archetype {
public:
    explicit transport_archetype(scripted_transport inner) : inner_(std::move(inner)) {}

    [[nodiscard]] exchange_archetype start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to,
                                           std::size_t ticket) const {
        return exchange_archetype{inner_.start(std::move(ask), to, ticket)};
    }

private:
    scripted_transport inner_;
};

static_assert(smdebug::http_transport<scripted_transport>);
static_assert(smdebug::http_transport<transport_archetype>);

}  // namespace smdebug_test
