#include <smdebug/s3/call/endpoint.hpp>

#include "support/test.hpp"

using namespace smdebug;
using s3::detail::server_named_by;
using s3::detail::standing;

namespace {

/// The relation of one URL's server to the other's, for the bucket "bucket".
standing between(std::string_view home, std::string_view other, std::string_view bucket = "bucket") {
    const auto from = server_named_by(home);
    const auto to = server_named_by(other);
    REQUIRE(from.has_value());
    return to ? s3::detail::standing_of(*to, *from, bucket) : standing::stranger;
}

const std::string of_amazon = "https://s3.us-east-1.amazonaws.com";

}  // namespace

TEST_CASE("same_service: the server that a URL names, in one form") {
    for (const auto& [url, text] : std::vector<std::pair<const char*, const char*>>{
             {"https://b.s3-eu-west-1.amazonaws.com/key?x=1", "https://b.s3-eu-west-1.amazonaws.com"},
             {"http://localhost:81", "http://localhost:81"},
             {"http://localhost:81?x", "http://localhost:81"},
             {"https://h#x", "https://h"},
             {"HTTPS://S3.Example.ORG./key", "https://s3.example.org"},
             {"https://h:443/", "https://h"},
             {"https://h:/", "https://h"},
             {"http://h:080/", "http://h"},
             {"http://h:443/", "http://h:443"},
             {"http://[::1]:9000/key", "http://[::1]:9000"},
             {"https://[FD00::A]/", "https://[fd00::a]"},
             {"https://evil.test?.s3.example.org/", "https://evil.test"},
             {"https://user:word@evil.test/", "https://evil.test"},
             {"https://s3.example.org@evil.test:81/", "https://evil.test:81"}}) {
        CAPTURE(url);
        const auto found = server_named_by(url);
        REQUIRE(found.has_value());
        CHECK(found->text() == text);
        CHECK(found->has_user == (std::string_view{url}.find('@') != std::string_view::npos));
    }
}

TEST_CASE("same_service: what names no server, or could be read as another one") {
    for (const char* url : {"",
                            "/key",
                            "key",
                            "http",
                            "https:",
                            "http:/h",
                            "ftp://h/",
                            "https://",
                            "https:///key",
                            "//h/key",
                            "https://.",
                            "https://..",
                            "https://.h",
                            "https://a..b",
                            "https://h%2eevil.test/",
                            "https://h\\.evil.test/",
                            "https://h evil",
                            "https://h\t/",
                            "https://h\n",
                            "https://h:0/",
                            "https://h:65536/",
                            "https://h:8a/",
                            "https://h:-1/",
                            "https://h:1:2/",
                            "https://[::1/",
                            "https://[]/",
                            "https://::1/",
                            "https://[::1]x/",
                            "https://[fe80::1%25eth0]/",
                            "https://b\xC3\xA4.test/",
                            "https://h;x/",
                            "https://h,x/"}) {
        CAPTURE(url);
        CHECK_FALSE(server_named_by(url).has_value());
    }
    CHECK_FALSE(server_named_by(std::string_view{"https://h\0.test", 15}).has_value());
}

TEST_CASE("same_service: a server of one's own is itself, and what is below its name") {
    const std::string home = "https://s3.example.org";
    CHECK(between(home, "https://s3.example.org/bucket/key") == standing::server);
    CHECK(between(home, "https://S3.EXAMPLE.ORG.:443/") == standing::server);
    CHECK(between(home, "https://eu.s3.example.org/") == standing::server);
    CHECK(between(home, "https://bucket.s3.example.org/") == standing::server_of_bucket);
    CHECK(between(home, "https://bucket.eu.s3.example.org/") == standing::server_of_bucket);
    CHECK(between(home, "https://other.s3.example.org/") == standing::server);
    CHECK(between("http://[::1]:9000", "http://[::1]:9000/") == standing::server);
    CHECK(between("http://localhost:9000", "http://bucket.localhost:9000/") == standing::server_of_bucket);
    // A bucket with the name of a part of the server.
    CHECK(between(home, "https://s3.example.org/", "s3") == standing::server);
    CHECK(between(home, "https://s3.s3.example.org/", "s3") == standing::server_of_bucket);
    CHECK(between(home, "https://MY_runs.s3.example.org/", "My_Runs") == standing::server_of_bucket);
}

