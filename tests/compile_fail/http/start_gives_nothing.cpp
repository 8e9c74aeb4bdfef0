// A transport whose requests cannot be ended.
// expect: http_transport
#include <smdebug/http/concepts.hpp>

#include <cstddef>

struct start_gives_nothing {
    struct exchange {
        exchange(exchange&&) = default;
        exchange& operator=(exchange&&) = default;
    };
#ifdef CONTROL
    exchange start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#else
    void start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to, std::size_t ticket) const;
#endif
};

void ask(const smdebug::http_transport auto& transport);

void use(const start_gives_nothing& transport) { ask(transport); }
