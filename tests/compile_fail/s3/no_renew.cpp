// Credentials without renew(), which drops expired keys.
// expect: abstract
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct no_renew final : smdebug::credentials_provider {
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const override;
#ifdef CONTROL
    void renew() const override;
#endif
};

no_renew use() { return {}; }
