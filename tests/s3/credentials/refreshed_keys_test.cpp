#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>

#include <support/fake_aws.hpp>
#include "support/test.hpp"

#include <latch>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using s3::detail::keys_outcome;
using wall = std::chrono::system_clock::time_point;

namespace {

const wall noon{1'800'000'000s};

// A steady clock that is moved by hand, and a source of keys "key 0", "key 1", ... that fails on demand.
struct bench {
    std::chrono::steady_clock::time_point steady{1h};
    int fetched = 0;
    s3::detail::keys_answer next = {keys_outcome::found, s3::access_keys{.id = "", .secret = fake_secret},
                                    "the source"};
    s3::detail::refreshed_keys held{{.clock = [this] { return steady; }}};

    void next_expires(std::optional<wall> when) { next.keys->expires = when; }
    std::string id_at(wall now) {
        return held
            .get(now,
                 [this] {
                     s3::detail::keys_answer made = next;
                     if (made.keys) {
                         made.keys->id = "key " + std::to_string(fetched);
                     }
                     ++fetched;
                     return made;
                 })
            .id;
    }
};

const s3::detail::keys_answer silence{keys_outcome::failing, {}, "silence"};

}  // namespace

TEST_CASE("refreshed_keys: fetched once, and again five minutes before they expire") {
    bench at;
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    CHECK(at.id_at(noon + 54min) == "key 0");
    CHECK(at.fetched == 1);
    at.next_expires(noon + 2h);
    CHECK(at.id_at(noon + 55min) == "key 1");
    CHECK(at.id_at(noon + 56min) == "key 1");
    CHECK(at.fetched == 2);
}

TEST_CASE("refreshed_keys: keys without a time of expiry are fetched once, until they are forgotten") {
    bench at;
    CHECK(at.id_at(noon) == "key 0");
    CHECK(at.id_at(noon + 24h * 365 * 100) == "key 0");
    at.held.forget();
    CHECK(at.id_at(noon) == "key 1");
    CHECK(at.fetched == 2);
}

TEST_CASE(
    "refreshed_keys: when a refresh fails the old ones serve while they are good, and it is tried a little later") {
    bench at;
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    const auto good = at.next;
    at.next = silence;
    CHECK(at.id_at(noon + 56min) == "key 0");
    CHECK(at.fetched == 2);
    CHECK(at.id_at(noon + 56min) == "key 0");
    at.steady += 14s;
    CHECK(at.id_at(noon + 56min) == "key 0");
    CHECK(at.fetched == 2);
    at.steady += 1s;
    CHECK(at.id_at(noon + 56min) == "key 0");
    CHECK(at.fetched == 3);
    at.next = good;
    at.next_expires(noon + 2h);
    at.steady += 15s;
    CHECK(at.id_at(noon + 57min) == "key 3");
}

TEST_CASE("refreshed_keys: when the old ones are good no more the failure is thrown, and remembered for a while") {
    bench at;
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    const auto good = at.next;
    at.next = silence;
    CHECK(what_of<unavailable>([&] { static_cast<void>(at.id_at(noon + 1h)); }) == "Unavailable: silence");
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon + 1h)), unavailable);
    CHECK(at.fetched == 2);
    at.next = {keys_outcome::refused, {}, "never"};
    at.steady += 15s;
    CHECK(what_of<access_denied>([&] { static_cast<void>(at.id_at(noon + 1h)); }) == "AccessDenied: never");
    at.next = {keys_outcome::nothing_there, {}, "nowhere"};
    at.steady += 15s;
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon + 1h)), access_denied);
    at.next = {keys_outcome::unreachable, {}, "silent"};
    at.steady += 15s;
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon + 1h)), unavailable);
    at.next = good;
    at.next_expires(noon + 3h);
    at.steady += 15s;
    CHECK(at.id_at(noon + 1h) == "key 5");
}

TEST_CASE("refreshed_keys: a refresh that failed in the last minutes is remembered when the keys then expire") {
    bench at;
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    at.next = silence;
    CHECK(at.id_at(noon + 1h - 1s) == "key 0");
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon + 1h)), unavailable);
    CHECK(at.fetched == 2);
}

TEST_CASE("refreshed_keys: keys that expire soon are used, and not fetched at each call") {
    bench at;
    at.next_expires(noon + 2min);
    CHECK(at.id_at(noon) == "key 0");
    CHECK(at.id_at(noon) == "key 0");
    CHECK(at.fetched == 1);
    at.steady += 15s;
    CHECK(at.id_at(noon + 15s) == "key 1");
    CHECK(at.id_at(noon + 16s) == "key 1");
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon + 2min) == "key 2");
    CHECK(at.fetched == 3);
}

TEST_CASE("refreshed_keys: keys that come already expired are a failure") {
    bench at;
    at.next_expires(noon);
    const std::string said = what_of<unavailable>([&] { static_cast<void>(at.id_at(noon)); });
    CHECK(said.find("the source returned keys that have expired") != std::string::npos);
    CHECK_FALSE(tells_secrets(said));
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon)), unavailable);
    CHECK(at.fetched == 1);
}

