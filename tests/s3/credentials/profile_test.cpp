#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

// A home folder with files, and an environment that names it.
struct home {
    temporary_folder folder;

    home& credentials(const std::string& text) {
        folder.write(".aws/credentials", text);
        return *this;
    }
    home& config(const std::string& text) {
        folder.write(".aws/config", text);
        return *this;
    }
    [[nodiscard]] s3::detail::profile read(variables more = {}) const {
        more.emplace("HOME", folder.path());
        return s3::detail::profile::read(environment_of(std::move(more)));
    }
};

std::string keys_text(const std::string& id, const std::string& secret) {
    return "aws_access_key_id = " + id + "\naws_secret_access_key = " + secret + "\n";
}

}  // namespace

TEST_CASE("profile: the default one, when nothing else is named; there need not be any file") {
    home at;
    CHECK(at.read().name() == "default");
    CHECK_FALSE(at.read().keys().has_value());
    at.credentials("[default]\n" + keys_text("i", "s"));
    CHECK((at.read().keys() == s3::access_keys{.id = "i", .secret = "s"}));
    CHECK((at.read({{"AWS_PROFILE", "default"}}).keys()->id == "i"));
}

TEST_CASE("profile: named by AWS_PROFILE, then by AWS_DEFAULT_PROFILE") {
    home at;
    at.credentials("[a]\n" + keys_text("a", "s") + "[b b]\n" + keys_text("b", "s"));
    CHECK((at.read({{"AWS_PROFILE", "a"}, {"AWS_DEFAULT_PROFILE", "b b"}}).keys()->id == "a"));
    CHECK((at.read({{"AWS_PROFILE", ""}, {"AWS_DEFAULT_PROFILE", "b b"}}).keys()->id == "b"));
}

TEST_CASE("profile: [profile x] in config, [x] in credentials") {
    home at;
    at.credentials("[x]\n" + keys_text("i", "s") + "aws_session_token = t\n[profile y]\n" + keys_text("no", "no"));
    at.config("[profile x]\nregion = r\n[y]\nregion = no\n[default]\nregion = d\n");
    const auto x = at.read({{"AWS_PROFILE", "x"}});
    CHECK((x.keys() == s3::access_keys{.id = "i", .secret = "s", .token = "t"}));
    CHECK(x.value("region") == "r");
    CHECK(what_of<value_error>([&] { static_cast<void>(at.read({{"AWS_PROFILE", "y"}})); }) != "");
    CHECK(at.read().value("region") == "d");
    at.config("[default]\nregion = d\n[profile default]\nregion = e\n");
    CHECK(at.read().value("region") == "e");
}

TEST_CASE("profile: the credentials file comes first, and keys come whole from one file") {
    home at;
    at.credentials("[default]\n" + keys_text("i", "s") + "region = r1\n");
    at.config("[default]\n" + keys_text("j", "z") + "aws_session_token = t\nregion = r2\noutput = json\n");
    CHECK((at.read().keys() == s3::access_keys{.id = "i", .secret = "s"}));
    CHECK(at.read().value("region") == "r1");
    CHECK(at.read().value("output") == "json");
    at.credentials("[default]\naws_access_key_id =\n");
    CHECK((at.read().keys() == s3::access_keys{.id = "j", .secret = "z", .token = "t"}));
}

TEST_CASE("profile: the files can lie elsewhere") {
    const temporary_folder folder;
    folder.write("c", "[default]\n" + keys_text("i", "s"));
    folder.write("home/d", "[default]\nregion = r\n");
    const auto found = s3::detail::profile::read(environment_of({{"AWS_SHARED_CREDENTIALS_FILE", folder.path() + "/c"},
                                                                 {"AWS_CONFIG_FILE", "~/d"},
                                                                 {"HOME", folder.path() + "/home"}}));
    CHECK((found.keys()->id == "i"));
    CHECK(found.value("region") == "r");
    const auto no_home =
        s3::detail::profile::read(environment_of({{"AWS_SHARED_CREDENTIALS_FILE", folder.path() + "/c"}}));
    CHECK((no_home.keys()->id == "i"));
    CHECK_FALSE(s3::detail::profile::read(environment_of({})).keys().has_value());
}

TEST_CASE("profile: one that is named and not there is a value_error that says where it was looked") {
    home at;
    at.config("[profile x]\nregion = r\n");
    const std::string said = what_of<value_error>([&] { static_cast<void>(at.read({{"AWS_PROFILE", "z"}})); });
    CHECK(said.find("AWS_PROFILE names a profile that is not there: profile \"z\" in " + at.folder.path() +
                    "/.aws/credentials (no such file) and " + at.folder.path() + "/.aws/config (no such profile)") !=
          std::string::npos);
    const std::string other = what_of<value_error>([&] { static_cast<void>(at.read({{"AWS_DEFAULT_PROFILE", "z"}})); });
    CHECK(other.find("AWS_DEFAULT_PROFILE names") != std::string::npos);
}

TEST_CASE("profile: half of the keys, and keys over several lines, are a value_error without what they are") {
    home at;
    at.credentials("[default]\n\naws_access_key_id = " + std::string{fake_id} + "\n");
    const std::string half = what_of<value_error>([&] { static_cast<void>(at.read().keys()); });
    CHECK(half.find("lack the secret access key") != std::string::npos);
    CHECK(half.find("/.aws/credentials, line 3") != std::string::npos);
    CHECK_FALSE(tells_secrets(half));

    at.credentials("[default]\n" + keys_text(fake_id, fake_secret) + "aws_session_token = " + fake_token +
                   "\n  more\n");
    const std::string cut = what_of<value_error>([&] { static_cast<void>(at.read().keys()); });
    CHECK(cut.find("line 4: aws_session_token continues on indented lines") != std::string::npos);
    CHECK_FALSE(tells_secrets(cut));
}

TEST_CASE("profile: the endpoint of a services section") {
    home at;
    at.config(
        "[default]\nservices = mine\nendpoint_url = http://all\n"
        "[services mine]\ns3 =\n  endpoint_url = http://s3\nec2 =\n  endpoint_url = http://ec2\n"
        "[profile x]\nservices = others\n[services others]\nec2 =\n  endpoint_url = http://ec2\n"
        "[profile y]\nservices = missing\n");
    CHECK(at.read().s3_endpoint() == "http://s3");
    CHECK_FALSE(at.read({{"AWS_PROFILE", "x"}}).s3_endpoint().has_value());
    const std::string said = what_of<value_error>([&] {
        static_cast<void>(at.read({{"AWS_PROFILE", "y"}}).s3_endpoint());
    });
    CHECK(said.find("there is no section [services missing]") != std::string::npos);
}

TEST_CASE("profile: describes where it looked") {
    home at;
    const std::string aws = at.folder.path() + "/.aws/";
    CHECK(at.read().described() ==
          "profile \"default\" in " + aws + "credentials (no such file) and " + aws + "config (no such file)");
    at.config("[default]\nregion = r\n");
    CHECK(at.read().described() ==
          "profile \"default\" in " + aws + "credentials (no such file) and " + aws + "config (no keys there)");
    CHECK(s3::detail::profile::read(environment_of({})).described().find("HOME is not set") != std::string::npos);
}
