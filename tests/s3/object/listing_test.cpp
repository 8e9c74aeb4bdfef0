#include <smdebug/s3/object/listing.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

using keys = std::vector<std::string>;
using client_type = s3::detail::client;

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

struct place {
    explicit place(const char* where = "s3://bucket", fake_s3_options how = {})
        : server(how),
          client{s3::parse_location(where), quick_options(), server,
                 std::make_shared<static_credentials>(*fake_s3_options{}.keys)} {}

    [[nodiscard]] keys list(std::string_view prefix = "", std::string_view after = "", std::size_t most = all) const {
        keys found;
        for (object_entry& entry : s3::detail::list_objects(client, prefix, after, most)) {
            found.push_back(std::move(entry.key));
        }
        return found;
    }
    /// Answers listings with these pages in order, repeating the last one.
    void answer_with(std::vector<std::string> pages) const {
        server.fail_by([pages = std::move(pages)](const http::request&, std::size_t number) {
            return std::optional{answer(200, {}, pages[std::min(number, pages.size() - 1)])};
        });
    }

    fake_s3 server;
    client_type client;
};

std::string page_of(const keys& all_of_it, bool truncated, const std::string& token = {}) {
    std::string page = "<ListBucketResult><IsTruncated>" + std::string{truncated ? "true" : "false"} + "</IsTruncated>";
    page += token.empty() ? "" : "<NextContinuationToken>" + token + "</NextContinuationToken>";
    for (const std::string& key : all_of_it) {
        page += "<Contents><Key>" + key + "</Key><Size>1</Size><ETag>\"e\"</ETag></Contents>";
    }
    return page + "</ListBucketResult>";
}

std::string numbered(std::size_t i) { return "index/" + std::to_string(10'000 + i); }

}  // namespace

TEST_CASE("listing: keys, sizes and versions, below the location's prefix") {
    const place at{"s3://bucket/a/b"};
    at.server.put("a/b/one", "1");
    at.server.put("a/b/two/three", "22");
    at.server.put("a/bother", "not below it");
    at.server.put("a/b", "nor this");
    at.server.put("z", "");
    const auto found = s3::detail::list_objects(at.client, "", "", all);
    REQUIRE(found.size() == 2);
    CHECK(found[0].key == "one");
    CHECK(found[0].size == 1);
    CHECK(found[1].key == "two/three");
    CHECK(found[1].size == 2);
    CHECK(found[0].version.size() == 32);
    CHECK(found[0].version != found[1].version);
    CHECK(at.list("two") == keys{"two/three"});
    CHECK(at.list("", "one") == keys{"two/three"});
    CHECK(at.list("x").empty());
    CHECK(at.server.wrong_signatures() == 0);
}

TEST_CASE("listing: pages, one request for 1,000 keys") {
    const place at;
    keys wanted;
    for (std::size_t i = 0; i < 2500; ++i) {
        at.server.put(numbered(i), "");
        wanted.push_back(numbered(i));
    }
    CHECK(at.list() == wanted);
    CHECK(at.server.count() == 3);
    CHECK(at.list("index/", numbered(1499)) == keys(wanted.begin() + 1500, wanted.end()));
    CHECK(at.server.count() == 4);
    CHECK(at.list("", numbered(1499) + "x", 1) == keys{wanted[1500]});
    CHECK(at.list("", "", 1700) == keys(wanted.begin(), wanted.begin() + 1700));
    const auto asked = at.server.requests();
    CHECK(asked[0].parameter("max-keys") == "1000");
    CHECK(asked[0].parameter("start-after").empty());
    CHECK(asked[1].parameter("continuation-token") == "t+/=&" + numbered(999));
    CHECK(asked[3].parameter("start-after") == numbered(1499));
    CHECK(asked[4].parameter("max-keys") == "1");
    CHECK(asked.back().parameter("max-keys") == "700");
    CHECK(at.server.count(asks_for::list) == asked.size());
    CHECK(at.list("", "", 0).empty());
    CHECK(at.server.count() == asked.size());
}

TEST_CASE("listing: pages of any size, with start-after anywhere") {
    fake_s3_options how;
    how.most_on_page = 3;
    const place at{"s3://bucket/run", how};
    keys wanted;
    for (std::size_t i = 0; i < 20; ++i) {
        at.server.put("run/" + numbered(i), "");
        wanted.push_back(numbered(i));
    }
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(at.list("", numbered(i)) == keys(wanted.begin() + static_cast<std::ptrdiff_t>(i) + 1, wanted.end()));
        CHECK(at.list("", "", i) == keys(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(i)));
    }
    CHECK(at.list("index/", "a") == wanted);
    CHECK(at.list("index/", "z").empty());
}

