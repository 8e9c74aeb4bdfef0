// A transport that has to be held alone to be asked.
// expect: http_transport
#include <smdebug/http/concepts.hpp>

#include <cstddef>

struct start_not_const {
    struct exchange {
        exchange(exchange&&) = default;
        exchange& operator=(exchange&&) = default;
    };
#ifdef CONTROL
    exchange start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#else
    exchange start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket);
#endif
};

void ask(const smdebug::http_transport auto& transport);

void use(const start_not_const& transport) { ask(transport); }
