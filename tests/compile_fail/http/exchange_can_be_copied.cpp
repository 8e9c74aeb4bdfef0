// An exchange of which there can be two: the first to go would end it for the other.
// expect: http_exchange
#include <smdebug/http/concepts.hpp>

struct exchange_can_be_copied {
#ifdef CONTROL
    exchange_can_be_copied(exchange_can_be_copied&&) = default;
    exchange_can_be_copied& operator=(exchange_can_be_copied&&) = default;
#endif
};

void hold(smdebug::http_exchange auto& held);

void use(exchange_can_be_copied& held) { hold(held); }
