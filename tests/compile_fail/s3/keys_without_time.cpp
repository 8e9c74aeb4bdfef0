// Credentials whose keys() does not take the time.
// expect: key_giver
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_without_time {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const;
#else
    std::optional<smdebug::s3::access_keys> keys() const;
#endif
    void renew() const;
};

void open(const smdebug::credentials_provider auto& credentials);

void use(const keys_without_time& credentials) { open(credentials); }
