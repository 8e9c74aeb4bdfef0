// A hook that writes into S3: what it asks of the server, and what becomes of a run when the server fails.
#include <smdebug/hook/hook.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

using store_type = s3_storage;

store_type run_on(const fake_s3& server) {
    s3_options options = quick_options();
    options.part_bytes = std::uint64_t{5} << 20U;
    return {"s3://bucket/run", options, server, std::make_shared<static_credentials>(*fake_s3_options{}.keys)};
}

any_storage place_on(const fake_s3& server) { return any_storage{run_on(server)}; }

hook_options saves_all(std::size_t pool_bytes) {
    hook_options options{.save_config = {.save_interval = 1}, .save_all = true};
    options.background.pool_bytes = pool_bytes;
    return options;
}

const std::vector<std::size_t> pools{0, std::size_t{16} << 20U};

// A large one goes up in parts; the tests give them odd numbers.
void save_step(hook& training, bool large) {
    const auto value = static_cast<float>(training.step());
    training.save_tensor("w", std::vector<float>(large ? 3'000'000 : 1000, value));
    training.save_scalar("x", value);
}

// What was put into the bucket, as the requests came.
std::vector<std::string> puts(const fake_s3& server) {
    std::vector<std::string> keys;
    for (const fake_request& asked : server.requests()) {
        if (asked.method == http::method::put) {
            keys.push_back(asked.key);
        }
    }
    return keys;
}

// Every step that has an index is whole.
std::vector<step_number> whole_steps(const fake_s3& server) {
    const store_type store = run_on(server);
    if (store.list(smdebug::detail::locations::index_folder, "").empty()) {
        return {};
    }
    const basic_trial run{store};
    for (const step_number step : run.steps()) {
        const auto value = run.tensor("w").value(step);
        const auto elements = value.elements<float>();
        CHECK(elements.size() == (step % 2 == 1 ? 3'000'000 : 1000));
        CHECK(std::ranges::all_of(elements, [&](float each) { return each == static_cast<float>(step); }));
        CHECK(run.tensor("scalar/x").value<float>(step)(0) == static_cast<float>(step));
    }
    return run.steps();
}

bool has_ended(const fake_s3& server) {
    return server.content("run/" + std::string{smdebug::detail::locations::end_of_job}).has_value();
}

}  // namespace

TEST_CASE("hook on S3: a step is two requests, the events first; the last one of all marks the end") {
    for (const std::size_t pool : pools) {
        const fake_s3 server;
        hook training{place_on(server), saves_all(pool)};
        CHECK(puts(server).empty());
        save_step(training, false);
        training.end_step();
        training.flush();
        server.forget_requests();
        save_step(training, false);
        training.end_step();
        training.flush();
        CHECK(puts(server) == std::vector<std::string>{"run/" + smdebug::detail::locations::event_key(1, "worker_0"),
                                                       "run/" + smdebug::detail::locations::index_key(1, "worker_0")});
        CHECK(server.count() == 2);
        training.close();
        CHECK(puts(server).back() == "run/" + std::string{smdebug::detail::locations::end_of_job});
        CHECK(server.count(asks_for::remove) == 0);
        CHECK(server.wrong_signatures() == 0);
        CHECK_THROWS_AS((hook{place_on(server), saves_all(pool)}), run_exists);
    }
}

TEST_CASE("hook on S3: passing faults and answers that get lost cost nothing") {
    for (const std::size_t pool : pools) {
        const fake_s3 server;
        server.fail_by([](const http::request&, std::size_t number) {
            return number % 3 == 1 ? std::optional{s3_error(503, "SlowDown")} : std::nullopt;
        });
        server.lose([](const http::request&, std::size_t number) { return number % 7 == 2; });
        hook training{place_on(server), saves_all(pool)};
        for (int step = 0; step < 4; ++step) {
            save_step(training, step % 2 == 1);
            training.end_step();
        }
        training.close();
        CHECK(training.counters().steps == 4);
        CHECK(training.counters().lost_steps == 0);
        server.fail_by({});
        server.lose({});
        CHECK(whole_steps(server).size() == 4);
        CHECK(has_ended(server));
    }
}

TEST_CASE("hook on S3: a refused request loses one step, or the mark of the end, and is reported once") {
    for (const std::size_t pool : pools) {
        CAPTURE(pool);
        for (std::size_t refused = 0;; ++refused) {
            CAPTURE(refused);
            const fake_s3 server;
            bool has_failed = false;
            server.fail_by([&](const http::request& asked, std::size_t number) {
                // Not reported: discarding an upload, and listing others' unfinished uploads.  A refused HEAD is sent
                // again in another form.
                const bool lists_uploads =
                    asked.method == http::method::get && asked.url.find("uploads=") != std::string::npos;
                const bool fails = number == refused && !lists_uploads && asked.method != http::method::remove &&
                                   asked.method != http::method::head;
                has_failed = has_failed || fails;
                return fails ? std::optional{s3_error(403, "AccessDenied")} : std::nullopt;
            });
            int thrown = 0;
            const auto attempt = [&](auto&& call) {
                try {
                    call();
                } catch (const access_denied&) {
                    ++thrown;
                }
            };
            std::uint64_t lost = 0;
            bool begun = false;
            attempt([&] {
                hook training{place_on(server), saves_all(pool)};
                begun = true;
                for (int step = 0; step < 3; ++step) {
                    attempt([&] { save_step(training, step % 2 == 1); });
                    attempt([&] { training.end_step(); });
                }
                attempt([&] { training.close(); });
                lost = training.counters().lost_steps;
            });
            CHECK(thrown == (has_failed ? 1 : 0));
            CHECK(lost <= (has_failed ? 1U : 0U));
            CHECK(server.open_uploads() == 0);
            server.fail_by({});
            const bool was_last = refused >= server.count();
            CHECK(whole_steps(server).size() == (begun ? 3 - lost : 0));
            if (was_last) {
                CHECK(refused > 10);
                CHECK(has_ended(server));
                break;
            }
        }
    }
}

