// A transport that cannot be handed to the parts of a storage.
// expect: http_transport
#include <smdebug/http/concepts.hpp>

#include <cstddef>

struct transport_not_copyable {
    struct exchange {
        exchange(exchange&&) = default;
        exchange& operator=(exchange&&) = default;
    };
    exchange start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#ifndef CONTROL
    transport_not_copyable(transport_not_copyable&&) = default;
    transport_not_copyable& operator=(transport_not_copyable&&) = default;
#endif
};

void ask(const smdebug::http_transport auto& transport);

void use(const transport_not_copyable& transport) { ask(transport); }
