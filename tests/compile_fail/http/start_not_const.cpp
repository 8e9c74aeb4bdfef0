// A transport that has to be held alone to be asked.
// expect: override
#include <smdebug/http/transport.hpp>

#include <cstddef>
#include <memory>

struct start_not_const final : smdebug::http_transport {
#ifdef CONTROL
    std::unique_ptr<exchange> start(smdebug::http::request ask, smdebug::http::completion_queue& to,
                                    std::size_t ticket) const override;
#else
    std::unique_ptr<exchange> start(smdebug::http::request ask, smdebug::http::completion_queue& to,
                                    std::size_t ticket) override;
#endif
};
