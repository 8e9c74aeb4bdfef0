// Credentials whose keys() does not take the time.
// expect: override
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_without_time final : smdebug::credentials_provider {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const override;
#else
    std::optional<smdebug::s3::access_keys> keys() const override;
#endif
    void renew() const override;
};
