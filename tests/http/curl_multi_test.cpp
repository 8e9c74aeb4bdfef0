#include <smdebug/http/curl_engine.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

struct easy_cleaner {
    void operator()(CURL* held) const noexcept { ::curl_easy_cleanup(held); }
};

// A closed port.
std::unique_ptr<CURL, easy_cleaner> to_nobody() {
    std::unique_ptr<CURL, easy_cleaner> made{::curl_easy_init()};
    ::curl_easy_setopt(made.get(), CURLOPT_URL, "http://127.0.0.1:1/");
    ::curl_easy_setopt(made.get(), CURLOPT_PROXY, "");
    return made;
}

}  // namespace

TEST_CASE("curl_multi: returns each finished handle once") {
    http::detail::curl_multi multi{4};
    CHECK_FALSE(multi.next_finished().has_value());
    const auto first = to_nobody();
    const auto second = to_nobody();
    REQUIRE(multi.add(first.get()));
    REQUIRE(multi.add(second.get()));
    bool seen_first = false;
    bool seen_second = false;
    while (!seen_first || !seen_second) {
        multi.perform();
        while (const auto told = multi.next_finished()) {
            CHECK(told->how == CURLE_COULDNT_CONNECT);
            bool& seen = told->handle == first.get() ? seen_first : seen_second;
            CHECK_FALSE(seen);
            seen = true;
            multi.remove(told->handle);
        }
        if (!seen_first || !seen_second) {
            multi.wait_until(http::detail::curl_multi::clock::time_point::max());
        }
    }
    CHECK_FALSE(multi.next_finished().has_value());
}

TEST_CASE("curl_multi: a removed handle is not returned as finished") {
    http::detail::curl_multi multi{0};
    const auto easy = to_nobody();
    REQUIRE(multi.add(easy.get()));
    CHECK_FALSE(multi.add(easy.get()));
    multi.remove(easy.get());
    multi.perform();
    CHECK_FALSE(multi.next_finished().has_value());
}

TEST_CASE("curl_multi: a wait ends at its time, or when it is woken, be it before") {
    http::detail::curl_multi multi{4};
    const auto soon = http::detail::curl_multi::clock::now() + std::chrono::milliseconds{5};
    multi.wait_until(soon);
    CHECK(http::detail::curl_multi::clock::now() >= soon);
    multi.wait_until(http::detail::curl_multi::clock::time_point::min());
    constexpr auto for_ever = http::detail::curl_multi::clock::time_point::max();
    multi.wake();
    multi.wait_until(for_ever);
    const std::jthread other{[&] { multi.wake(); }};
    multi.wait_until(for_ever);
}
