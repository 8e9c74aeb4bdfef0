// s3_storage against independent servers: the conformance suites, odd keys, and refused requests.
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include "s3_servers/server.hpp"
#include "support/skipped.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

using bucket_storage = s3_storage;

// An empty bucket for each call: a new one, or one that is emptied.
bucket_storage empty_bucket(std::string_view prefix = "/runs/one", s3_options options = s3_server{}.options()) {
    return bucket_storage{"s3://" + s3_server{}.fresh_bucket() + std::string{prefix}, std::move(options)};
}

bucket_storage filled_bucket(const object_map& objects, std::string_view prefix, s3_options options) {
    auto store = empty_bucket(prefix, std::move(options));
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

storage_under_test<bucket_storage> empty_place() {
    bucket_storage store = empty_bucket();
    return {
        store,
        [store](const std::string& key, const std::string& content) mutable { store.write(key, as_bytes(content)); },
        [store](const std::string& key) mutable { static_cast<void>(store.remove(key)); }, s3_server{}.is_swift()};
}

std::vector<std::byte> random_bytes(std::size_t size) {
    std::mt19937 random{size == 0 ? 1U : static_cast<unsigned>(size)};
    std::vector<std::byte> made(size);
    std::generate(made.begin(), made.end(), [&] { return static_cast<std::byte>(random()); });
    return made;
}

bool same(byte_view a, byte_view b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace

TEST_CASE("s3_storage on a server: passes the conformance suite") {
    check_storage_conformance(
        [](const object_map& objects) { return filled_bucket(objects, "/runs/one", s3_server{}.options()); });
}
TEST_CASE("s3_storage on a server: passes it as a whole bucket, with parts of a few bytes") {
    check_storage_conformance([](const object_map& objects) {
        s3_options options = s3_server{}.options();
        options.part_bytes = 40'000;
        options.merge_gap = 10;
        return filled_bucket(objects, "", options);
    });
}
TEST_CASE("s3_storage on a server: is written piece by piece") { check_output_conformance(empty_place); }
TEST_CASE("s3_storage on a server: removes objects") { check_removal_conformance(empty_place); }
TEST_CASE("s3_storage on a server: has versions") { check_version_conformance(empty_place); }

TEST_CASE("s3_storage on a server: keys of any kind are written, listed, read and removed as they are") {
    const std::array<std::string_view, 30> odd{"with space",
                                               "with  two spaces",
                                               " at the front",
                                               "at the end ",
                                               "plus+plus",
                                               "col:on",
                                               "equals=sign",
                                               "per%cent",
                                               "%41 is no A",
                                               "100%",
                                               "a&b;c,d",
                                               "qu?estion",
                                               "ha#sh",
                                               "tilde~dash-dot._",
                                               "h\xC3\xA4sslich",
                                               "\xE2\x82\xAC\xE4\xB8\xAD\xE6\x96\x87",
                                               "\xF0\x9F\x98\x80",
                                               "quote\"s'`",
                                               "back\\slash",
                                               "br{ac}es[]<>",
                                               "pi|pe^caret",
                                               "dollar$at@!*()",
                                               "./dot",
                                               "../dots",
                                               "a/./b",
                                               "a/../b",
                                               "double//slash",
                                               "/slash first",
                                               "slash last/",
                                               "tab\there"};
    for (const std::string_view prefix : {"/runs/one", "/odd +%25 pl\xC3\xA4tze/%2F"}) {
        CAPTURE(prefix);
        auto store = empty_bucket(prefix);
        std::vector<std::string> keys;
        for (const std::string_view key : odd) {
            CAPTURE(key);
            store.write(key, as_bytes(key));
            keys.emplace_back(key);
        }
        std::sort(keys.begin(), keys.end());
        CHECK(store.list("", "") == keys);
        for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
            CAPTURE(keys[i]);
            CHECK(store.list("", keys[i]) ==
                  std::vector<std::string>(keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end()));
            CHECK(store.list(keys[i], "").front() == keys[i]);
        }
        for (const std::string& key : keys) {
            CAPTURE(key);
            CHECK(as_text(store.read(key).view()) == key);
            CHECK(as_text(store.read(key, {1, 2}).view()) == key.substr(1, 2));
            CHECK(store.size(key) == key.size());
            CHECK(store.remove(key));
            CHECK_FALSE(store.size(key).has_value());
        }
        CHECK(store.list("", "").empty());
    }
}

TEST_CASE("s3_storage on a server: unfinished uploads are removed, and their keys returned") {
    auto store = empty_bucket("/runs/one");
    const std::string prefix = smdebug::s3::detail::client_of(store).where().prefix;
    for (const std::string_view key : {"events/a b+c", "events/a b+c", "events/other", "notes"}) {
        const s3::detail::call_result begun = s3::detail::perform_call(
            smdebug::s3::detail::client_of(store),
            {.method = http::method::post, .key = prefix + std::string{key}, .query = {{"uploads", ""}}});
        REQUIRE(begun.good);
    }
    store.write("events/whole", as_bytes("an object"));
    const auto not_other = [](std::string_view key) { return key != "events/other"; };
    const auto all = [](std::string_view) { return true; };
    CHECK(store.remove_unfinished("events/", not_other) == std::vector<std::string>{"events/a b+c"});
    CHECK(store.remove_unfinished("events/", not_other).empty());
    CHECK(store.remove_unfinished("", all) == std::vector<std::string>{"events/other", "notes"});
    CHECK(store.remove_unfinished("", all).empty());
    CHECK(store.list("", "") == std::vector<std::string>{"events/whole"});
}

TEST_CASE("s3_storage on a server: bytes that lie behind the end, and those of objects without any, are none") {
    auto store = empty_bucket("/runs/one");
    store.write("empty", {});
    store.write("three", as_bytes("abc"));
    CHECK(store.read("empty").empty());
    CHECK(store.read("empty", {0, 5}).empty());
    CHECK(store.read("empty", {7, 5}).empty());
    CHECK(store.read("three", {3, 5}).empty());
    CHECK(store.read("three", {100, 5}).empty());
    CHECK(as_text(store.read("three", {2, 5}).view()) == "c");
}

TEST_CASE("s3_storage on a server: more keys than fit on a page") {
    auto store = empty_bucket();
    std::vector<std::string> keys;
    for (int i = 0; i < 2'100; ++i) {
        keys.push_back("index/" + std::to_string(100'000 + i) + " +.json");
    }
    std::vector<std::jthread> writers;
    for (std::size_t first = 0; first < 8; ++first) {
        writers.emplace_back([&, first] {
            for (std::size_t i = first; i < keys.size(); i += 8) {
                store.write(keys[i], as_bytes("x"));
            }
        });
    }
    writers.clear();
    CHECK(store.list("index/", "") == keys);
    CHECK(store.list("index/", keys[1049]).size() == 1'050);
    CHECK(store.entries("", keys[0], 1'500)->size() == 1'500);
    CHECK(store.entries("", keys[0], 1'500)->back().key == keys[1'500]);
    CHECK(store.entries("index/", "", 1)->size() == 1);
    CHECK(store.place() == place_kind::folder);
    CHECK(empty_bucket("/nothing").place() == place_kind::missing);
}

TEST_CASE("s3_storage on a server: large objects go and come in parts") {
    s3_options options = s3_server{}.options();
    options.part_bytes = std::uint64_t{5} << 20U;
    auto store = empty_bucket("/large", options);
    for (const std::size_t size : {std::size_t{5} << 20U, (std::size_t{5} << 20U) + 1, std::size_t{16'000'003}}) {
        CAPTURE(size);
        const std::vector<std::byte> bytes = random_bytes(size);
        store.write("whole", bytes);
        CHECK(same(store.read("whole").view(), bytes));
        auto out = store.create("piecewise");
        const byte_view all{bytes};
        const std::array pieces{all.first(1), all.subspan(1, size / 2), all.subspan(1 + size / 2)};
        out->append(pieces);
        CHECK_FALSE(contains(store.list("", ""), "piecewise"));
        out->commit(durability::on_disk);
        CHECK(same(store.read("piecewise").view(), bytes));
        CHECK(same(store.read("piecewise", {size - 10, 100}).view(), all.last(10)));
        CHECK(same(store.read("piecewise", {1000, size - 2000}).view(), all.subspan(1000, size - 2000)));
        CHECK(store.entries("piecewise", "", 1)->front().size == size);
        CHECK(store.remove("piecewise"));
    }
}

TEST_CASE("s3_storage on a server: ranges of many objects come in few requests, in order") {
    auto store = empty_bucket();
    const std::vector<std::byte> bytes = random_bytes(300'000);
    const std::vector<std::string> keys{"a", "b c", "d/e+f"};
    for (const std::string& key : keys) {
        store.write(key, bytes);
    }
    std::vector<object_range> wanted;
    for (const std::string& key : keys) {
        for (std::uint64_t offset = 0; offset < 310'000; offset += 1'000) {
            wanted.push_back({key, {offset, 700}});
        }
    }
    wanted.push_back({"missing", {0, 5}});
    const auto& transport = dynamic_cast<const curl_transport&>(smdebug::s3::detail::client_of(store).transport());
    const auto before = transport.counters().requests;
    std::size_t next = 0;
    store.read_ranges(wanted, [&](std::size_t i, std::optional<byte_buffer> got, const object_version&) {
        REQUIRE(i == next++);
        if (i + 1 == wanted.size()) {
            CHECK_FALSE(got.has_value());
            return;
        }
        REQUIRE(got.has_value());
        const byte_range where = wanted[i].where;
        const std::uint64_t begin = std::min<std::uint64_t>(where.offset, bytes.size());
        const std::uint64_t count = std::min<std::uint64_t>(where.length, bytes.size() - begin);
        REQUIRE(same(got->view(), byte_view{bytes}.subspan(begin, count)));
    });
    CHECK(next == wanted.size());
    CHECK(transport.counters().requests - before == 4);
}

TEST_CASE("s3_storage on a server: a client without rights is refused, and no message contains keys") {
    const s3_server server;
    auto store = empty_bucket();
    store.write("there", as_bytes("x"));
    const auto refused = [&](s3_options options) {
        const bucket_storage other{store.name(), std::move(options)};
        for (const auto& ask : std::vector<std::function<void()>>{
                 [&] { static_cast<void>(other.read("there")); }, [&] { static_cast<void>(other.size("there")); },
                 [&] { static_cast<void>(other.list("", "")); },
                 [&] { bucket_storage{other}.write("new", as_bytes("x")); }}) {
            try {
                ask();
                FAIL_CHECK("nothing was thrown");
            } catch (const access_denied& thrown) {
                const std::string text = thrown.what();
                CAPTURE(text);
                CHECK(text.find(store.name()) != std::string::npos);
                CHECK(text.find("request id") != std::string::npos);
                CHECK(thrown.where().starts_with(store.name()));
                for (const std::string& secret :
                     {server.keys().id, server.keys().secret, std::string{"n0t-the-0ne"}, std::string{"unkn0wn-key"}}) {
                    CHECK(text.find(secret) == std::string::npos);
                }
            }
        }
    };
    s3_options wrong_secret = server.options();
    wrong_secret.keys->secret = "n0t-the-0ne";
    refused(wrong_secret);
    s3_options unknown_key = server.options();
    unknown_key.keys->id = server.is_swift() ? "unkn0wn-key:us" : "unkn0wn-key";
    refused(unknown_key);
    CHECK(store.list("", "") == std::vector<std::string>{"there"});
}

TEST_CASE("s3_storage on a server: no keys, no entry") {
    auto store = empty_bucket();
    store.write("there", as_bytes("x"));
    s3_options nobody = s3_server{}.options();
    nobody.keys.reset();
    nobody.anonymous = true;
    CHECK_THROWS_AS(static_cast<void>(bucket_storage(store.name(), nobody).read("there")), access_denied);
}

TEST_CASE("s3_storage on a server: temporary keys need their token") {
    const s3_server server;
    const auto temporary = server.temporary_keys();
    if (!temporary) {
        skipped(lacking::server, "this server hands out no session tokens");
        return;
    }
    auto store = empty_bucket();
    store.write("there", as_bytes("x"));
    s3_options options = server.options();
    options.keys = temporary;
    CHECK(as_text(bucket_storage{store.name(), options}.read("there").view()) == "x");
    options.keys->token.clear();
    CHECK_THROWS_AS(static_cast<void>(bucket_storage(store.name(), options).read("there")), access_denied);
}

TEST_CASE("s3_storage on a server: a bucket that is not there says so") {
    const bucket_storage nowhere{"s3://no-such-bucket-anywhere/run", s3_server{}.options()};
    const not_found thrown = caught<not_found>([&] { return nowhere.list("", ""); });
    const std::string text = thrown.what();
    CAPTURE(text);
    CHECK(text.find("There is no bucket \"no-such-bucket-anywhere\"") != std::string::npos);
    CHECK(text.find(s3_server{}.endpoint()) != std::string::npos);
}

TEST_CASE("s3_storage on a server: the region is learnt where another one was said") {
    s3_options elsewhere = s3_server{}.options();
    elsewhere.region = "eu-central-1";
    auto store = empty_bucket("/run", elsewhere);
    store.write("there", as_bytes("x"));
    CHECK(as_text(store.read("there").view()) == "x");
    CHECK(store.size("there") == 1);
}
