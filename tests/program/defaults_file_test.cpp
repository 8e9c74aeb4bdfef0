#include <program/defaults_file.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/console.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("defaults_file: where SMDEBUG_CONFIG says, else in the folder for such files") {
    const temporary_folder folder;
    folder.write("own.toml", "");
    folder.write("xdg/smdebug/config.toml", "");
    folder.write("home/.config/smdebug/config.toml", "");
    const environment_variable home{"HOME", folder.path() + "/home"};
    const environment_variable xdg{"XDG_CONFIG_HOME", std::nullopt};
    {
        const environment_variable named{"SMDEBUG_CONFIG", folder.path() + "/own.toml"};
        CHECK(cli::defaults_file() == folder.path() + "/own.toml");
    }
    {
        const environment_variable none{"SMDEBUG_CONFIG", ""};
        CHECK(cli::defaults_file().empty());
    }
    {
        const environment_variable wrong{"SMDEBUG_CONFIG", folder.path()};
        CHECK_THROWS_AS(static_cast<void>(cli::defaults_file()), cli::detail::usage_error);
    }
    {
        const environment_variable null{"SMDEBUG_CONFIG", "/dev/null"};
        CHECK(cli::defaults_file() == "/dev/null");
    }
    {
        const std::string path = folder.path() + "/socket";  // which even root cannot read
        ::sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
        REQUIRE(path.size() < sizeof(name.sun_path));
        path.copy(name.sun_path, path.size());
        const int handle = ::socket(AF_UNIX, SOCK_STREAM, 0);
        REQUIRE(::bind(handle, reinterpret_cast<const ::sockaddr*>(&name), sizeof(name)) == 0);
        ::close(handle);
        const environment_variable closed{"SMDEBUG_CONFIG", path};
        CHECK_THROWS_WITH_AS(static_cast<void>(cli::defaults_file()), doctest::Contains("cannot be read"),
                             cli::detail::usage_error);
    }
    {
        const std::string path = folder.path() + "/pipe";  // which would not end
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        for (const std::string& each : {path, std::string{"/dev/zero"}}) {
            const environment_variable other{"SMDEBUG_CONFIG", each};
            CHECK_THROWS_WITH_AS(static_cast<void>(cli::defaults_file()), doctest::Contains("is a device, a pipe"),
                                 cli::detail::usage_error);
        }
        CHECK_NOTHROW(cli::refuse_device_of_defaults("/dev/null"));
        CHECK_NOTHROW(cli::refuse_device_of_defaults(folder.path() + "/none"));
    }
    const environment_variable unset{"SMDEBUG_CONFIG", std::nullopt};
    CHECK(cli::defaults_file() == folder.path() + "/home/.config/smdebug/config.toml");
    {
        const environment_variable other{"XDG_CONFIG_HOME", folder.path() + "/xdg"};
        CHECK(cli::defaults_file() == folder.path() + "/xdg/smdebug/config.toml");
    }
    const environment_variable nowhere{"XDG_CONFIG_HOME", folder.path() + "/empty"};
    CHECK(cli::defaults_file().empty());
}

namespace {

std::vector<cli::detail::default_line> lines(std::string_view text) {
    return cli::detail::defaults_text{text, "a.toml"}.lines();
}

std::string refusal(std::string_view text) {
    return what_of<cli::detail::usage_error>([&] { return lines(text); });
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("defaults_text: sections, comments, and values in each way of writing") {
    const auto found = lines(
        "# first\n\n"
        "endpoint-url = \"http://localhost:9000\"  # behind a value\n"
        "scan.threads=4\r\n"
        "[ stats ]  # behind a section\n"
        "\ttensors = \"a#b\\\\.\\\"c\\\"\"\n"
        "  step-regex = 'x\\.(\\d+)'\n"
        "skip-damaged = true\n"
        "[scan]\n"
        "rule = ['a,b=1', \"c\",  # one\n"
        "        d,\n"
        "]\n"
        "none = []");
    REQUIRE(found.size() == 7);
    CHECK(found[0].command.empty());
    CHECK(found[0].option == "endpoint-url");
    CHECK(found[0].values == texts{"http://localhost:9000"});
    CHECK(found[0].number == 3);
    CHECK(found[1].command == "scan");
    CHECK(found[1].option == "threads");
    CHECK(found[1].values == texts{"4"});
    CHECK(found[2].command == "stats");
    CHECK(found[2].values == texts{"a#b\\.\"c\""});
    CHECK(found[3].values == texts{"x\\.(\\d+)"});
    CHECK(found[4].values == texts{"true"});
    CHECK(found[5].command == "scan");
    CHECK(found[5].values == texts{"a,b=1", "c", "d"});
    CHECK(found[5].number == 10);
    CHECK(found[6].values.empty());
    CHECK(found[6].number == 13);
    CHECK(lines("").empty());
    CHECK(lines(" \n# nothing").empty());
}

TEST_CASE("defaults_text: an invalid line is reported with its number") {
    const auto tells = [](std::string_view text, const std::string& what) {
        CAPTURE(text);
        CHECK(refusal(text).find("a.toml, line " + what) != std::string::npos);
    };
    tells("\nformat \"csv\"\n", "2: \"format \"csv\"\" is no line");
    tells("format\n", "1: \"format\" is no line");
    tells("= 4", "1: \"= 4\" is no line");
    tells("a.b.c = 4", "1: \"a.b.c = 4\" is no line");
    tells("[scan\nthreads = 4\n", "1: a section");
    tells("[scan] threads = 4\n", "1: \"threads = 4\" is too much");
    tells("[[scan]]\n", "1: a section");
    tells("threads = 4 5\n", "1: \"5\" is too much");
    tells("threads =\nformat = 'csv'\n", "1: a value is missing");
    tells("format = \"csv\nx", "1: a text has no end");
    tells("format = 'csv", "1: a text has no end");
    tells("format = \"c\\qv\"", "1: behind \\");
    tells("rule = [\"a\"\n\"b\"]", "2: between values");
    tells("rule = [\"a\",", "1: a value is missing");
    tells("[ls]\nformat = 1\n[ls]\nformat = 2\n", "4: format has a default already, in line 2");
}
