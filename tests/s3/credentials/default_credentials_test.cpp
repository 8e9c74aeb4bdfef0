#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>

#include <support/fake_aws.hpp>
#include <support/temporary_folder.hpp>
#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using wall = std::chrono::system_clock::time_point;

namespace {

const wall ten = *s3::detail::parse_iso_time("2026-11-21T10:00:00Z");
const std::string both = "aws_access_key_id = of_profile\naws_secret_access_key = " + std::string{fake_secret} + "\n";

// All sources of keys, to be filled; nothing waits.
struct world {
    temporary_folder home;
    std::shared_ptr<variables> set = std::make_shared<variables>(variables{{"HOME", home.path()}});
    std::shared_ptr<fake_instance> instance =
        std::make_shared<fake_instance>(fake_instance{.token = no_answer(http::outcome::unreachable, "no route")});
    std::shared_ptr<http::response> container = std::make_shared<http::response>(answer(404));
    std::shared_ptr<std::chrono::steady_clock::time_point> steady =
        std::make_shared<std::chrono::steady_clock::time_point>(1h);
    scripted_server transport{[instance = instance, container = container](const http::request& ask, std::size_t) {
        return ask.url.find("/latest/") != std::string::npos ? (*instance)(ask) : *container;
    }};

    [[nodiscard]] default_credentials credentials() const {
        return default_credentials{transport,
                                   {.environment = [set = set](const char* name) { return environment_of(*set)(name); },
                                    .limits = {.pause = 0ms, .altogether = 1h},
                                    .refresh = {.clock = [steady = steady] { return *steady; }}}};
    }
    [[nodiscard]] std::string id(const credentials_provider& from, wall now = ten) const { return from.keys(now)->id; }
    void with_instance() const { *instance = fake_instance{}; }
    void with_container(const std::string& id) const {
        (*set)["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/keys";
        *container = answer(200, {}, keys_json("2026-11-21T16:00:00Z", id));
    }
};

}  // namespace

TEST_CASE("default_credentials: environment, profile, container, instance, in this order") {
    world at;
    at.with_instance();
    CHECK((at.id(at.credentials()) == fake_id));
    at.with_container("of_container");
    CHECK(at.id(at.credentials()) == "of_container");
    at.home.write(".aws/credentials", "[default]\n" + both);
    CHECK(at.id(at.credentials()) == "of_profile");
    (*at.set)["AWS_ACCESS_KEY_ID"] = "of_environment";
    (*at.set)["AWS_SECRET_ACCESS_KEY"] = fake_secret;
    CHECK(at.id(at.credentials()) == "of_environment");
}

TEST_CASE("default_credentials: looks when keys are wanted, once") {
    world at;
    at.with_instance();
    const auto credentials = at.credentials();
    CHECK(at.transport.count() == 0);
    CHECK((at.id(credentials) == fake_id));
    CHECK((at.id(credentials) == fake_id));
    CHECK(at.transport.count() == 3);
}

TEST_CASE("default_credentials: the source that had keys is used from then on") {
    world at;
    at.with_instance();
    const auto credentials = at.credentials();
    CHECK((at.id(credentials) == fake_id));
    at.home.write(".aws/credentials", "[default]\n" + both);
    at.instance->keys = answer(200, {}, keys_json("2026-11-21T22:00:00Z", "renewed"));
    CHECK((at.id(credentials, ten + 5h + 54min) == fake_id));
    CHECK(at.id(credentials, ten + 5h + 55min) == "renewed");
    CHECK(at.id(at.credentials()) == "of_profile");
}

TEST_CASE("default_credentials: renew() asks afresh, for a profile and an environment, too") {
    world at;
    at.home.write(".aws/credentials", "[default]\n" + both);
    const auto credentials = at.credentials();
    CHECK(at.id(credentials) == "of_profile");
    at.home.write(".aws/credentials", "[default]\naws_access_key_id = newer\naws_secret_access_key = s\n");
    CHECK(at.id(credentials) == "of_profile");
    credentials.renew();
    CHECK(at.id(credentials) == "newer");
    at.home.remove(".aws/credentials");
    credentials.renew();
    const std::string said = what_of<access_denied>([&] { static_cast<void>(credentials.keys(ten)); });
    CHECK(said.find("could not be renewed: profile \"default\"") != std::string::npos);
}

TEST_CASE(
    "default_credentials: when there are none, it says where it looked and what to do, and does not look at each "
    "call") {
    world at;
    at.home.write(".aws/config", "[default]\nregion = r\n");
    const auto credentials = at.credentials();
    const auto message = [&] { return what_of<access_denied>([&] { static_cast<void>(credentials.keys(ten)); }); };
    const std::string said = message();
    for (const std::string& part :
         {std::string{"the environment (AWS_ACCESS_KEY_ID is not set)"},
          "profile \"default\" in " + at.home.path() + "/.aws/credentials (no such file) and " + at.home.path() +
              "/.aws/config (no keys there)",
          std::string{"the container (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"},
          std::string{"instance metadata at http://169.254.169.254 (no answer: no route)"},
          std::string{"Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"}, std::string{"anonymous"}}) {
        CAPTURE(part);
        CHECK(said.find(part) != std::string::npos);
    }
    CHECK(at.transport.count() == 3);
    CHECK(message() == said);
    CHECK(at.transport.count() == 3);
    *at.steady += 15s;
    CHECK(message() == said);
    CHECK(at.transport.count() == 6);
    at.home.write(".aws/credentials", "[default]\n" + both);
    *at.steady += 15s;
    CHECK(at.id(credentials) == "of_profile");
}

TEST_CASE("default_credentials: a container that is set up and fails ends the search") {
    world at;
    at.with_instance();
    at.with_container("x");
    *at.container = no_answer(http::outcome::unreachable, "closed port");
    const std::string silent = what_of<unavailable>([&] { static_cast<void>(at.credentials().keys(ten)); });
    CHECK(silent.find("the container's endpoint at 169.254.170.2 (no answer: closed port).  Looked before at: the "
                      "environment") != std::string::npos);
    *at.container = answer(403);
    CHECK_THROWS_AS(static_cast<void>(at.credentials().keys(ten)), access_denied);
    CHECK(at.transport.count() == 4);
}

TEST_CASE("default_credentials: an instance that had keys and falls silent is unavailable once they have expired") {
    world at;
    at.with_instance();
    const auto credentials = at.credentials();
    CHECK((at.id(credentials) == fake_id));
    at.instance->token = no_answer(http::outcome::unreachable, "no route");
    CHECK((at.id(credentials, ten + 5h + 59min) == fake_id));
    *at.steady += 15s;
    const std::string said = what_of<unavailable>([&] { static_cast<void>(credentials.keys(ten + 6h)); });
    CHECK(said.find("could not be renewed: instance metadata at http://169.254.169.254") != std::string::npos);
    at.with_instance();
    at.instance->keys = answer(200, {}, keys_json("2026-11-22T16:00:00Z", "back"));
    *at.steady += 15s;
    CHECK(at.id(credentials, ten + 6h) == "back");
}

TEST_CASE("default_credentials: settings that cannot be followed are an error at each call") {
    world at;
    at.with_instance();
    const auto credentials = at.credentials();
    at.home.write(".aws/config", "[default]\ncredential_process = p\n");
    CHECK_THROWS_AS(static_cast<void>(credentials.keys(ten)), unsupported);
    at.home.write(".aws/config", "[default\n");
    CHECK_THROWS_AS(static_cast<void>(credentials.keys(ten)), value_error);
    at.home.remove(".aws/config");
    (*at.set)["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://evil.example/";
    CHECK_THROWS_AS(static_cast<void>(credentials.keys(ten)), value_error);
    at.set->erase("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    CHECK((at.id(credentials) == fake_id));
}

TEST_CASE("default_credentials: no failure contains a secret") {
    const std::string bodies = std::string{fake_id} + fake_secret + fake_token + fake_bearer;
    const std::vector<http::response> answers{answer(200, {}, bodies),
                                              answer(200, {}, keys_json("never")),
                                              answer(403, {}, bodies),
                                              answer(500, {}, bodies),
                                              answer(200, {}, keys_json("2020-01-01T00:00:00Z")),
                                              no_answer(http::outcome::timed_out, "too late")};
    for (const http::response& got : answers) {
        for (const bool container : {true, false}) {
            world at;
            at.with_instance();
            if (container) {
                at.with_container("x");
                (*at.set)["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = fake_bearer;
            }
            *at.container = got;
            at.instance->keys = got;
            const std::string said = what_of<error>([&] { static_cast<void>(at.credentials().keys(ten)); });
            CAPTURE(said);
            CHECK(said.find(container ? "the container's endpoint" : "instance metadata") != std::string::npos);
            CHECK_FALSE(tells_secrets(said));
        }
    }
}

TEST_CASE("default_credentials: many threads over many expiries") {
    constexpr int crew = 4;
    constexpr int hours = 40;
    world at;
    std::mutex guard;
    wall latest = ten;
    // Each answer is valid for an hour from the time of the latest request.
    const scripted_server transport{[&](const http::request& ask, std::size_t) {
        const std::lock_guard lock{guard};
        const auto days = std::chrono::floor<std::chrono::days>(latest + 1h);
        const std::chrono::year_month_day date{days};
        const auto number = [](auto value) {
            const std::string text = std::to_string(value);
            return text.size() < 2 ? "0" + text : text;
        };
        const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(latest + 1h - days)};
        return fake_instance{
            .keys = answer(
                200, {},
                keys_json(number(static_cast<int>(date.year())) + "-" + number(static_cast<unsigned>(date.month())) +
                          "-" + number(static_cast<unsigned>(date.day())) + "T" + number(time.hours().count()) + ":" +
                          number(time.minutes().count()) + ":" + number(time.seconds().count()) + "Z"))}(ask);
    }};
    const default_credentials credentials{transport, {.environment = environment_of({}), .refresh = {.pause = 0s}}};
    std::atomic<int> stale{0};
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < crew; ++number) {
            threads.emplace_back([&, number] {
                for (int minutes = 0; minutes < hours * 60; minutes += 10) {
                    const wall now = ten + std::chrono::minutes{minutes};
                    {
                        const std::lock_guard lock{guard};
                        latest = std::max(latest, now);
                    }
                    stale += credentials.keys(now)->expires > now ? 0 : 1;
                    if (number == 0 && minutes % 250 == 0) {
                        credentials.renew();
                    }
                }
            });
        }
    }
    CHECK(stale == 0);
    CHECK(transport.count() >= 3 * (hours - 1));
    CHECK(transport.count() <= 3 * crew * (hours * 6 + 1));
}
