#include <smdebug/s3/credentials/default_credentials.hpp>

#include <smdebug/core/error.hpp>

#include "support/environment_variable.hpp"
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::chrono::system_clock::time_point now = std::chrono::system_clock::now();

/// A transport that must not be used.
scripted_server nobody() {
    return scripted_server{[](const http::request&, std::size_t) -> std::optional<http::response> {
        FAIL("something was asked");
        return std::nullopt;
    }};
}

}  // namespace

TEST_CASE("s3_credentials: the options' keys come first, and no service is queried") {
    s3_options options;
    options.keys = s3::access_keys{"FAKEKEYID", "fake/secret", "token", {}};
    const auto given = s3_credentials(options, nobody());
    CHECK((given->keys(now) == options.keys));
    given->renew();
    CHECK((given->keys(now) == options.keys));
    options.anonymous = true;
    CHECK((s3_credentials(options, nobody())->keys(now) == options.keys));
}

TEST_CASE("s3_credentials: anonymous means no keys, whatever the environment has") {
    const environment_variable id{"AWS_ACCESS_KEY_ID", "ENVIRONMENTKEYID"};
    const environment_variable secret{"AWS_SECRET_ACCESS_KEY", "environment/secret"};
    s3_options options;
    options.anonymous = true;
    const auto none = s3_credentials(options, nobody());
    CHECK_FALSE(none->keys(now).has_value());
    none->renew();
    CHECK_FALSE(none->keys(now).has_value());
}

TEST_CASE("s3_credentials: else they are looked for, in the environment first") {
    const environment_variable id{"AWS_ACCESS_KEY_ID", "ENVIRONMENTKEYID"};
    const environment_variable secret{"AWS_SECRET_ACCESS_KEY", "environment/secret"};
    const auto found = s3_credentials({}, nobody());
    for (int times = 0; times < 2; ++times) {
        const auto keys = found->keys(now);
        REQUIRE(keys.has_value());
        CHECK(keys->id == "ENVIRONMENTKEYID");
        CHECK(keys->secret == "environment/secret");
        found->renew();
    }
}

TEST_CASE("s3_credentials: keys that cannot be any are refused at once") {
    for (const s3::access_keys& wrong :
         {s3::access_keys{}, {"id", "", "", {}}, {"", "secret", "", {}}, {"id\n", "secret", "", {}}}) {
        s3_options options;
        options.keys = wrong;
        CHECK_THROWS_AS(static_cast<void>(s3_credentials(options, nobody())), value_error);
    }
}
