#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

const char* config =
    "[default]\nregion = r\nendpoint_url = http://all\nca_bundle = ~/ca.pem\n"
    "[profile x]\nregion = x\nservices = mine\nendpoint_url = http://all\n"
    "[services mine]\ns3 =\n  endpoint_url = http://s3\n"
    "[profile quiet]\nignore_configured_endpoint_urls = True\nendpoint_url = http://all\n";

s3::detail::aws_settings read(const temporary_folder& home, variables more = {}) {
    more.emplace("HOME", home.path());
    return s3::detail::read_aws_settings(environment_of(std::move(more)));
}

}  // namespace

TEST_CASE("aws_settings: nothing said, nothing read") {
    const temporary_folder home;
    const auto found = read(home);
    CHECK_FALSE(found.region.has_value());
    CHECK_FALSE(found.endpoint.has_value());
    CHECK_FALSE(found.ca_bundle.has_value());
    CHECK_FALSE(s3::detail::read_aws_settings(environment_of({})).region.has_value());
}

TEST_CASE("aws_settings: the profile") {
    const temporary_folder home;
    home.write(".aws/config", config);
    const auto found = read(home);
    CHECK(found.region == "r");
    CHECK(found.endpoint == "http://all");
    CHECK(found.ca_bundle == home.path() + "/ca.pem");
    const auto other = read(home, {{"AWS_PROFILE", "x"}});
    CHECK(other.region == "x");
    CHECK(other.endpoint == "http://s3");
    CHECK_FALSE(other.ca_bundle.has_value());
}

TEST_CASE("aws_settings: the environment comes first") {
    const temporary_folder home;
    home.write(".aws/config", config);
    CHECK(read(home, {{"AWS_REGION", "a"}, {"AWS_DEFAULT_REGION", "b"}}).region == "a");
    CHECK(read(home, {{"AWS_REGION", ""}, {"AWS_DEFAULT_REGION", "b"}}).region == "b");
    CHECK(read(home, {{"AWS_CA_BUNDLE", "/ca"}}).ca_bundle == "/ca");
    CHECK(read(home, {{"AWS_ENDPOINT_URL", "http://e"}, {"AWS_ENDPOINT_URL_S3", "http://f"}}).endpoint == "http://f");
    CHECK(read(home, {{"AWS_ENDPOINT_URL", "http://e"}, {"AWS_PROFILE", "x"}}).endpoint == "http://e");
}

TEST_CASE("aws_settings: configured endpoints can be ignored, by a variable or by the profile") {
    const temporary_folder home;
    home.write(".aws/config", config);
    const auto ignored = read(
        home, {{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "TRUE"}, {"AWS_ENDPOINT_URL_S3", "e"}, {"AWS_PROFILE", "x"}});
    CHECK_FALSE(ignored.endpoint.has_value());
    CHECK(ignored.region == "x");
    CHECK_FALSE(read(home, {{"AWS_PROFILE", "quiet"}, {"AWS_ENDPOINT_URL", "e"}}).endpoint.has_value());
    CHECK(read(home, {{"AWS_PROFILE", "quiet"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false"}}).endpoint ==
          "http://all");
}

TEST_CASE("aws_settings: a malformed file, and a profile that is not there, are a value_error") {
    const temporary_folder home;
    home.write(".aws/credentials", "[default]\n" + std::string{fake_secret} + "?\n" + fake_secret);
    CHECK(what_of<value_error>([&] { static_cast<void>(read(home, {{"AWS_PROFILE", "z"}})); }) != "");
    home.write(".aws/credentials", "[default]\nsecret without sign " + std::string{fake_id} + "\n");
    const std::string said = what_of<value_error>([&] { static_cast<void>(read(home)); });
    CHECK(said.find(home.path() + "/.aws/credentials, line 2") != std::string::npos);
    CHECK_FALSE(tells_secrets(said));
}