TEST_CASE("refreshed_keys: forgotten keys are not used when fetching fails; a failure that is fresh stays remembered") {
    bench at;
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    at.next = silence;
    at.held.forget();
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon)), unavailable);
    at.held.forget();
    CHECK_THROWS_AS(static_cast<void>(at.id_at(noon)), unavailable);
    CHECK(at.fetched == 2);
}

TEST_CASE("refreshed_keys: an error of fetch() is rethrown, unless the old keys are valid; it blocks no other thread") {
    bench at;
    const auto throws = []() -> s3::detail::keys_answer { throw value_error("malformed"); };
    CHECK_THROWS_AS(static_cast<void>(at.held.get(noon, throws)), value_error);
    CHECK_THROWS_AS(static_cast<void>(at.held.get(noon, throws)), value_error);
    at.next_expires(noon + 1h);
    CHECK(at.id_at(noon) == "key 0");
    CHECK(at.held.get(noon + 58min, throws).id == "key 0");
    at.steady += 15s;
    CHECK_THROWS_AS(static_cast<void>(at.held.get(noon + 1h, throws)), value_error);
}

TEST_CASE("refreshed_keys: of many threads one fetches, the others wait for it") {
    constexpr int crew = 8;
    s3::detail::refreshed_keys held{{}};
    std::atomic<int> fetched{0};
    std::latch all_there{crew};
    std::vector<std::string> ids(crew);
    {
        std::vector<std::jthread> threads;
        for (std::string& id : ids) {
            threads.emplace_back([&] {
                all_there.arrive_and_wait();
                id = held.get(noon,
                              [&] {
                                  ++fetched;
                                  std::this_thread::sleep_for(20ms);
                                  return s3::detail::keys_answer{
                                      keys_outcome::found, s3::access_keys{.id = "one", .secret = "s"}, {}};
                              })
                         .id;
            });
        }
    }
    CHECK(fetched == 1);
    CHECK(ids == std::vector<std::string>(crew, "one"));
}

TEST_CASE("refreshed_keys: of many threads one pays for a failure, too") {
    constexpr int crew = 8;
    s3::detail::refreshed_keys held{{.pause = 1h}};
    std::atomic<int> fetched{0};
    std::atomic<int> failed{0};
    std::latch all_there{crew};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < crew; ++i) {
            threads.emplace_back([&] {
                all_there.arrive_and_wait();
                try {
                    static_cast<void>(held.get(noon, [&] {
                        ++fetched;
                        std::this_thread::sleep_for(20ms);
                        return silence;
                    }));
                } catch (const unavailable&) {
                    ++failed;
                }
            });
        }
    }
    CHECK(fetched == 1);
    CHECK(failed == crew);
}

TEST_CASE("refreshed_keys: while one refreshes, the others use the old keys and do not wait") {
    s3::detail::refreshed_keys held{{}};
    const auto keys = [](const char* id, wall until) {
        return s3::detail::keys_answer{
            keys_outcome::found, s3::access_keys{.id = id, .secret = "s", .expires = until}, {}};
    };
    static_cast<void>(held.get(noon, [&] { return keys("old", noon + 1h); }));
    std::latch fetching{1};
    std::latch seen{1};
    std::jthread one{[&] {
        CHECK((held.get(noon + 57min,
                        [&] {
                            fetching.count_down();
                            seen.wait();  // ends only because no other thread waits for this
                            return keys("new", noon + 2h);
                        })
                   .id == "new"));
    }};
    fetching.wait();
    const auto never = [&]() -> s3::detail::keys_answer { throw value_error("two at once"); };
    CHECK((held.get(noon + 57min, never).id == "old"));
    seen.count_down();
    one.join();
    CHECK((held.get(noon + 57min, never).id == "new"));
}

TEST_CASE("refreshed_keys: many threads, keys that expire all the time, and some that forget them") {
    constexpr int crew = 4;
    constexpr int rounds = 400;
    s3::detail::refreshed_keys held{{.pause = 0s}};
    std::atomic<int> inside{0};
    std::atomic<int> at_once{0};
    std::atomic<int> stale{0};
    std::atomic<int> failed{0};
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < crew; ++number) {
            threads.emplace_back([&, number] {
                for (int round = 0; round < rounds; ++round) {
                    const wall now = noon + std::chrono::minutes{round};
                    try {
                        const auto got = held.get(now, [&] {
                            at_once += inside++ == 0 ? 0 : 1;
                            s3::detail::keys_answer made{
                                keys_outcome::found,
                                s3::access_keys{.id = "i", .secret = "s", .expires = now + 7min},
                                {}};
                            if (round % 50 == 7) {
                                made = silence;
                            }
                            --inside;
                            return made;
                        });
                        stale += got.expires > now ? 0 : 1;
                    } catch (const unavailable&) {
                        ++failed;
                    }
                    if (number == 0 && round % 10 == 0) {
                        held.forget();
                    }
                }
            });
        }
    }
    CHECK(at_once == 0);
    CHECK(stale == 0);
    CHECK(failed < crew * rounds / 4);
}
