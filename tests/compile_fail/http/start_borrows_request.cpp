// A transport that looks at the caller's request later on.
// expect: http_transport
#include <smdebug/http/concepts.hpp>

#include <cstddef>

struct start_borrows_request {
    struct exchange {
        exchange(exchange&&) = default;
        exchange& operator=(exchange&&) = default;
    };
#ifdef CONTROL
    exchange start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#else
    exchange start(smdebug::http::request& ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#endif
};

void ask(const smdebug::http_transport auto& transport);

void use(const start_borrows_request& transport) { ask(transport); }
