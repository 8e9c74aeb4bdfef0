#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string both =
    "aws_access_key_id = " + std::string{fake_id} + "\naws_secret_access_key = " + fake_secret + "\n";

s3::detail::keys_answer of_profile(const temporary_folder& home, variables more = {}) {
    more.emplace("HOME", home.path());
    return s3::detail::keys_of_profile(environment_of(std::move(more)));
}

}  // namespace

TEST_CASE("keys_of_environment: all three variables, the token need not be there") {
    const variables set{{"AWS_ACCESS_KEY_ID", fake_id}, {"AWS_SECRET_ACCESS_KEY", fake_secret}};
    const auto found = s3::detail::keys_of_environment(environment_of(set));
    CHECK(found.outcome == s3::detail::keys_outcome::found);
    CHECK((found.keys == s3::access_keys{.id = fake_id, .secret = fake_secret}));
    CHECK_FALSE(tells_secrets(found.seen));
    variables more = set;
    more["AWS_SESSION_TOKEN"] = fake_token;
    CHECK((s3::detail::keys_of_environment(environment_of(more)).keys->token == fake_token));
    more["AWS_SESSION_TOKEN"] = "";
    CHECK((s3::detail::keys_of_environment(environment_of(more)).keys->token.empty()));
}

TEST_CASE("keys_of_environment: without an id there is nothing there, with an id alone it is a value_error") {
    for (const variables& set :
         {variables{}, variables{{"AWS_ACCESS_KEY_ID", ""}}, variables{{"AWS_SECRET_ACCESS_KEY", fake_secret}}}) {
        const auto found = s3::detail::keys_of_environment(environment_of(set));
        CHECK(found.outcome == s3::detail::keys_outcome::nothing_there);
        CHECK(found.seen == "the environment (AWS_ACCESS_KEY_ID is not set)");
    }
    const auto message = [](const variables& set) {
        return what_of<value_error>([&] { static_cast<void>(s3::detail::keys_of_environment(environment_of(set))); });
    };
    const std::string half = message({{"AWS_ACCESS_KEY_ID", fake_id}});
    CHECK(half.find("AWS_SECRET_ACCESS_KEY") != std::string::npos);
    CHECK_FALSE(tells_secrets(half));
    const std::string broken =
        message({{"AWS_ACCESS_KEY_ID", fake_id}, {"AWS_SECRET_ACCESS_KEY", std::string{fake_secret} + "\n"}});
    CHECK(broken.find("line break") != std::string::npos);
    CHECK_FALSE(tells_secrets(broken));
}

TEST_CASE("keys_of_profile: found, or nothing there") {
    const temporary_folder home;
    CHECK(of_profile(home).outcome == s3::detail::keys_outcome::nothing_there);
    CHECK(of_profile(home).seen.find("/.aws/credentials (no such file)") != std::string::npos);
    home.write(".aws/credentials", "[default]\n" + both);
    const auto found = of_profile(home);
    CHECK(found.outcome == s3::detail::keys_outcome::found);
    CHECK((found.keys == s3::access_keys{.id = fake_id, .secret = fake_secret}));
    CHECK(found.seen == "profile \"default\"");
}

TEST_CASE("keys_of_profile: keys from another service or program are unsupported") {
    const temporary_folder home;
    for (const char* property : {"role_arn", "credential_process", "sso_session", "sso_start_url", "sso_account_id",
                                 "login_session", "web_identity_token_file"}) {
        CAPTURE(property);
        home.write(".aws/config", "[profile x]\nregion = r\n" + std::string{property} + " = some" + fake_bearer + "\n");
        const std::string said = what_of<unsupported>([&] {
            static_cast<void>(of_profile(home, {{"AWS_PROFILE", "x"}}));
        });
        CHECK(said.find("Profile \"x\" (" + home.path() + "/.aws/config, line 3) gets its keys by way of " +
                        property) != std::string::npos);
        CHECK(said.find("aws configure export-credentials --profile x --format env") != std::string::npos);
        CHECK_FALSE(tells_secrets(said));
    }
}

TEST_CASE("keys_of_profile: keys beside a role are not used; beside other ways they are") {
    const temporary_folder home;
    home.write(".aws/config", "[default]\nrole_arn = r\nsource_profile = default\n" + both);
    CHECK_THROWS_AS(static_cast<void>(of_profile(home)), unsupported);
    home.write(".aws/config", "[default]\ncredential_process = p\nsource_profile = other\n" + both);
    CHECK(of_profile(home).outcome == s3::detail::keys_outcome::found);
}

TEST_CASE("keys_of_profile: a source_profile without a role is a value_error") {
    const temporary_folder home;
    home.write(".aws/config", "[profile x]\nsource_profile = y\n[profile y]\n" + both);
    const std::string said = what_of<value_error>([&] { static_cast<void>(of_profile(home, {{"AWS_PROFILE", "x"}})); });
    CHECK(said.find("config, line 2) has source_profile, but no role_arn") != std::string::npos);
    CHECK_FALSE(tells_secrets(said));
}

TEST_CASE("keys_of_profile: a web identity in the environment is unsupported, unless there are keys") {
    const temporary_folder home;
    const variables web{{"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}, {"AWS_ROLE_ARN", "arn"}};
    const std::string said = what_of<unsupported>([&] { static_cast<void>(of_profile(home, web)); });
    CHECK(said.find("AWS_WEB_IDENTITY_TOKEN_FILE") != std::string::npos);
    home.write(".aws/credentials", "[default]\n" + both);
    CHECK(of_profile(home, web).outcome == s3::detail::keys_outcome::found);
}
