#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <support/child_process.hpp>
#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

#include <sys/stat.h>
#include <unistd.h>

using namespace smdebug;
using namespace smdebug_test;

namespace {

using s3::detail::find_below;

std::optional<std::string> value_in(const s3::detail::profile_property& file, std::string_view section,
                                    std::string_view name) {
    const s3::detail::profile_property* property = find_below(find_below(&file, section), name);
    return property == nullptr ? std::nullopt : std::optional{property->value};
}

s3::detail::profile_property parse(std::string_view text) { return s3::detail::parse_profile_file(text, "/etc/aws"); }

}  // namespace

TEST_CASE("profile_file: sections and properties, with blanks, comments and empty lines between") {
    const auto file = parse(
        "# a comment\n"
        "; another\n"
        "\n"
        "[default]\n"
        "aws_access_key_id=one\n"
        "  \t\n"
        "Region =\teu-central-1  \n"
        "[profile  x ]   # with a comment\n"
        "region = us-east-1 # here\n"
        "output: json ; there\n"
        "[profile \"two words\"]\n"
        "secret = a#b;c == d\n"
        "[services y]\n"
        "[sso-session 'z']\n"
        "[profiled]\n"
        "k = v");
    CHECK(value_in(file, "default", "aws_access_key_id") == "one");
    CHECK(value_in(file, "default", "region") == "eu-central-1");
    CHECK(value_in(file, "profile x", "region") == "us-east-1");
    CHECK(value_in(file, "profile x", "output") == "json");
    CHECK(value_in(file, "profile two words", "secret") == "a#b;c == d");
    CHECK(value_in(file, "profiled", "k") == "v");
    CHECK(find_below(&file, "services y") != nullptr);
    CHECK(find_below(&file, "sso-session z") != nullptr);
    CHECK(find_below(&file, "x") == nullptr);
    CHECK_FALSE(value_in(file, "default", "output").has_value());
    CHECK(find_below(find_below(&file, "profile x"), "region")->where == "/etc/aws, line 9");
}

TEST_CASE("profile_file: line ends of Windows, a byte order mark, no last line end, nothing at all") {
    const auto file = parse("\xEF\xBB\xBF[default]\r\nregion = a\r\n\r\n[x]\r\nregion=b");
    CHECK(value_in(file, "default", "region") == "a");
    CHECK(value_in(file, "x", "region") == "b");
    CHECK(parse("").below.empty());
    CHECK(parse("\xEF\xBB\xBF").below.empty());
    CHECK(parse("\n\n\n").below.empty());
}

TEST_CASE("profile_file: a section that stands twice is one, and the last of two properties counts") {
    const auto file = parse("[a]\nk = 1\nl = 2\n[b]\nk = 9\n[a]\nk = 3\nK = 4\n");
    CHECK(value_in(file, "a", "k") == "4");
    CHECK(value_in(file, "a", "l") == "2");
    CHECK(value_in(file, "b", "k") == "9");
}

TEST_CASE("profile_file: an indented block below a name without a value is a block of its own") {
    const auto file = parse(
        "[services y]\n"
        "s3 =\n"
        "  endpoint_url = http://localhost:9000\n"
        "  # a comment\n"
        "  Addressing = path\n"
        "dynamodb = \n"
        "\tendpoint_url=http://localhost:9001\n"
        "[profile x]\n"
        "region = r\n");
    const auto* const services = find_below(&file, "services y");
    const s3::detail::profile_property* s3 = find_below(services, "s3");
    REQUIRE(s3 != nullptr);
    CHECK(s3->value.empty());
    REQUIRE(s3->below.size() == 2);
    CHECK(find_below(s3, "endpoint_url")->value == "http://localhost:9000");
    CHECK(find_below(s3, "addressing")->value == "path");
    CHECK(find_below(services, "endpoint_url") == nullptr);
    CHECK(find_below(find_below(services, "dynamodb"), "endpoint_url")->value == "http://localhost:9001");
    CHECK(value_in(file, "profile x", "region") == "r");
}

