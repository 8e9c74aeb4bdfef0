// Credentials whose keys() is not const: const calls may run on many threads.
// expect: override
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_not_const final : smdebug::credentials_provider {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const override;
#else
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) override;
#endif
    void renew() const override;
};
