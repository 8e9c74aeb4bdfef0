#include <smdebug/s3/s3_storage.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include "support/fake_s3.hpp"
#include "support/http_server.hpp"
#include "support/test.hpp"

using namespace smdebug;
using smdebug::testing::object_map;
using smdebug::testing::storage_under_test;
using smdebug::testing::text_of;
using namespace smdebug_test;

namespace {

using store_type = s3_storage;

static_assert(writable_storage<store_type>);

const s3::access_keys fake_keys = *fake_s3_options{}.keys;

/// A bucket that also has other objects, and a storage under a prefix of it.
struct place {
    explicit place(std::string below = "", std::uint64_t part_bytes = std::uint64_t{8} << 20U, fake_s3_options how = {})
        : prefix(std::move(below)), server(std::move(how)), store(made(server, part_bytes)) {
        if (!prefix.empty()) {
            server.put(prefix.substr(0, prefix.size() - 1), "beside it");
            server.put(prefix + "/", "beside it");
            server.put("zzz", "beside it");
            server.erase(prefix + "/");
        }
    }
    [[nodiscard]] store_type made(const fake_s3& at, std::uint64_t part_bytes) const {
        s3_options options = quick_options();
        options.part_bytes = part_bytes;
        options.merge_gap = 100;
        return {"s3://bucket/" + prefix, options, at, std::make_shared<static_credentials>(fake_keys)};
    }
    [[nodiscard]] storage_under_test<store_type> under_test() const {
        return {store,
                [at = server, below = prefix](const std::string& key, const std::string& content) {
                    at.put(below + key, content);
                },
                [at = server, below = prefix](const std::string& key) { at.erase(below + key); }};
    }

    std::string prefix;  // empty, or ends in '/'
    fake_s3 server;
    store_type store;
};

store_type holding(const place& at, const object_map& objects) {
    for (const auto& [key, content] : objects) {
        at.server.put(at.prefix + key, content);
    }
    return at.store;
}

fake_s3_options answering_later() {
    fake_s3_options how;
    how.how = delivery::later;
    how.most_on_page = 5;
    return how;
}

const std::vector<std::string> odd_keys{"a b",
                                        "a+b",
                                        "a:b",
                                        "a=b",
                                        "a%b",
                                        "a%20b",
                                        "a&b",
                                        "a?b",
                                        "a#b",
                                        "a//b",
                                        "//",
                                        "/a",
                                        "../up",
                                        "a/../b",
                                        "./a",
                                        "..",
                                        "a/",
                                        "a;b,c@d$e!f*g'h(i)j",
                                        "h\xC3\xA4\xC3\xB6",
                                        "\xE6\xBC\xA2\xE5\xAD\x97",
                                        "\xF0\x9F\x98\x80",
                                        "tab\tline\n",
                                        "quote\"back\\slash",
                                        "{<brackets>}[]|^`~",
                                        " ",
                                        "-._~"};

}  // namespace

// The promises of storages -----------------------------------------------------------------------------------------

TEST_CASE("s3_storage: what storages promise, a bucket as a whole") {
    smdebug::testing::check_storage_conformance([](const object_map& objects) { return holding(place{}, objects); });
}

