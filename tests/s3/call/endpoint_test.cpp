#include <smdebug/s3/call/endpoint.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using s3::addressing;

static_assert(s3::detail::is_region("us-east-1") && s3::detail::is_region("eu-central-1") &&
              s3::detail::is_region("default"));
static_assert(!s3::detail::is_region("") && !s3::detail::is_region("us_east_1") && !s3::detail::is_region("US-EAST-1"));
static_assert(!s3::detail::is_region("us-east-1.evil.test") && !s3::detail::is_region("a/b") &&
              !s3::detail::is_region("a@b"));

TEST_CASE("endpoint: a region's name has its length, too") {
    CHECK(s3::detail::is_region(std::string(64, 'a')));
    CHECK_FALSE(s3::detail::is_region(std::string(65, 'a')));
}

TEST_CASE("endpoint: Amazon's host for a region, in China another one") {
    CHECK(s3::detail::amazon_host("us-east-1") == "s3.us-east-1.amazonaws.com");
    CHECK(s3::detail::amazon_host("eu-west-3") == "s3.eu-west-3.amazonaws.com");
    CHECK(s3::detail::amazon_host("cn-north-1") == "s3.cn-north-1.amazonaws.com.cn");
}

TEST_CASE("endpoint: an address is a scheme and a host; slashes at its end do not count") {
    CHECK(s3::detail::checked_endpoint("http://localhost") == "http://localhost");
    CHECK(s3::detail::checked_endpoint("http://localhost:8080/") == "http://localhost:8080");
    CHECK(s3::detail::checked_endpoint("https://s3.example.org//") == "https://s3.example.org");
    CHECK(s3::detail::checked_endpoint("http://[::1]:9000") == "http://[::1]:9000");
    for (const std::string_view wrong :
         {"", "/", "localhost:8080", "http://", "http:///", "https://", "ftp://host", "HTTP://host", "//host",
          "http://host/path", "http://host?x=1", "http://host/#x", "http://host\n", "http://a b", " http://host",
          "https://user:hunter2@host", "https:////"}) {
        CAPTURE(wrong);
        const value_error thrown =
            smdebug_test::caught<value_error>([&] { return s3::detail::checked_endpoint(wrong); });
        // It may contain a password.
        CHECK(std::string_view{thrown.what()}.find("hunter2") == std::string_view::npos);
        CHECK(std::string_view{thrown.what()}.find("AWS_ENDPOINT_URL") != std::string_view::npos);
    }
}

TEST_CASE("endpoint: the bucket stands in the host or in the path") {
    struct row {
        std::optional<std::string> endpoint;
        std::string_view bucket;
        addressing how;
        std::string_view url;
    };
    const std::optional<std::string> own = "http://localhost:8080";
    for (const auto& [endpoint, bucket, how, url] : {
             row{{}, "runs", addressing::automatic, "https://runs.s3.eu-west-1.amazonaws.com/"},
             {{}, "runs", addressing::virtual_host, "https://runs.s3.eu-west-1.amazonaws.com/"},
             {{}, "runs", addressing::path, "https://s3.eu-west-1.amazonaws.com/runs/"},
             // No certificate is valid for a name with further dots.
             {{}, "my.runs", addressing::automatic, "https://s3.eu-west-1.amazonaws.com/my.runs/"},
             {{}, "my.runs", addressing::virtual_host, "https://my.runs.s3.eu-west-1.amazonaws.com/"},
             {own, "runs", addressing::automatic, "http://localhost:8080/runs/"},
             {own, "runs", addressing::path, "http://localhost:8080/runs/"},
             {own, "runs", addressing::virtual_host, "http://runs.localhost:8080/"},
         }) {
        CAPTURE(url);
        CHECK(s3::detail::bucket_url(endpoint, "eu-west-1", bucket, how) == url);
    }
}