TEST_CASE("profile_file: properties that are all indented are properties; a deeper one goes on with the one above") {
    const auto file = parse(
        "[default]\n"
        "   aws_access_key_id = a\n"
        "   aws_secret_access_key = b\n"
        " region = c\n"
        "command = one\n"
        "   two = three\n"
        "   four\n"
        "  [x]\n"
        "k = v\n");
    CHECK(value_in(file, "default", "aws_access_key_id") == "a");
    CHECK(value_in(file, "default", "aws_secret_access_key") == "b");
    CHECK(value_in(file, "default", "region") == "c");
    // As in all AWS tools: a line indented deeper than the one above is never a section.
    CHECK(value_in(file, "default", "command") == "one\ntwo = three\nfour\n[x]");
    CHECK(value_in(file, "default", "k") == "v");
    CHECK(find_below(&file, "x") == nullptr);
}

TEST_CASE("profile_file: what is malformed is a value_error that names file and line, and not what stands there") {
    const std::string secret = fake_secret;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"aws_secret_access_key = " + secret + "\n", "line 1 is before the first [section]"},
        {"[a]\n\nsecretwithoutname " + std::string{fake_token}.substr(0, 16) + "\n", "line 3 has no '='"},
        {"[a]\n = " + secret + "\n", "line 2 has no name"},
        {"[a\nk = " + secret + "\n", "line 1 is an incomplete [section]"},
        {"[a] aws_secret_access_key = " + secret + "\n", "line 1 is an incomplete [section]"},
        {"[]\n", "line 1 is a [section] without a name"},
        {"[ \"\" ]\n", "line 1 is a [section] without a name"},
        {"[a]\nk =\n  " + std::string{fake_id} + "\n", "line 3 has no '='"},
    };
    for (const auto& [text, expected] : cases) {
        CAPTURE(expected);
        const std::string said = what_of<value_error>([&, &content = text] { static_cast<void>(parse(content)); });
        CHECK(said.find("/etc/aws, " + expected) != std::string::npos);
        CHECK_FALSE(tells_secrets(said));
        CHECK(said.find("fakesession") == std::string::npos);
    }
    const value_error thrown = caught<value_error>([&] { return parse("[a]\nb\n"); });
    CHECK(thrown.where() == "/etc/aws, line 2");
}

TEST_CASE("profile_file: any bytes are a file or a value_error") {
    const std::string seed = "[a]\n k = v # c\n  l: \"w\"\n;\n[profile x]\ns3 =\n  e = f\r\nz = \xEF\xBB\xBF\xFF";
    int good = 0;
    int bad = 0;
    for (std::size_t at = 0; at < seed.size(); ++at) {
        for (const char with : {'\0', '\n', '[', ']', '=', ' ', '"', '\r', '\xFF'}) {
            for (const std::size_t skip : {std::size_t{0}, std::size_t{1}}) {
                const std::string text = seed.substr(0, at) + with + seed.substr(at + skip);
                try {
                    static_cast<void>(parse(text));
                    ++good;
                } catch (const value_error&) {
                    ++bad;
                }
            }
        }
    }
    CHECK(good > 100);
    CHECK(bad > 100);
}

TEST_CASE("profile_file: a missing file is none, one that cannot be read is a value_error") {
    const temporary_folder folder;
    folder.write("there", "[default]\nregion = r\n");
    const auto file = s3::detail::read_profile_file(folder.path() + "/there");
    REQUIRE(file);
    CHECK(value_in(*file, "default", "region") == "r");
    CHECK_FALSE(s3::detail::read_profile_file(folder.path() + "/missing").has_value());
    CHECK_FALSE(s3::detail::read_profile_file(folder.path() + "/there/below").has_value());
    CHECK_FALSE(s3::detail::read_profile_file("/dev/null").has_value());
    const auto message = [](const std::string& path) {
        return what_of<value_error>([&] { static_cast<void>(s3::detail::read_profile_file(path)); });
    };
    CHECK(message(folder.path()).find(folder.path() + " is not a regular file") != std::string::npos);
    folder.write("malformed", "[default\n");
    CHECK(message(folder.path() + "/malformed").find("malformed, line 1") != std::string::npos);
    const int status = smdebug_test::status_of_child([&] {
        smdebug_test::become_nobody();  // root may read everything
        const temporary_folder own;
        own.write("there", "[default]\n");
        if (::chmod((own.path() + "/there").c_str(), 0) != 0) {
            return 1;
        }
        return message(own.path() + "/there").find("cannot open") != std::string::npos ? 0 : 2;
    });
    CHECK(status == 0);
    REQUIRE(::truncate((folder.path() + "/malformed").c_str(), 17 << 20) == 0);
    CHECK(message(folder.path() + "/malformed").find("too large") != std::string::npos);
}