TEST_CASE("hook on S3: a server that redirects, or lists without end, is reported at once") {
    const fake_s3 server;
    for (const endless which : {endless::same_key, endless::no_keys, endless::two_tokens}) {
        server.forget_requests();
        server.fail_by([&](const http::request& ask, std::size_t number) {
            const bool lists = ask.url.find("list-type=2") != std::string::npos;
            return lists ? std::optional{endless_page(which, number, "run/index/")} : std::nullopt;
        });
        CHECK_THROWS_AS((hook{place_on(server), saves_all(0)}), unavailable);
        CHECK(server.count() <= 1000);
        CHECK_THROWS_AS((basic_trial{run_on(server)}), unavailable);
    }
    server.forget_requests();
    server.fail_by([&](const http::request&, std::size_t) {
        return std::optional{answer(307, {{"location", "http://elsewhere.test:8080/"}})};
    });
    CHECK_THROWS_AS((hook{place_on(server), saves_all(0)}), unsupported);
    CHECK_THROWS_AS((basic_trial{run_on(server)}), unsupported);
    for (const fake_request& asked : server.requests()) {
        CHECK(asked.url.starts_with("http://s3.test:8080/"));
    }
}

TEST_CASE("hook on S3: an interrupted run is gone on with, and what lies beyond is removed") {
    const fake_s3 server;
    try {
        hook training{place_on(server), saves_all(pools[1])};
        for (int step = 0; step < 3; ++step) {
            save_step(training, step % 2 == 1);
            training.end_step();
        }
        save_step(training, true);
        throw std::runtime_error("out of memory");
    } catch (const std::runtime_error&) {
    }
    CHECK_FALSE(has_ended(server));
    CHECK(server.open_uploads() == 0);
    server.put("run/" + smdebug::detail::locations::event_key(3, "worker_0"), "events without an index");
    hook_options options = saves_all(0);
    CHECK_THROWS_AS((hook{place_on(server), options}), run_exists);
    options.existing = existing_run::resume;
    options.init_step = 2;
    hook training{place_on(server), options};
    CHECK_FALSE(server.content("run/" + smdebug::detail::locations::event_key(3, "worker_0")));
    CHECK(whole_steps(server) == std::vector<step_number>{0, 1});
    for (int step = 2; step < 4; ++step) {
        save_step(training, step % 2 == 1);
        training.end_step();
    }
    training.close();
    CHECK(whole_steps(server).size() == 4);
    CHECK(has_ended(server));
}

TEST_CASE("hook on S3: what a worker that was killed had begun to send is given up by its next hook, and named") {
    const fake_s3 server;
    const store_type store = run_on(server);
    const auto begin = [&](const std::string& key) {
        static_cast<void>(
            s3::detail::perform_call(smdebug::s3::detail::client_of(store),
                                     {.method = http::method::post, .key = key, .query = {{"uploads", ""}}}));
    };
    const std::string own = smdebug::detail::locations::event_key(7, "worker_0");
    begin("run/" + own);
    begin("run/" + own);
    begin("run/" + smdebug::detail::locations::event_key(7, "worker_1"));  // which may be running
    begin("run/notes");
    begin("elsewhere/" + own);
    REQUIRE(server.open_uploads() == 5);
    hook training{place_on(server), saves_all(0)};
    CHECK(training.counters().removed_uploads == std::vector<std::string>{own});
    CHECK(server.open_uploads() == 3);
    save_step(training, false);
    training.end_step();
    training.close();
    // Who may not list uploads can write all the same.
    const fake_s3 strict;
    strict.fail_by([](const http::request& ask, std::size_t) {
        return ask.url.find("uploads=") != std::string::npos ? std::optional{s3_error(403, "AccessDenied")}
                                                             : std::nullopt;
    });
    hook other{place_on(strict), saves_all(0)};
    CHECK(other.counters().removed_uploads.empty());
    save_step(other, false);
    other.end_step();
    other.close();
    CHECK(has_ended(strict));
}

TEST_CASE("hook on S3: of several workers the last one marks the end, and no sign of any is left") {
    const fake_s3 server;
    std::vector<std::unique_ptr<hook>> workers;
    for (const char* name : {"worker_0", "worker_1", "worker_2"}) {
        hook_options options = saves_all(0);
        options.include_workers = include_workers::all;
        options.num_workers = 3;
        options.worker = name;
        workers.push_back(std::make_unique<hook>(place_on(server), options));
        CHECK(server.content("run/claim_" + options.worker + ".smd"));
    }
    for (const auto& worker : workers) {
        save_step(*worker, false);
        worker->end_step();
    }
    for (const std::size_t next : {1U, 2U, 0U}) {
        CHECK_FALSE(has_ended(server));
        workers[next]->close();
    }
    CHECK(has_ended(server));
    CHECK(run_on(server).list("claim", "").empty());
    CHECK(basic_trial{run_on(server)}.num_workers() == 3);
}
