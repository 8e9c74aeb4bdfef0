// An exchange of which there can be two: the first to go would end it for the other.
// expect: deleted
#include <smdebug/http/transport.hpp>

struct one final : smdebug::http_transport::exchange {};

one use(const one& held) {
#ifdef CONTROL
    static_cast<void>(held);
    return {};
#else
    return held;
#endif
}
