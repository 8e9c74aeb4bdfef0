// Whose keys a storage uses when nobody brings credentials of another kind: the options', nobody's, or those found.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/options.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <variant>

namespace smdebug {
inline namespace v1 {

/// s3_options::keys, where they are set; else none, where s3_options::anonymous is; else default_credentials.
/// Threads: everything may be called at once.  Copies share what was found.
template <http_transport Transport>
class s3_credentials {
public:
    /// `over` is asked where a service of the machine gives keys.  Errors: value_error for keys that cannot be any.
    s3_credentials(const s3_options& options, Transport over) : chosen_(choose(options, std::move(over))) {}

    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const {
        return std::visit([&](const auto& credentials) { return credentials.keys(now); }, chosen_);
    }
    void renew() const {
        std::visit([](const auto& credentials) { credentials.renew(); }, chosen_);
    }

private:
    using choice = std::variant<anonymous_credentials, static_credentials, default_credentials<Transport>>;

    [[nodiscard]] static choice choose(const s3_options& options, Transport over);

    choice chosen_;
};

}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/credentials/impl/s3_credentials.tpp>
