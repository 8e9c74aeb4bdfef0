// Credentials that always give keys, so that there is no anonymous access.
// expect: key_giver
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_without_absence {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const;
#else
    smdebug::s3::access_keys keys(std::chrono::system_clock::time_point now) const;
#endif
    void renew() const;
};

void open(const smdebug::credentials_provider auto& credentials);

void use(const keys_without_absence& credentials) { open(credentials); }
