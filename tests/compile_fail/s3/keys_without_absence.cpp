// Credentials that always give keys, so that there is no anonymous access.
// expect: return type
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_without_absence final : smdebug::credentials_provider {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const override;
#else
    smdebug::s3::access_keys keys(std::chrono::system_clock::time_point now) const override;
#endif
    void renew() const override;
};