TEST_CASE("listing: keys that have to be encoded, in order of bytes") {
    const place at{"s3://bucket/p+ %"};
    keys wanted{"a b",          "a+b",   "a%20b",       "a&<b>\"'", "a//b",  "a=b", "../x", "./y",    "h\xC3\xA4",
                "\xE2\x82\xAC", "tab\t", "back\\slash", "~",        "q?x=1", "#",   "%",    "line\n", "ctrl\x01"};
    std::sort(wanted.begin(), wanted.end());
    for (const std::string& key : wanted) {
        at.server.put("p+ %/" + key, key);
    }
    CHECK(at.list() == wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(at.list("", wanted[i]) == keys(wanted.begin() + static_cast<std::ptrdiff_t>(i) + 1, wanted.end()));
        CHECK(at.list(wanted[i]).front() == wanted[i]);
    }
    CHECK(at.server.wrong_signatures() == 0);
}

TEST_CASE("listing: an object that stands for the folder itself is none of its keys; others are") {
    const place at{"s3://bucket/run"};
    at.server.put("run/", "");
    CHECK(at.list().empty());
    CHECK(at.list("", "", 1).empty());
    at.server.put("run/index/", "");
    at.server.put("run/index/a", "");
    CHECK(at.list() == keys{"index/", "index/a"});
    CHECK(at.list("", "", 1) == keys{"index/"});
}

TEST_CASE("listing: a cut or malformed answer is retried") {
    const place at;
    at.server.put("a", "");
    at.server.put("b", "");
    const std::string whole = page_of({"a", "b"}, false);
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        at.server.forget_requests();
        at.server.fail_by([&](const http::request&, std::size_t number) {
            return number == 0 ? std::optional{answer(200, {}, whole.substr(0, length))} : std::nullopt;
        });
        CHECK(at.list() == keys{"a", "b"});
        CHECK(at.server.count() == 2);
    }
    at.server.fail_by(always_answer(answer(200, {}, "<html>Please log in</html>")));
    CHECK_THROWS_AS(static_cast<void>(at.list()), unavailable);
}

TEST_CASE("listing: failures have the right error, and name the place") {
    const place at{"s3://bucket/run"};
    at.server.fail_by(always_answer(s3_error(403, "AccessDenied")));
    const access_denied thrown = caught<access_denied>([&] { return at.list(); });
    CHECK(std::string_view{thrown.what()}.find("listing s3://bucket/run") != std::string_view::npos);
    CHECK(thrown.where().starts_with("s3://bucket"));
    at.server.fail_by(always_answer(s3_error(404, "NoSuchBucket")));
    CHECK_THROWS_AS(static_cast<void>(at.list()), not_found);
}

TEST_CASE("listing: a server without continuation tokens gets the last key instead") {
    const place at{"s3://bucket/run"};
    at.answer_with({page_of({"run/a", "run/b"}, true), page_of({"run/c"}, true), page_of({"run/d"}, false)});
    CHECK(at.list() == keys{"a", "b", "c", "d"});
    const auto asked = at.server.requests();
    REQUIRE(asked.size() == 3);
    CHECK(asked[1].parameter("start-after") == "run/b");
    CHECK(asked[2].parameter("start-after") == "run/c");
    // A server that repeats the last key.
    at.server.forget_requests();
    at.answer_with({page_of({"run/a", "run/b"}, true), page_of({"run/b", "run/c"}, false)});
    CHECK(at.list() == keys{"a", "b", "c"});
    // A page with only the folder itself also continues.
    at.server.forget_requests();
    at.answer_with({page_of({"run/"}, true), page_of({"run/a"}, false)});
    CHECK(at.list() == keys{"a"});
}

TEST_CASE("listing: pages that do not go on end") {
    const place at;
    for (const std::vector<std::string>& pages : {std::vector<std::string>{page_of({"a", "b"}, true)},
                                                  {page_of({"a", "b"}, true, "token")},
                                                  {page_of({"a"}, true, "one"), page_of({}, true, "two")},
                                                  {page_of({"b", "a"}, true)}}) {
        at.server.forget_requests();
        at.answer_with(pages);
        CHECK_THROWS_AS(static_cast<void>(at.list()), unavailable);
        CHECK(at.server.count() <= 5);
        // A caller that wants no more than exists does not notice.
        at.server.forget_requests();
        at.answer_with(pages);
        CHECK(at.list("", "", 1).size() == 1);
    }
}

TEST_CASE("listing: pages without keys are nothing unusual") {
    const place at;
    at.answer_with({page_of({}, true, "one"), page_of({}, true, "two"), page_of({"a"}, true, "three"),
                    page_of({}, true, "four"), page_of({}, false)});
    CHECK(at.list() == keys{"a"});
}

