#include <smdebug/http/curl_transfer.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("origin_of: the server is scheme, host and port, whatever follows") {
    for (const char* rest : {"", "/", "/a/b?c=d#e", "?list-type=2", "#x", "/at@colon:x"}) {
        const std::string url = "https://bucket.s3.amazonaws.com:8443" + std::string{rest};
        const auto found = http::detail::origin_of(url);
        REQUIRE(found.has_value());
        CHECK(found->server == "https://bucket.s3.amazonaws.com:8443");
        CHECK(found->host == "bucket.s3.amazonaws.com");
        CHECK(found->scheme == "https");
    }
    const auto plain = http::detail::origin_of("http://10.0.0.1/");
    REQUIRE(plain.has_value());
    CHECK(plain->server == "http://10.0.0.1");
    CHECK(plain->host == "10.0.0.1");
    CHECK(plain->scheme == "http");
}

TEST_CASE("origin_of: an IPv6 address stands in brackets") {
    for (const char* url : {"http://[fe80::1]:80/x", "http://[fe80::1]/x"}) {
        const auto found = http::detail::origin_of(url);
        REQUIRE(found.has_value());
        CHECK(found->host == "[fe80::1]");
    }
    CHECK_FALSE(http::detail::origin_of("http://[fe80::1/x").has_value());
}

TEST_CASE("origin_of: nothing where no server is named, or a user is, or blanks are in it") {
    for (const char* url : {"", "http", "http:/", "http://", "https:///path", "http://:80/", "ftp://host/",
                            "HTTP://host/", "host/path", "//host", "http://user@host/", "http://user:word@host/",
                            "http://host/a b", "http://host/a\nb", "http://host/a\x7f", "file:///etc/passwd"}) {
        CAPTURE(url);
        CHECK_FALSE(http::detail::origin_of(url).has_value());
    }
    CHECK_FALSE(http::detail::origin_of(std::string_view{"http://host/a\0b", 15}).has_value());
    CHECK(http::detail::origin_of("http://host/\xC3\xA9").has_value());
}

TEST_CASE("is_near: this machine and addresses of the link, not what only looks like them") {
    for (const char* host : {"localhost", "bucket.localhost", "127.0.0.1", "127.1.2.3", "169.254.169.254",
                             "169.254.170.2", "[::1]", "[fe80::1]", "[fd00:ec2::254]"}) {
        CAPTURE(host);
        CHECK(http::detail::is_near(host));
    }
    for (const char* host : {"", "example.org", "localhost.example.org", "notlocalhost", "127.0.0.1.example.org",
                             "169.254.example.org", "10.0.0.1", "1.127.0.0", "[2001:db8::1]", "[fd00::1]"}) {
        CAPTURE(host);
        CHECK_FALSE(http::detail::is_near(host));
    }
}
