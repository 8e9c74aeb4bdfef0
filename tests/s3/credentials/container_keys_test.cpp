#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using s3::detail::keys_outcome;

namespace {

constexpr const char* relative_uri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
constexpr const char* full_uri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
constexpr const char* token = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
constexpr const char* token_file = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
constexpr s3::detail::metadata_limits quick{.pause = 0ms, .altogether = 1h};

}  // namespace

TEST_CASE("container_keys: where keys may be fetched from") {
    for (const char* url :
         {"https://anywhere.example/x", "HTTPS://10.0.0.1:444/x", "http://localhost", "http://LOCALHOST:80/x?y#z",
          "http://127.0.0.1/x", "http://127.255.0.9:1338/", "http://[::1]:80/x", "http://169.254.170.2/v2",
          "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1/credentials", "http://localhost:/x"}) {
        CAPTURE(url);
        CHECK(s3::detail::may_give_keys(url));
    }
    for (const char* url : {"http://anywhere.example/x",
                            "http://10.0.0.1/x",
                            "http://169.254.169.254/x",
                            "http://169.254.170.2.evil.example/",
                            "http://127.evil.example/",
                            "http://127.0.0.1.evil.example/",
                            "http://127.0.0/",
                            "http://127.0.0.256/",
                            "http://127.0.0.01/",
                            "http://0127.0.0.1/",
                            "http://128.0.0.1/",
                            "http://127.0.0.1.1/",
                            "http://2130706433/",
                            "http://localhost@evil.example/",
                            "https://user:word@evil.example/",
                            "http://localhost\\@evil.example/",
                            "http://evil.example#@localhost/",
                            "http://evil.example?localhost",
                            "http://[::2]/",
                            "http://[::1/",
                            "http://[::1]evil.example/",
                            "http://localhost:80evil/",
                            "ftp://localhost/",
                            "localhost",
                            "//localhost/",
                            "http://",
                            "http:///x",
                            "http://:80/",
                            "http://[]/",
                            "",
                            "http://local host/",
                            "http://localhost/\r\nx",
                            "http://localhost./x"}) {
        CAPTURE(url);
        CHECK_FALSE(s3::detail::may_give_keys(url));
    }
}

TEST_CASE("container_keys: the address, relative before full") {
    CHECK_FALSE(s3::detail::container_url(environment_of({})).has_value());
    CHECK(s3::detail::container_url(
              environment_of({{relative_uri, "/v2/credentials/7"}, {full_uri, "http://localhost/"}})) ==
          "http://169.254.170.2/v2/credentials/7");
    CHECK(s3::detail::container_url(environment_of({{relative_uri, ""}, {full_uri, "http://localhost:1338/x"}})) ==
          "http://localhost:1338/x");
    for (const char* path : {"v2", "@evil.example/", ".evil.example/", ":80@evil.example/", "/a b", "/a\r\nb"}) {
        CAPTURE(path);
        CHECK_THROWS_AS(static_cast<void>(s3::detail::container_url(environment_of({{relative_uri, path}}))),
                        value_error);
    }
    const std::string said = what_of<value_error>([] {
        static_cast<void>(s3::detail::container_url(
            environment_of({{full_uri, "http://user:" + std::string{fake_bearer} + "@evil.example/"}})));
    });
    CHECK(said.find(full_uri) != std::string::npos);
    CHECK_FALSE(tells_secrets(said));
}