TEST_CASE("listing: what comes to no end ends, whichever tokens there are") {
    const place at{"s3://bucket/run"};
    for (const endless which : {endless::same_key, endless::no_keys, endless::two_tokens, endless::same_token}) {
        CAPTURE(static_cast<int>(which));
        at.server.forget_requests();
        at.server.fail_by([&](const http::request&, std::size_t number) {
            return std::optional{endless_page(which, number, "run/index/")};
        });
        for (const char* after : {"", "index/0"}) {
            const unavailable thrown = caught<unavailable>([&] { return at.list("", after); });
            CHECK(std::string_view{thrown.what()}.find("http://s3.test:8080") != std::string_view::npos);
            CHECK(std::string_view{thrown.what()}.find("listing s3://bucket/run") != std::string_view::npos);
        }
        CHECK(at.server.count() <= 1000);
    }
    // The same for pages whose keys are all outside the location.
    at.server.fail_by([&](const http::request&, std::size_t number) {
        return std::optional{endless_page(endless::same_key, number, "elsewhere/")};
    });
    CHECK_THROWS_AS(static_cast<void>(at.list()), unavailable);
}

TEST_CASE("listing: new keys without end take no longer than a listing may") {
    const fake_s3 server;
    s3_options options = quick_options();
    options.list_deadline = std::chrono::milliseconds{30};
    const client_type client{s3::parse_location("s3://bucket"), options, server,
                             std::make_shared<static_credentials>(*fake_s3_options{}.keys)};
    server.fail_by([&](const http::request&, std::size_t number) {
        return std::optional{endless_page(endless::new_keys, number)};
    });
    const unavailable thrown = caught<unavailable>([&] { return s3::detail::list_objects(client, "", "", all); });
    CHECK(thrown.code() == error_code::timed_out);
    CHECK(std::string_view{thrown.what()}.find("30 ms") != std::string_view::npos);
    CHECK(std::string_view{thrown.what()}.find("list_deadline") != std::string_view::npos);
    // None of its requests exceeds the deadline.
    for (const auto& ask : server.requests()) {
        CHECK(ask.deadline <= http::request::clock::now() + std::chrono::milliseconds{30});
    }
    // The same for a request that fails repeatedly.
    server.fail_by(always_answer(answer(503)));
    CHECK_THROWS_AS(static_cast<void>(s3::detail::list_objects(client, "", "", all)), error);
    options.list_deadline = std::chrono::milliseconds::max();
    const client_type patient{s3::parse_location("s3://bucket"), options, server,
                              std::make_shared<static_credentials>(*fake_s3_options{}.keys)};
    server.fail_by({});
    CHECK(s3::detail::list_objects(patient, "", "", all).empty());
}

TEST_CASE("listing: many pages get on, in order or not, with empty ones between") {
    const place at;
    constexpr std::size_t pages = 450;
    for (const std::size_t step : {std::size_t{1}, std::size_t{449}, std::size_t{7}}) {
        CAPTURE(step);
        at.server.forget_requests();
        at.server.fail_by([&](const http::request&, std::size_t number) {
            const std::size_t which = number / 2 * step % pages;
            const bool is_last = number + 1 == 2 * pages;
            const keys held = number % 2 == 0 ? keys{numbered(which)} : keys{};
            return std::optional{answer(200, {}, page_of(held, !is_last, is_last ? "" : std::to_string(number)))};
        });
        CHECK(at.list().size() == pages);
    }
}

TEST_CASE("listing: pages that are in no order come out sorted, whole, and each key once") {
    const place at;
    at.answer_with({page_of({"x", "b", "m"}, true, "one"), page_of({"a"}, true, "two"), page_of({"c", "d"}, true, "3"),
                    page_of({"b", "d", "e"}, false)});
    CHECK(at.list() == keys{"a", "b", "c", "d", "e", "m", "x"});
    // Keys before `after` are left out, whatever page they are in.
    at.server.forget_requests();
    at.answer_with({page_of({"x", "b", "m"}, true, "one"), page_of({"a", "n"}, false)});
    CHECK(at.list("", "b") == keys{"m", "n", "x"});
}

TEST_CASE("listing: a server that returns more keys than requested, or other ones") {
    const place at{"s3://bucket/run"};
    at.answer_with({page_of({"run/a", "run/b", "run/c"}, true, "t")});
    CHECK(at.list("", "", 2) == keys{"a", "b"});
    at.answer_with({page_of({"elsewhere", "run", "run/index/a", "run/other", "runs/b"}, false)});
    CHECK(at.list("index/") == keys{"index/a"});
}