TEST_CASE("s3_storage: what storages promise, below a prefix, objects in parts") {
    smdebug::testing::check_storage_conformance([](const object_map& objects) {
        return holding(place{"a/b/", 10'000}, objects);
    });
}

TEST_CASE("s3_storage: what storages promise, below an odd prefix, answers in any order, small pages") {
    smdebug::testing::check_storage_conformance([](const object_map& objects) {
        return holding(place{"odd +%=&/h\xC3\xA4//x?#/", 100'000, answering_later()}, objects);
    });
}

TEST_CASE("s3_storage: what outputs promise") {
    smdebug::testing::check_output_conformance([] { return place{}.under_test(); });
}

TEST_CASE("s3_storage: what outputs promise, below a prefix, answers in any order") {
    smdebug::testing::check_output_conformance([] { return place{"a/b/", 100'000, answering_later()}.under_test(); });
}

TEST_CASE("s3_storage: what removal promises") {
    smdebug::testing::check_removal_conformance([] { return place{"a/b/"}.under_test(); });
}

TEST_CASE("s3_storage: what dating promises") {
    smdebug::testing::check_dating_conformance([] { return place{"a/b/"}.under_test(); });
}

// One's own parts ----------------------------------------------------------------------------------------------------

namespace {

/// A transport of one's own.
class forwarding_transport final : public http_transport {
public:
    explicit forwarding_transport(fake_s3 inner) : inner_(std::move(inner)) {}
    [[nodiscard]] std::unique_ptr<exchange> start(http::request ask, http::completion_queue& to,
                                                  std::size_t ticket) const override {
        return inner_.start(std::move(ask), to, ticket);
    }

private:
    fake_s3 inner_;
};

/// Credentials of one's own.
class held_credentials final : public credentials_provider {
public:
    explicit held_credentials(s3::access_keys held) : held_(std::move(held)) {}
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point /*now*/) const override {
        return held_;
    }
    void renew() const override {}

private:
    s3::access_keys held_;
};

}  // namespace

TEST_CASE("s3_storage: works over a transport and credentials of one's own") {
    const fake_s3 server;
    store_type store{"s3://bucket/run", quick_options(), std::make_shared<forwarding_transport>(server),
                     std::make_shared<held_credentials>(fake_keys)};
    store.write("a", as_bytes("content"));
    store.write("large", as_bytes(std::string(std::size_t{17} << 20U, 'x')));
    auto out = store.create("b");
    const std::vector<byte_view> pieces{as_bytes("in pieces")};
    out->append(pieces);
    out->commit(durability::on_disk);
    CHECK(text_of(store.read("a")) == "content");
    CHECK(text_of(store.read("a", {2, 3})) == "nte");
    CHECK(store.read("large").size() == std::size_t{17} << 20U);
    CHECK(text_of(store.read_versioned("b").bytes) == "in pieces");
    CHECK(store.list("", "") == std::vector<std::string>{"a", "b", "large"});
    CHECK(store.entries("", "a", 1)->front().key == "b");
    CHECK(store.size("b") == 9);
    CHECK(store.modified("b").has_value());
    CHECK(store.place() == place_kind::folder);
    CHECK(store.name() == "s3://bucket/run");
    std::size_t seen = 0;
    const std::vector<std::string> keys{"a", "missing"};
    store.read_each(keys, [&](std::size_t, std::optional<byte_view>, const object_version&) { ++seen; });
    const std::vector<object_range> ranges{{"a", {0, 1}}, {"b", {0, 1}}};
    store.read_ranges(ranges, [&](std::size_t, std::optional<byte_buffer>, const object_version&) { ++seen; });
    CHECK(seen == 4);
    CHECK(store.remove("a"));
    CHECK_FALSE(store.remove("a"));
    CHECK(server.wrong_signatures() == 0);
}

// What is its own --------------------------------------------------------------------------------------------------

TEST_CASE("s3_storage: any key goes there and comes back") {
    for (const std::string prefix : {"", "a/b/", "p +%/"}) {
        const place at{prefix, 5};
        store_type store = at.store;
        for (const std::string& key : odd_keys) {
            CAPTURE(key);
            CHECK_FALSE(store.size(key).has_value());
            store.write(key, as_bytes("content of " + key));
            CHECK(at.server.content(prefix + key) == "content of " + key);
            CHECK(text_of(store.read(key)) == "content of " + key);
            CHECK(text_of(store.read(key, {8, 2})) == "of");
            CHECK(store.size(key) == key.size() + 11);
        }
        std::vector<std::string> sorted = odd_keys;
        std::sort(sorted.begin(), sorted.end());
        CHECK(store.list("", "") == sorted);
        std::vector<std::string> each;
        store.read_each(odd_keys, [&](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            each.emplace_back(as_text(bytes.value()).substr(11));
        });
        CHECK(each == odd_keys);
        for (const std::string& key : odd_keys) {
            CHECK(store.remove(key));
        }
        CHECK(store.list("", "").empty());
        CHECK(at.server.wrong_signatures() == 0);
    }
}

TEST_CASE("s3_storage: an empty key names nothing, whatever is there") {
    for (const std::string prefix : {"", "a/b/"}) {
        const place at{prefix};
        if (!prefix.empty()) {
            at.server.put(prefix, "the folder itself");
        }
        at.server.put(prefix + "x", "x");
        store_type store = at.store;
        CHECK_THROWS_AS(static_cast<void>(store.read("")), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.read("", {0, 1})), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.read("", {0, 0})), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.read_versioned("")), not_found);
        CHECK_FALSE(store.size("").has_value());
        CHECK_FALSE(store.modified("").has_value());
        CHECK_FALSE(store.remove(""));
        CHECK_THROWS_AS(store.write("", {}), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.create("")), not_found);
        const std::vector<std::string> keys{"", "x", ""};
        std::string seen;
        store.read_each(keys, [&](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            seen += bytes ? as_text(*bytes) : std::string_view{"-"};
        });
        CHECK(seen == "-x-");
        CHECK(store.list("", "") == std::vector<std::string>{"x"});
        CHECK(at.server.count(asks_for::other) == 0);
    }
}

TEST_CASE("s3_storage: where it is, and whether anything is there") {
    const place at{"a/b/"};
    CHECK(at.store.name() == "s3://bucket/a/b");
    CHECK(at.store.place() == place_kind::missing);
    at.server.put("a/b/", "the folder itself");
    CHECK(at.store.place() == place_kind::missing);
    at.server.put("a/b/c/d", "");
    CHECK(at.store.place() == place_kind::folder);
    CHECK(at.server.requests().back().parameter("max-keys") == "1");
    CHECK(&s3::detail::client_of(at.store) == &s3::detail::client_of(store_type{at.store}));  // copies are handles
    CHECK(at.store.abilities().look_interval == s3_options{}.look_interval);
}

TEST_CASE("s3_storage: a listing's versions are those of reading, and others when the bytes are") {
    const place at{"a/b/", 10};
    store_type store = at.store;
    store.write("x", as_bytes("some content in parts"));
    const auto first = *store.entries("", "", 10);
    REQUIRE(first.size() == 1);
    CHECK(first.front().size == 21);
    CHECK(store.read_versioned("x").version == first.front().version);
    store.write("x", as_bytes("Some content in parts"));
    CHECK(store.entries("", "", 10)->front().version != first.front().version);
    CHECK(store.read_versioned("x").version != first.front().version);
    CHECK(store.entries("", "", 0)->empty());
}

TEST_CASE("s3_storage: large objects are written in parts, small ones at once") {
    constexpr std::size_t part = std::size_t{5} << 20U;
    const place at{"a/b/", part, answering_later()};
    store_type store = at.store;
    const std::string rest(200, ',');
    std::string text;
    while (text.size() <= 3 * part) {
        text += std::to_string(text.size()) + rest;
    }
    for (const std::size_t size : {std::size_t{0}, part, part + 1, 3 * part}) {
        CAPTURE(size);
        at.server.forget_requests();
        store.write("x", as_bytes(std::string_view{text}.substr(0, size)));
        CHECK((at.server.content("a/b/x") == text.substr(0, size)));
        CHECK(at.server.count(asks_for::put) == (size <= part ? 1 : 0));
        CHECK(at.server.count(asks_for::upload_part) == (size <= part ? 0 : (size + part - 1) / part));
        CHECK(at.server.most_under_way() <= s3_options{}.most_uploads);
        CHECK((text_of(store.read("x")) == text.substr(0, size)));
    }
    CHECK(at.server.open_uploads() == 0);
    // A failure keeps the older object, and leaves no parts.
    at.server.fail_by(
        answer_where([](const http::request& ask) { return ask.url.find("partNumber=2") != std::string::npos; },
                     s3_error(403, "AccessDenied")));
    CHECK_THROWS_AS(store.write("x", as_bytes(text)), access_denied);
    CHECK((at.server.content("a/b/x") == text.substr(0, 3 * part)));
    CHECK(at.server.open_uploads() == 0);
}

TEST_CASE("s3_storage: a HEAD that is refused, and then is not") {
    fake_s3_options how;
    how.region = "eu-west-1";
    how.clock_offset = std::chrono::hours{3};
    const place at{"a/b/", 10, how};
    at.server.put("a/b/x", "some content in parts");
    at.server.put("a/b/empty", "");
    CHECK(at.store.size("x") == 21);
    const place again{"a/b/", 10, how};
    again.server.put("a/b/empty", "");
    CHECK(again.store.size("empty") == 0);
    const place once_more{"a/b/", 10, how};
    once_more.server.put("a/b/x", "");
    CHECK_FALSE(once_more.store.modified("missing").has_value());
    CHECK(once_more.store.modified("x").has_value());
}

TEST_CASE("s3_storage: failures name bucket and key, and are of the right kind") {
    const place at{"a/b/"};
    store_type store = at.store;
    const auto all_fail_with = [&](http::response how) {
        at.server.fail_by([how = std::move(how)](const http::request&, std::size_t) { return std::optional{how}; });
    };
    const auto each = [&]<class Error>(const Error*) {
        CHECK_THROWS_AS(static_cast<void>(store.read("x")), Error);
        CHECK_THROWS_AS(static_cast<void>(store.list("", "")), Error);
        CHECK_THROWS_AS(static_cast<void>(store.size("x")), Error);
        CHECK_THROWS_AS(static_cast<void>(store.modified("x")), Error);
        CHECK_THROWS_AS(static_cast<void>(store.place()), Error);
        CHECK_THROWS_AS(store.write("x", {}), Error);
        CHECK_THROWS_AS(static_cast<void>(store.remove("x")), Error);
    };
    all_fail_with(s3_error(403, "AccessDenied"));
    each(static_cast<const access_denied*>(nullptr));
    all_fail_with(s3_error(503, "SlowDown"));
    each(static_cast<const unavailable*>(nullptr));
    all_fail_with(s3_error(501, "NotImplemented"));
    each(static_cast<const unsupported*>(nullptr));
    all_fail_with(s3_error(403, "AccessDenied"));
    const access_denied thrown = caught<access_denied>([&] { return store.read("x y"); });
    CHECK(thrown.where() == "s3://bucket/a/b/x y");
    CHECK(std::string_view{thrown.what()}.find("tx000001") != std::string_view::npos);
}

TEST_CASE("s3_storage: a removal of what went meanwhile is one") {
    const place at{"a/b/"};
    store_type store = at.store;
    at.server.put("a/b/x", "x");
    at.server.fail_by(answer_where([](const http::request& ask) { return ask.method == http::method::remove; },
                                   s3_error(404, "NoSuchKey")));
    CHECK(store.remove("x"));
    CHECK(at.server.requests().back().what == asks_for::remove);
}

TEST_CASE("s3_storage: with a transport, the options say whose keys it has") {
    fake_s3_options how;
    how.keys.reset();
    const fake_s3 server{how};
    server.put("run/a", "content");
    s3_options options = quick_options();
    options.anonymous = true;
    const s3_storage anonymous{"s3://bucket/run", options, server};
    CHECK(text_of(anonymous.read("a")) == "content");
    server.accept(fake_keys);
    CHECK_THROWS_AS(static_cast<void>(anonymous.read("a")), access_denied);
    options.anonymous = false;
    options.keys = fake_keys;
    const s3_storage with_keys{"s3://bucket/run", options, server};
    CHECK(text_of(with_keys.read("a")) == "content");
}

TEST_CASE("s3_storage: an invalid place is refused at once, without a request") {
    const fake_s3 server;
    const auto who = std::make_shared<static_credentials>(fake_keys);
    CHECK_THROWS_AS((store_type{"/tmp/run", quick_options(), server, who}), value_error);
    CHECK_THROWS_AS((store_type{"s3://", quick_options(), server, who}), value_error);
    s3_options options = quick_options();
    options.endpoint = "localhost";
    CHECK_THROWS_AS((store_type{"s3://bucket", options, server, who}), value_error);
    options = quick_options();
    options.region = "EU";
    CHECK_THROWS_AS((store_type{"s3://bucket", options, server, who}), value_error);
    CHECK(server.count() == 0);
}

TEST_CASE("s3_storage: a server that sends requests to another one is not followed, over a network") {
    const smdebug_test::http_server one;
    const smdebug_test::http_server other;
    s3_options options = quick_options();
    options.endpoint = "http://127.0.0.1:" + one.port();
    options.keys = s3::access_keys{"FAKEKEYID", "fake/secret", "fake token", {}};
    for (const char* status : {"301", "307"}) {
        const std::string path = std::string{"/sent-on/"} + status + "/localhost/" + other.port();
        s3_storage store{"s3:/" + path, options};
        for (int again = 0; again < 2; ++again) {
            const unsupported thrown = caught<unsupported>([&] { return store.read("a"); });
            const std::string_view text = thrown.what();
            CHECK(text.find("http://127.0.0.1:" + one.port()) != std::string_view::npos);
            CHECK(text.find("http://localhost:" + other.port()) != std::string_view::npos);
            CHECK_THROWS_AS(store.write("a", {}), unsupported);
        }
    }
    // This is the first request that it gets.
    const auto heard = perform(curl_transport{}, {.url = other.url("/connections")});
    CHECK(text_of(heard.body) == "1");
}

TEST_CASE("s3_storage: a server that lists without end, over a network") {
    const smdebug_test::http_server server;
    s3_options options = quick_options();
    options.endpoint = "http://127.0.0.1:" + server.port();
    options.anonymous = true;
    for (const std::string& what : {std::string{"key"}, std::string{"nothing"}}) {
        const s3_storage store{"s3://endless-" + what + "/run", options};
        CHECK_THROWS_AS(static_cast<void>(store.list("", "")), unavailable);
        const auto heard = perform(curl_transport{}, {.url = server.url("/count/listed/" + what)});
        CHECK(std::stoul(text_of(heard.body)) <= 500);
    }
}

TEST_CASE("s3_storage: a closed port fails soon, and the message names host and port") {
    s3_options options;
    options.region = "us-east-1";
    options.keys = fake_keys;
    options.endpoint = "http://127.0.0.1:1";
    options.retry.reach_within = std::chrono::milliseconds{600};
    const s3_storage store{"s3://bucket/run", options};
    const unavailable thrown = caught<unavailable>([&] { return store.read("a"); });
    CAPTURE(thrown.what());
    CHECK(std::string_view{thrown.what()}.find("host 127.0.0.1, port 1") != std::string_view::npos);
}