TEST_CASE("container_keys: the token, from a file before the variable, as the file is now") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/token";
    folder.write("token", fake_bearer);
    const auto environment = environment_of({{token, "other"}, {token_file, path}});
    CHECK((s3::detail::container_token(environment) == fake_bearer));
    folder.write("token", "newer");
    CHECK((s3::detail::container_token(environment) == "newer"));
    CHECK((s3::detail::container_token(environment_of({{token, "other"}})) == "other"));
    CHECK_FALSE(s3::detail::container_token(environment_of({})).has_value());

    const auto message = [&](const s3::detail::environment_reader& from) {
        return what_of<value_error>([&] { static_cast<void>(s3::detail::container_token(from)); });
    };
    folder.write("token", std::string{fake_bearer} + "\nx-evil: 1");
    const std::string broken = message(environment);
    CHECK(broken.find(token_file) != std::string::npos);
    CHECK(broken.find("line break") != std::string::npos);
    CHECK_FALSE(tells_secrets(broken));
    CHECK_FALSE(tells_secrets(message(environment_of({{token, std::string{fake_bearer} + "\r"}}))));
    folder.write("token", std::string(65 * 1024, 'x'));
    CHECK(message(environment).find("too large") != std::string::npos);
    folder.remove("token");
    CHECK(message(environment).find(path) != std::string::npos);
}

TEST_CASE("container_keys: nothing set, nothing asked") {
    const scripted_server transport{always_answer(answer(200))};
    const auto got = s3::detail::keys_of_container(transport, environment_of({}), quick);
    CHECK(got.outcome == keys_outcome::nothing_there);
    CHECK(got.seen.find("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != std::string::npos);
    CHECK(transport.count() == 0);
}

TEST_CASE("container_keys: asks with the token, and reads the keys") {
    const scripted_server transport{always_answer(answer(200, {}, keys_json("2026-11-21T16:00:00Z")))};
    const auto got = s3::detail::keys_of_container(
        transport, environment_of({{full_uri, "http://127.0.0.1:1338/keys?x=1"}, {token, fake_bearer}}), quick);
    CHECK(got.outcome == keys_outcome::found);
    CHECK((got.keys->id == fake_id));
    REQUIRE(transport.count() == 1);
    const auto asked = transport.requests()[0];
    CHECK(asked.method == http::method::get);
    CHECK(asked.url == "http://127.0.0.1:1338/keys?x=1");
    CHECK((asked.header("authorization") == fake_bearer));
    CHECK(asked.connect_within == 1s);
    const auto without =
        s3::detail::keys_of_container(transport, environment_of({{relative_uri, "/v2/credentials/7"}}), quick);
    CHECK(without.outcome == keys_outcome::found);
    CHECK(transport.requests()[1].url == "http://169.254.170.2/v2/credentials/7");
    CHECK(transport.requests()[1].header("authorization").empty());
}

TEST_CASE("container_keys: temporary failures are retried, others are not, and no message contains a secret") {
    struct expected {
        http::response got;
        keys_outcome outcome;
        std::size_t tries;
    };
    for (const expected& is : {expected{answer(500, {}, fake_bearer), keys_outcome::failing, 3},
                               expected{answer(429), keys_outcome::failing, 3},
                               expected{answer(200, {}, fake_secret), keys_outcome::failing, 3},
                               expected{answer(403, {}, fake_bearer), keys_outcome::refused, 1},
                               expected{answer(404), keys_outcome::refused, 1},
                               expected{no_answer(http::outcome::unreachable), keys_outcome::failing, 3},
                               expected{no_answer(http::outcome::too_long), keys_outcome::failing, 3},
                               expected{no_answer(http::outcome::refused), keys_outcome::refused, 1}}) {
        const scripted_server transport{[&](const auto&, std::size_t) { return is.got; }};
        const auto got = s3::detail::keys_of_container(
            transport, environment_of({{full_uri, "http://localhost/" + std::string{fake_id}}, {token, fake_bearer}}),
            quick);
        CAPTURE(got.seen);
        CHECK(got.outcome == is.outcome);
        CHECK(transport.count() == is.tries);
        CHECK(got.seen.starts_with("the container's endpoint at localhost ("));
        CHECK_FALSE(tells_secrets(got.seen));
    }
    const scripted_server late{[](const auto&, std::size_t number) {
        return number < 2 ? answer(503) : answer(200, {}, keys_json("2026-11-21T16:00:00Z"));
    }};
    CHECK(s3::detail::keys_of_container(late, environment_of({{relative_uri, "/x"}}), quick).outcome ==
          keys_outcome::found);
}
