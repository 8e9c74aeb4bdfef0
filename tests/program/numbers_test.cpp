#include <program/numbers.hpp>

#include <program/console.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("whole_number: decimal digits, from the minimum up to the type's maximum") {
    CHECK(cli::detail::whole_number<step_number>("--step", "0", 0) == 0);
    CHECK(cli::detail::whole_number<step_number>("--step", "010", 0) == 10);
    CHECK(cli::detail::whole_number<std::uint8_t>("--n", "255", 1) == 255);
    for (const char* wrong : {"", " 1", "1 ", "+1", "-1", "1.0", "1e3", "0x10", "256", "x"}) {
        CHECK_THROWS_AS(static_cast<void>(cli::detail::whole_number<std::uint8_t>("--n", wrong, 0)),
                        cli::detail::usage_error);
    }
    const cli::detail::usage_error wrong =
        smdebug_test::caught<cli::detail::usage_error>([&] { return cli::detail::whole_number<int>("--n", "0", 1); });
    CHECK(std::string{wrong.what()} == "--n must be a whole number, 1 or more, not \"0\"");
}

TEST_CASE("parse_range: A:B without B, open ends, one step alone") {
    const step_range both = cli::detail::parse_range("3:7");
    CHECK(both.begin == 3);
    CHECK(both.end == 7);
    CHECK_FALSE(cli::detail::parse_range(":7").begin.has_value());
    CHECK_FALSE(cli::detail::parse_range("3:").end.has_value());
    CHECK_FALSE(cli::detail::parse_range(":").begin.has_value());
    CHECK(cli::detail::parse_range("4").contains(4));
    CHECK_FALSE(cli::detail::parse_range("4").contains(5));
    CHECK(cli::detail::parse_range("9223372036854775807").contains(std::numeric_limits<step_number>::max()));
    for (const char* wrong : {"", "a", "7:3", "3:3", "1:2:3", "-1:3", "1:-3"}) {
        CHECK_THROWS_AS(static_cast<void>(cli::detail::parse_range(wrong)), cli::detail::usage_error);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(cli::detail::parse_range("0-10")),
                         "--steps must be A:B, from step A up to, not including, B, or one step, not \"0-10\"",
                         cli::detail::usage_error);
}

TEST_CASE("parse_duration: a number and its unit, or seconds") {
    using namespace std::chrono_literals;
    const auto parsed = [](const char* text) { return cli::detail::parse_duration("--give-up-after", text); };
    CHECK(parsed("500ms") == 500ms);
    CHECK(parsed("90s") == 90s);
    CHECK(parsed("010") == 10s);
    CHECK(parsed("10m") == 10min);
    CHECK(parsed("2h") == 2h);
    CHECK(parsed("3d") == 72h);
    CHECK(parsed("9223372036854775807ms") == std::chrono::milliseconds::max());
    for (const char* wrong : {"", "0", "0s", "s", "-1s", "1.5h", "1 s", " 1s", "1S", "1min", "1h30m", "1e3",
                              "9223372036854775807", "9223372036854775808ms"}) {
        CHECK_THROWS_AS(static_cast<void>(parsed(wrong)), cli::detail::usage_error);
    }
    const cli::detail::usage_error wrong =
        smdebug_test::caught<cli::detail::usage_error>([&] { return parsed("soon"); });
    CHECK(std::string{wrong.what()} ==
          "--give-up-after must be a time such as 500ms, 90s, 10m or 2h, more than none, not \"soon\"");
}

TEST_CASE("real_number: decimal, 0 or more, and nothing after it") {
    CHECK(cli::detail::real_number("--rtol", "1e-5") == 1e-5);
    CHECK(cli::detail::real_number("--rtol", "0") == 0);
    CHECK(cli::detail::real_number("--rtol", "2.5") == 2.5);
    for (const char* wrong : {"", "x", "-1", "1e-5x", "nan", "inf", " 1", "1e999"}) {
        CHECK_THROWS_WITH_AS(
            static_cast<void>(cli::detail::real_number("--rtol", wrong)),
            ("--rtol must be a number, 0 or more, such as 1e-5, not \"" + std::string{wrong} + "\"").c_str(),
            cli::detail::usage_error);
    }
}

TEST_CASE("parse_size: whole bytes, or powers of 1024") {
    const auto parsed = [](std::string_view text) { return cli::detail::parse_size("--memory", text); };
    CHECK(parsed("1") == 1);
    CHECK(parsed("17B") == 17);
    CHECK(parsed("2k") == 2048);
    CHECK(parsed("500M") == std::uint64_t{500} << 20U);
    CHECK(parsed("2G") == std::uint64_t{2} << 30U);
    CHECK(parsed("2GB") == parsed("2GiB"));
    CHECK(parsed("3T") == std::uint64_t{3} << 40U);
    CHECK(parsed("18446744073709551615") == ~std::uint64_t{0});
    for (const char* wrong : {"", "0", "0G", "G", "-1", "1.5G", "1 G", "2g", "2GX", "2Gib", "18446744073709551616",
                              "18446744073709551615K", "1e9", "20000000T"}) {
        INFO(wrong);
        CHECK_THROWS_WITH_AS(
            static_cast<void>(parsed(wrong)),
            ("--memory must be a size such as 500M or 2G, more than none, not \"" + std::string{wrong} + "\"").c_str(),
            cli::detail::usage_error);
    }
}
