// Credentials whose keys() is not const: const calls may run on many threads.
// expect: key_giver
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct keys_not_const {
#ifdef CONTROL
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const;
#else
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now);
#endif
    void renew() const;
};

void open(const smdebug::credentials_provider auto& credentials);

void use(const keys_not_const& credentials) { open(credentials); }
