#include <smdebug/s3/credentials/profile.hpp>

#include <support/fake_aws.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("environment: the process's variables are read at each query") {
    constexpr const char* name = "SMDEBUG_TEST_OF_S3_ENVIRONMENT";
    ::unsetenv(name);
    CHECK_FALSE(s3::detail::process_environment(name));
    ::setenv(name, "some thing", 1);
    CHECK(s3::detail::process_environment(name) == "some thing");
    ::unsetenv(name);
}

TEST_CASE("environment: an empty variable counts as not set") {
    const auto environment = environment_of({{"EMPTY", ""}, {"FULL", " "}});
    CHECK_FALSE(s3::detail::variable(environment, "EMPTY"));
    CHECK_FALSE(s3::detail::variable(environment, "NONE"));
    CHECK(s3::detail::variable(environment, "FULL") == " ");
}

TEST_CASE("environment: a switch is on when it says true, in whatever letters, and off for all else") {
    const auto environment = environment_of({{"A", "true"}, {"B", "TRUE"}, {"C", "1"}, {"D", ""}, {"E", "false"}});
    CHECK(s3::detail::switched_on(environment, "A"));
    CHECK(s3::detail::switched_on(environment, "B"));
    for (const char* off : {"C", "D", "E", "F"}) {
        CAPTURE(off);
        CHECK_FALSE(s3::detail::switched_on(environment, off));
    }
}

TEST_CASE("environment: '~/' is the home folder, where there is one") {
    const auto environment = environment_of({{"HOME", "/home/some"}});
    CHECK(s3::detail::from_home(environment, "~/.aws/config") == "/home/some/.aws/config");
    CHECK(s3::detail::from_home(environment, "/etc/~/config") == "/etc/~/config");
    CHECK(s3::detail::from_home(environment, "~other/config") == "~other/config");
    CHECK(s3::detail::from_home(environment_of({}), "~/.aws/config") == "~/.aws/config");
}
