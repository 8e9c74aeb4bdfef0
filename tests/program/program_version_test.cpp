#include <program/program_version.hpp>

#include "program/captured.hpp"

#include <program/command_options.hpp>

#include "support/test.hpp"

#include <regex>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("program_version: the release, then each component with the versions of what is in it") {
    const auto lines = lines_of(cli::detail::program_version());
    REQUIRE(lines.size() >= 8);
    CHECK(lines[0] == cli::detail::version_text());
    const std::string number = "[0-9]+\\.[0-9]+[.0-9a-z]*";
    for (const std::string& pattern :
         {"built by  (g\\+\\+|clang) " + number + ".*, (compiled form|header-only)",
          "smdebug   xtensor " + number + ", xsimd " + number + ", simdjson " + number + ", PCRE2 " + number,
          "s3        libcurl " + number + ".*, OpenSSL " + number + ", pugixml " + number,
          "archive   zlib " + number + ".*, libzstd " + number, "batch     SQLite " + number,
          std::string{"kernels   [a-z0-9]+"}, "cli       CLI11 " + number}) {
        const auto count = std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return std::regex_match(line, std::regex{pattern});
        });
        CHECK_MESSAGE(count == 1, pattern << " in\n" << cli::detail::program_version());
    }
}
