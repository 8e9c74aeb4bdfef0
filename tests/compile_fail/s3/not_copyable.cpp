// Credentials that cannot be copied, while handles of a storage are.
// expect: copyable
#include <smdebug/s3/credentials.hpp>

#include <chrono>
#include <optional>

struct not_copyable {
    std::optional<smdebug::s3::access_keys> keys(std::chrono::system_clock::time_point now) const;
    void renew() const;
#ifndef CONTROL
    not_copyable(not_copyable&&);
    not_copyable& operator=(not_copyable&&);
#endif
};

void open(const smdebug::credentials_provider auto& credentials);

void use(const not_copyable& credentials) { open(credentials); }
