// An exchange that cannot be kept in a vector.
// expect: http_exchange
#include <smdebug/http/concepts.hpp>

struct exchange_not_movable {
#ifdef CONTROL
    exchange_not_movable(exchange_not_movable&&) = default;
    exchange_not_movable& operator=(exchange_not_movable&&) = default;
#else
    exchange_not_movable(const exchange_not_movable&) = delete;
#endif
};

void hold(smdebug::http_exchange auto& held);

void use(exchange_not_movable& held) { hold(held); }
