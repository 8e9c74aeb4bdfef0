#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include <support/fake_aws.hpp>
#include "support/test.hpp"

#include <ostream>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

const std::chrono::system_clock::time_point noon{1'800'000'000s};

template <class T>
concept printable = requires(std::ostream& out, const T& value) { out << value; };

/// Keys of one's own.
class own_credentials final : public credentials_provider {
public:
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point) const override {
        return s3::access_keys{.id = "number " + std::to_string(renewed_), .secret = "s"};
    }
    void renew() const override { ++renewed_; }

private:
    mutable int renewed_ = 0;
};

static_assert(std::is_abstract_v<credentials_provider> && std::has_virtual_destructor_v<credentials_provider>);
static_assert(!std::is_copy_constructible_v<credentials_provider>);
static_assert(!printable<s3::access_keys>);
static_assert(!printable<static_credentials>);

}  // namespace

TEST_CASE("static_credentials: give the keys that they were given, whatever the time") {
    const s3::access_keys given{.id = fake_id, .secret = fake_secret, .token = fake_token, .expires = noon};
    const static_credentials credentials{given};
    CHECK((credentials.keys(noon - 1h) == given));
    CHECK((credentials.keys(noon + 1h) == given));
    credentials.renew();
    CHECK((static_credentials{credentials}.keys(noon) == given));
    CHECK((static_credentials{{.id = "i", .secret = "s"}}.keys(noon)->token.empty()));
}

TEST_CASE("credentials_provider: keys of one's own are used by its interface") {
    const own_credentials own;
    const credentials_provider& used = own;
    CHECK((used.keys(noon)->id == "number 0"));
    used.renew();
    CHECK((used.keys(noon)->id == "number 1"));
}

TEST_CASE("anonymous_credentials: give no keys") {
    const anonymous_credentials credentials;
    CHECK_FALSE(credentials.keys(noon).has_value());
    credentials.renew();
    CHECK_FALSE(credentials.keys(noon).has_value());
}

TEST_CASE(
    "static_credentials: keys that can never be right are a value_error that says what is wrong, not what it is") {
    const auto message = [](s3::access_keys keys) {
        return what_of<value_error>([&] { const static_credentials made{std::move(keys)}; });
    };
    const std::string no_secret = message({.id = fake_id});
    CHECK(no_secret.find("lack the secret access key") != std::string::npos);
    const std::string no_id = message({.secret = fake_secret});
    CHECK(no_id.find("lack the access key id") != std::string::npos);
    const std::string broken_secret = message({.id = fake_id, .secret = std::string{fake_secret} + "\n"});
    CHECK(broken_secret.find("secret access key in the given credentials contains a line break") != std::string::npos);
    const std::string broken_token =
        message({.id = fake_id, .secret = fake_secret, .token = std::string{fake_token} + "\r\nx-evil: 1"});
    CHECK(broken_token.find("session token") != std::string::npos);
    CHECK(broken_token.find("x-evil") == std::string::npos);
    const std::string nul = message({.id = std::string{fake_id} + '\0', .secret = fake_secret});
    CHECK(nul.find("access key id") != std::string::npos);
    for (const std::string& said : {no_secret, no_id, broken_secret, broken_token, nul}) {
        CAPTURE(said);
        CHECK_FALSE(tells_secrets(said));
    }
    CHECK(message({.id = "user:name", .secret = "with blank, \xC3\xA4"}).empty());
}
