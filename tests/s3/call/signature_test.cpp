#include <smdebug/core/json_document.hpp>
#include <smdebug/s3/call/signature.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

using time_point = std::chrono::system_clock::time_point;

time_point at_second(std::int64_t seconds) { return time_point{std::chrono::seconds{seconds}}; }

std::string value_of(const http::request& ask, std::string_view name) {
    std::string found;
    for (const http::header& held : ask.headers) {
        if (held.name == name) {
            found += found.empty() ? held.value : " twice";
        }
    }
    return found;
}

http::method method_named(std::string_view name) {
    for (const http::method which :
         {http::method::get, http::method::head, http::method::put, http::method::post, http::method::remove}) {
        if (http::name_of(which) == name) {
            return which;
        }
    }
    FAIL("no method " << name);
    return http::method::get;
}

// From AWS's documentation, "Signature Calculations for the Authorization Header".
const s3::access_keys example_keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", {}};
const s3::detail::signing_scope example_scope{.region = "us-east-1"};
constexpr std::int64_t example_time = 1369353600;
const std::string example_host = "https://examplebucket.s3.amazonaws.com";

http::request asking(std::string url, std::vector<http::header> headers = {}) {
    http::request ask;
    ask.url = std::move(url);
    ask.headers = std::move(headers);
    return ask;
}

/// The signature in the Authorization header.
std::string signature_in(const http::request& ask) {
    const std::string line = value_of(ask, "authorization");
    const std::size_t at = line.find("Signature=");
    return at == std::string::npos ? "" : line.substr(at + 10);
}

std::string signed_names(const http::request& ask) {
    const std::string line = value_of(ask, "authorization");
    const std::size_t at = line.find("SignedHeaders=");
    return at == std::string::npos ? "" : line.substr(at + 14, line.find(", Signature=") - at - 14);
}

}  // namespace

TEST_CASE("signature: AWS's examples that sign more headers than we do, step by step") {
    struct example {
        http::method method;
        std::string url;
        std::vector<http::header> covered;
        std::string payload;
        std::string_view canonical_hash;
        std::string_view signature;
    };
    const std::vector<example> examples{
        {http::method::get,
         example_host + "/test.txt",
         {{"range", "bytes=0-9"}},
         "",
         "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {http::method::put,
         example_host + "/test%24file.text",
         {{"x-amz-storage-class", "REDUCED_REDUNDANCY"}, {"date", "Fri, 24 May 2013 00:00:00 GMT"}},
         "Welcome to Amazon S3.",
         "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"}};
    for (example each : examples) {
        CAPTURE(each.url);
        const std::string hash = s3::detail::to_hex(s3::detail::sha256(as_bytes(each.payload)));
        each.covered.push_back({"x-amz-content-sha256", hash});
        each.covered.push_back({"x-amz-date", s3::detail::signing_time(at_second(example_time))});
        const auto asked = s3::detail::canonical(each.method, each.url, each.covered, hash);
        CHECK(s3::detail::to_hex(s3::detail::sha256(as_bytes(asked.text))) == each.canonical_hash);
        const std::string text =
            s3::detail::string_to_sign(asked, "20130524T000000Z", "20130524/us-east-1/s3/aws4_request");
        CHECK(text == "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n" +
                          std::string{each.canonical_hash});
        const s3::detail::digest key = s3::detail::signing_key(example_keys.secret, "20130524", example_scope);
        CHECK(s3::detail::to_hex(s3::detail::sha256_hmac(key, as_bytes(text))) == each.signature);
    }
}

