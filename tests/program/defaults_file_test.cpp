#include <program/defaults_file.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"

#include <program/console.hpp>

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <optional>
#include <string>

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
