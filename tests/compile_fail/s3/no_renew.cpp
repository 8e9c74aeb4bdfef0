// Credentials without renew(), which drops expired keys.
// expect: key_renewer
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct no_renew {
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const;
#ifdef CONTROL
    void renew() const;
#endif
};

void open(const smdebug::credentials_provider auto& credentials);

void use(const no_renew& credentials) { open(credentials); }