TEST_CASE("same_service: names that only look like the server's are strangers") {
    for (const auto& [home, other] : std::vector<std::pair<const char*, const char*>>{
             {"https://s3.example.org", "https://evil.test/"},
             {"https://s3.example.org", "https://evil-s3.example.org/"},
             {"https://s3.example.org", "https://evils3.example.org/"},
             {"https://s3.example.org", "https://s3.example.org.evil.test/"},
             {"https://s3.example.org", "https://s3.example.org-evil.test/"},
             {"https://s3.example.org", "https://example.org/"},
             {"https://s3.example.org", "https://eu.example.org/"},
             {"https://s3.example.org", "https://bucket.evil.test/"},
             {"https://s3.example.org", "https://bucket.example.org/"},
             {"https://s3.example.org", "https://user@s3.example.org/"},
             {"https://s3.example.org", "https://s3.example.org@evil.test/"},
             {"https://s3.example.org", "https://evil.test\\@s3.example.org/"},
             {"https://s3.example.org", "https://evil.test#s3.example.org/"},
             {"https://s3.example.org", "https://s3.example.org:8443/"},
             {"https://s3.example.org:8443", "https://s3.example.org/"},
             {"https://s3.example.org", "http://s3.example.org/"},
             {"https://s3.example.org", "http://s3.example.org:443/"},
             {"http://s3.example.org:9000", "http://s3.example.org/"},
             {"http://s3.example.org:9000", "https://s3.example.org/"},
             {"http://s3.example.org", "https://s3.example.org:9443/"},
             {"http://10.0.0.1", "http://x.10.0.0.1/"},
             {"http://10.0.0.1", "http://10.0.0.2/"},
             {"http://10.0.0.1", "http://110.0.0.1/"},
             {"http://10.0.0.1", "http://10.0.0.1.evil.test/"},
             {"http://127.0.0.1:9000", "http://localhost:9000/"},
             {"http://a.0x7f", "http://b.a.0x7f/"},
             {"http://[::1]", "http://[::2]/"},
             {"http://[::1]", "http://[::ffff:127.0.0.1]/"},
             {"http://dev:9000", "http://evil.dev:9000/"},
             {"http://dev:9000", "http://bucket.dev:9000/"},
             {"https://s3.example.org", "https://s3.us-east-1.amazonaws.com/"},
             {"https://minio.amazonaws.com", "https://s3.us-east-1.amazonaws.com/"}}) {
        CAPTURE(home);
        CAPTURE(other);
        CHECK(between(home, other) == standing::stranger);
    }
}

TEST_CASE("same_service: from the open into TLS, on their own ports") {
    CHECK(between("http://s3.example.org", "https://s3.example.org/") == standing::server);
    CHECK(between("http://s3.example.org", "https://bucket.s3.example.org/") == standing::server_of_bucket);
    CHECK(between("http://s3.amazonaws.com", "https://s3.eu-west-1.amazonaws.com/") == standing::server);
}

TEST_CASE("same_service: Amazon's servers of S3, in any region") {
    for (const std::string host :
         {"s3.amazonaws.com", "s3.us-east-1.amazonaws.com", "s3.us-gov-west-1.amazonaws.com",
          "s3-us-west-2.amazonaws.com", "s3-external-1.amazonaws.com", "s3.dualstack.eu-west-1.amazonaws.com",
          "s3-fips.us-east-2.amazonaws.com", "s3-fips.dualstack.us-east-2.amazonaws.com", "s3-accelerate.amazonaws.com",
          "s3-accelerate.dualstack.amazonaws.com", "S3.AP-SOUTHEAST-2.AMAZONAWS.COM."}) {
        CAPTURE(host);
        CHECK(between(of_amazon, "https://" + host + "/key") == standing::server);
        CHECK(between("https://" + host, of_amazon) == standing::server);
        CHECK(between(of_amazon, "https://bucket." + host) == standing::server_of_bucket);
        CHECK(between(of_amazon, "https://my.runs." + host, "my.runs") == standing::server_of_bucket);
        CHECK(between(of_amazon, "https://other." + host) == standing::stranger);
        CHECK(between(of_amazon, "https://" + host + ".evil.test") == standing::stranger);
        CHECK(between(of_amazon, "http://" + host) == standing::stranger);
        CHECK(between(of_amazon, "https://" + host + ":8443") == standing::stranger);
    }
    CHECK(between("https://s3.cn-north-1.amazonaws.com.cn", "https://s3.cn-northwest-1.amazonaws.com.cn") ==
          standing::server);
}

TEST_CASE("same_service: other machines in Amazon's domains are strangers, and so is China") {
    for (const char* host :
         {"amazonaws.com", "evilamazonaws.com", "s3-us-west-2evil.com", "s3.amazonaws.com.evil.test",
          "amazonaws.com.evil.test", "s3.us-east-1.amazonaws.com.cn", "ec2-1-2-3-4.compute-1.amazonaws.com",
          "s3-1-2.compute-1.amazonaws.com", "s3.elb.amazonaws.com", "s3-evil.us-east-1.elb.amazonaws.com",
          "s3.execute-api.us-east-1.amazonaws.com", "s3.evil.us-east-1.amazonaws.com", "s3evil.us-east-1.amazonaws.com",
          "evil.s3.us-east-1.amazonaws.com", "s3.us-east-1.evil.amazonaws.com",
          "bucket.evil.s3.us-east-1.amazonaws.com", "s3..amazonaws.com", "sqs.us-east-1.amazonaws.com"}) {
        CAPTURE(host);
        CHECK(between(of_amazon, "https://" + std::string{host}) == standing::stranger);
    }
    CHECK(between("https://s3.cn-north-1.amazonaws.com.cn", of_amazon) == standing::stranger);
}
