// A transport whose requests cannot be ended.
// expect: return type
#include <smdebug/http/transport.hpp>

#include <cstddef>
#include <memory>

struct start_gives_nothing final : smdebug::http_transport {
#ifdef CONTROL
    std::unique_ptr<exchange> start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to,
                                    std::size_t ticket) const override;
#else
    void start(smdebug::http::request ask, smdebug::http::detail::completion_queue& to,
               std::size_t ticket) const override;
#endif
};