TEST_CASE("signer: AWS's examples with a query") {
    const s3::detail::signer by;
    for (const auto& [query, signature] : std::vector<std::pair<std::string, std::string_view>>{
             {s3::detail::canonical_query({{"lifecycle", ""}}),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
             {s3::detail::canonical_query({{"prefix", "J"}, {"max-keys", "2"}}),
              "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"}}) {
        http::request ask = asking(example_host + "/?" + query);
        by.sign(ask, s3::detail::empty_payload_hash, example_keys, example_scope, at_second(example_time));
        CHECK(value_of(ask, "authorization") ==
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
              "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" +
                  std::string{signature});
        CHECK(value_of(ask, "x-amz-date") == "20130524T000000Z");
        CHECK(value_of(ask, "x-amz-content-sha256") == s3::detail::empty_payload_hash);
        CHECK(ask.headers.size() == 3);
    }
}

TEST_CASE("signer: as botocore signs, encodes and sorts") {
    std::ifstream file{SMDEBUG_TEST_DATA "/../s3/data/signatures.json", std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    smdebug::detail::json::document parser;
    const auto cases = parser.parse(as_bytes(text));
    REQUIRE(cases.has_value());
    const s3::detail::signer by;
    int seen = 0;
    cases->for_each_element([&](smdebug::detail::json::value each) {
        CAPTURE(seen);
        const auto field = [&](const char* name) { return std::string{each[name]->string().value()}; };
        const auto pairs = [&](const char* name) {
            std::vector<std::pair<std::string, std::string>> out;
            each[name]->for_each_element([&](smdebug::detail::json::value pair) {
                std::vector<std::string> two;
                pair.for_each_element([&](smdebug::detail::json::value one) {
                    two.emplace_back(one.string().value());
                    return true;
                });
                out.emplace_back(two.at(0), two.at(1));
                return true;
            });
            return out;
        };
        const std::string query = s3::detail::canonical_query(pairs("parameters"));
        http::request ask = asking(field("base") + "/" + s3::detail::percent_encoded(field("key"), true) +
                                   (query.empty() ? "" : "?") + query);
        CHECK(ask.url == field("url"));
        ask.method = method_named(field("method"));
        for (auto& [name, value] : pairs("headers")) {
            ask.headers.push_back({name, value});
        }
        // The signature does not cover these.
        ask.headers.push_back({"range", "bytes=0-9"});
        const s3::access_keys keys{field("id"), field("secret"), field("token"), {}};
        by.sign(ask, field("payload_hash"), keys, {.region = field("region")},
                at_second(each["seconds"]->integer().value()));
        CHECK(value_of(ask, "authorization") == field("authorization"));
        CHECK(value_of(ask, "x-amz-date") == field("date"));
        CHECK(value_of(ask, "x-amz-content-sha256") == field("payload_hash"));
        CHECK(value_of(ask, "x-amz-security-token") == field("token"));
        ++seen;
        return true;
    });
    CHECK(seen == 300);
}

TEST_CASE("signer: a request that is signed again is as one that is signed for the first time") {
    const s3::detail::signer by;
    const s3::access_keys temporary{"FAKEID", "fakesecret", "faketoken", {}};
    http::request ask = asking(example_host + "/key", {{"x-amz-acl", "private"}, {"range", "bytes=0-9"}});
    http::request fresh = ask;
    by.sign(ask, s3::detail::unsigned_payload, temporary, example_scope, at_second(example_time));
    CHECK(value_of(ask, "x-amz-security-token") == "faketoken");
    CHECK(signed_names(ask) == "host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-security-token");

    const s3::detail::signing_scope elsewhere{.region = "eu-central-1"};
    by.sign(ask, s3::detail::empty_payload_hash, example_keys, elsewhere, at_second(example_time + 86400));
    by.sign(fresh, s3::detail::empty_payload_hash, example_keys, elsewhere, at_second(example_time + 86400));
    CHECK(ask.headers == fresh.headers);
    CHECK(value_of(ask, "x-amz-date") == "20130525T000000Z");
    CHECK(value_of(ask, "x-amz-security-token").empty());
    CHECK(signed_names(ask) == "host;x-amz-acl;x-amz-content-sha256;x-amz-date");
    CHECK(value_of(ask, "range") == "bytes=0-9");
}

TEST_CASE("signer: every part of what is signed changes the signature, and so do day, region, service and secret") {
    const auto signature = [](const auto& change) {
        const s3::detail::signer by;
        http::request ask = asking(example_host + "/key?a=b", {{"x-amz-acl", "private"}});
        s3::access_keys keys = example_keys;
        s3::detail::signing_scope scope = example_scope;
        std::string hash{s3::detail::empty_payload_hash};
        time_point now = at_second(example_time);
        change(ask, keys, scope, hash, now);
        by.sign(ask, hash, keys, scope, now);
        return signature_in(ask);
    };
    using request = http::request;
    using scope = s3::detail::signing_scope;
    const std::string first = signature([](auto&...) {});
    REQUIRE(first.size() == 64);
    std::vector<std::string> all{first};
    const auto add = [&](const auto& change) { all.push_back(signature(change)); };
    add([](request& ask, auto&...) { ask.method = http::method::head; });
    add([](request& ask, auto&...) { ask.url = example_host + "/kez?a=b"; });
    add([](request& ask, auto&...) { ask.url = example_host + "/key?a=c"; });
    add([](request& ask, auto&...) { ask.url = example_host + "/key"; });
    add([](request& ask, auto&...) { ask.url = example_host + ":8443/key?a=b"; });
    add([](request& ask, auto&...) { ask.headers[0].value = "public"; });
    add([](request& ask, auto&...) { ask.headers[0].name = "x-amz-acm"; });
    add([](auto&, s3::access_keys& keys, auto&...) { keys.secret += "x"; });
    add([](auto&, s3::access_keys& keys, auto&...) { keys.token = "faketoken"; });
    add([](auto&, auto&, scope& where, auto&...) { where.region = "eu-west-1"; });
    add([](auto&, auto&, scope& where, auto&...) { where.service = "sts"; });
    add([](auto&, auto&, auto&, std::string& hash, auto&) { hash = s3::detail::unsigned_payload; });
    add([](auto&, auto&, auto&, auto&, time_point& now) { now += std::chrono::seconds{1}; });
    add([](auto&, auto&, auto&, auto&, time_point& now) { now -= std::chrono::seconds{1}; });  // the day before
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
    CHECK(first == signature([](request& ask, auto&...) { ask.headers.push_back({"range", "bytes=0-9"}); }));
    CHECK(first == signature([](auto&, s3::access_keys& keys, auto&...) { keys.id = "FAKEID"; }));
    CHECK(first ==
          signature([](auto&, auto&, auto&, auto&, time_point& now) { now += std::chrono::milliseconds{999}; }));
}

TEST_CASE("signer: remembers a key for one day, scope and secret only") {
    const s3::detail::signer one;
    for (int round = 0; round < 2; ++round) {
        for (const std::string secret : {"fakesecret1", "fakesecret2"}) {
            for (const std::string region : {"us-east-1", "eu-west-1"}) {
                for (const std::string service : {"s3", "sts"}) {
                    for (const std::int64_t day : {0, 0, 1}) {
                        http::request ask = asking(example_host + "/key");
                        http::request fresh = ask;
                        const s3::access_keys keys{"FAKEID", secret, "", {}};
                        const time_point now = at_second(example_time + day * 86400);
                        one.sign(ask, s3::detail::empty_payload_hash, keys, {region, service}, now);
                        s3::detail::signer{}.sign(fresh, s3::detail::empty_payload_hash, keys, {region, service}, now);
                        CHECK(ask.headers == fresh.headers);
                    }
                }
            }
        }
    }
}

TEST_CASE("signer: many threads sign with different keys at once") {
    const s3::detail::signer shared;
    const auto signature = [](const s3::detail::signer& by, int which) {
        http::request ask = asking(example_host + "/key");
        by.sign(ask, s3::detail::empty_payload_hash, {"FAKEID", "fakesecret" + std::to_string(which % 3), "", {}},
                example_scope, at_second(example_time + (which % 2) * 86400));
        return signature_in(ask);
    };
    std::vector<std::string> expected;
    for (int which = 0; which < 6; ++which) {
        expected.push_back(signature(s3::detail::signer{}, which));
    }
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int turn = 0; turn < 100; ++turn) {
                const int which = (turn + thread) % 6;
                wrong += signature(shared, which) == expected[static_cast<std::size_t>(which)] ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
}

TEST_CASE("signature: takes a URL apart as libcurl sends it") {
    struct row {
        std::string_view url, host, path, query;
    };
    for (const row& each : {
             row{"https://bucket.example/a/b?x=1&y=", "bucket.example", "/a/b", "x=1&y="},
             row{"http://127.0.0.1:9000/a", "127.0.0.1:9000", "/a", ""},
             row{"http://host:80/", "host", "/", ""},
             row{"https://host:80/", "host:80", "/", ""},
             row{"https://host:443/", "host", "/", ""},
             row{"http://host:443/", "host:443", "/", ""},
             row{"http://host:0080/", "host", "/", ""},
             row{"http://host:08080/", "host:8080", "/", ""},
             row{"http://host:/", "host", "/", ""},
             row{"http://Host.Example:81", "Host.Example:81", "/", ""},
             row{"http://host?a=b", "host", "/", "a=b"},
             row{"http://[::1]/a", "[::1]", "/a", ""},
             row{"http://[::1]:80/a", "[::1]", "/a", ""},
             row{"http://[2001:db8::7]:9000/a?b=", "[2001:db8::7]:9000", "/a", "b="},
             row{"http://host/a//b/./../c:d@e?f=g?h", "host", "/a//b/./../c:d@e", "f=g?h"},
             row{"http://host/a?b=c#d", "host", "/a", "b=c"},
             row{"http://host/a#d?e", "host", "/a", ""},
         }) {
        CAPTURE(each.url);
        const auto parts = http::detail::parts_of(each.url);
        CHECK(s3::detail::host_header(parts) == each.host);
        CHECK(parts.path == each.path);
        CHECK(parts.query == each.query);
    }
}

TEST_CASE("signature: values are trimmed and folded, headers sorted by name alone") {
    for (const auto& [value, folded] : std::vector<std::pair<std::string_view, std::string_view>>{
             {"", ""}, {"  \t ", ""}, {" a  b\t\tc ", "a b c"}, {"a", "a"}}) {
        CAPTURE(value);
        CHECK(s3::detail::folded(value) == folded);
    }
    const auto asked =
        s3::detail::canonical(http::method::put, "http://host:81/k?q=", {{"x-amz-a-b", "2"}, {"x-amz-a", " 1  1 "}},
                              s3::detail::unsigned_payload);
    CHECK(asked.signed_headers == "host;x-amz-a;x-amz-a-b");
    CHECK(asked.text ==
          "PUT\n/k\nq=\nhost:host:81\nx-amz-a:1 1\nx-amz-a-b:2\n\nhost;x-amz-a;x-amz-a-b\nUNSIGNED-PAYLOAD");
}

TEST_CASE("signature: times, before 1970 too") {
    struct row {
        time_point when;
        std::string_view written;
    };
    for (const row& each : {
             row{at_second(0), "19700101T000000Z"},
             row{at_second(-1), "19691231T235959Z"},
             row{at_second(951782400), "20000229T000000Z"},
             row{at_second(4102444799), "20991231T235959Z"},
             row{at_second(1369353600) + std::chrono::milliseconds{1999}, "20130524T000001Z"},
         }) {
        CAPTURE(each.written);
        CHECK(s3::detail::signing_time(each.when) == each.written);
    }
}

TEST_CASE("canonical_query: encodes, then sorts by name and value, and always writes '='") {
    struct row {
        std::vector<std::pair<std::string, std::string>> parameters;
        std::string_view query;
    };
    const std::vector<row> rows{
        {{}, ""},
        {{{"uploads", ""}}, "uploads="},
        {{{"b", "2"}, {"a", "x y+z/"}, {"B", "1"}}, "B=1&a=x%20y%2Bz%2F&b=2"},
        {{{"a-", "1"}, {"a", "2"}, {"a", "10"}}, "a=10&a=2&a-=1"},
        // Sorted in encoded form: 'a' followed by an escape comes before "a1".
        {{{"a1", ""}, {"a\xC3\xA4", ""}, {"=", "&"}}, "%3D=%26&a%C3%A4=&a1="},
    };
    for (const row& each : rows) {
        CAPTURE(each.query);
        CHECK(s3::detail::canonical_query(each.parameters) == each.query);
    }
}
