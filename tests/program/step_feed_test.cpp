#include <program/step_feed.hpp>

#include "program/captured.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using steps = std::vector<step_number>;

namespace {

// A run on disk, and a trial of it.
struct growing_run {
    explicit growing_run(const std::vector<std::string>& workers = {"worker_0"}) { build.collections(workers); }

    void write(step_number step, const std::string& worker = "worker_0") {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1, 2})}, .worker = worker});
    }
    [[nodiscard]] local_trial open() const { return local_trial{folder.path()}; }

    temporary_folder folder;
    local_storage store{folder.path()};
    run_builder<local_storage> build{store};
};

}  // namespace

TEST_CASE("step_feed: a run that has ended: its steps, a few at a time, then the end") {
    growing_run run;
    for (step_number step = 0; step < 5; ++step) {
        run.write(10 * step);
    }
    run.build.end();
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {.most = 2}};
    CHECK(feed.next() == steps{0, 10});
    CHECK(feed.next() == steps{20, 30});
    CHECK(feed.next() == steps{40});
    CHECK(feed.next().empty());
    CHECK(feed.next().empty());
    CHECK(feed.end() == cli::detail::follow_end::ended);
    CHECK(feed.count() == 5);
}

TEST_CASE("step_feed: waits for the next step; a late step is handed out once, and alone") {
    growing_run run;
    run.write(2);
    run.write(4);
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {}};
    CHECK(feed.next() == steps{2, 4});
    {
        const std::jthread writer{[&] { run.write(6); }};
        CHECK(feed.next() == steps{6});
    }
    run.write(1);
    run.write(3);
    run.write(8);
    run.build.end();
    CHECK(feed.next() == steps{1});
    CHECK(feed.next() == steps{3});
    CHECK(feed.next() == steps{8});
    CHECK(feed.next().empty());
    CHECK(feed.count() == 6);
}

TEST_CASE("step_feed: a step that is written again, or that another worker adds to, is handed out again") {
    growing_run run;
    for (step_number step = 0; step < 4; ++step) {
        run.write(step);
    }
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {}};
    CHECK(feed.next() == steps{0, 1, 2, 3});
    CHECK_FALSE(feed.went_back());
    run.write(1, "worker_1");
    opened.refresh();
    CHECK(feed.next() == steps{1});
    CHECK(feed.went_back());
    CHECK_FALSE(feed.rewritten().has_value());
    run.build.step({.step = 2, .tensors = {tensor_of<float>("other", {1, 2, 3})}});
    std::filesystem::last_write_time(run.folder.path() + "/" + smdebug::detail::locations::index_key(2, "worker_0"),
                                     std::filesystem::file_time_type::clock::now() + 5s);
    run.build.end();
    opened.refresh();
    CHECK(feed.next() == steps{2});
    CHECK(feed.went_back());
    CHECK(feed.rewritten() == std::pair{step_number{2}, step_number{2}});
    feed.start_over();
    CHECK(feed.next() == steps{0, 1, 2, 3});
    CHECK_FALSE(feed.went_back());
    CHECK(feed.next().empty());
    CHECK(feed.end() == cli::detail::follow_end::ended);
}

TEST_CASE("step_feed: the last step, which was gone while it was written again, is handed out again") {
    growing_run run;
    for (step_number step = 0; step < 3; ++step) {
        run.write(step);
    }
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {}};
    CHECK(feed.next() == steps{0, 1, 2});
    const std::string index = smdebug::detail::locations::index_key(2, "worker_0");
    const auto written = [&](const std::string& text, std::chrono::seconds later, std::size_t seen) {
        run.folder.write(index, text);
        std::filesystem::last_write_time(run.folder.path() + "/" + index,
                                         std::filesystem::file_time_type::clock::now() + later);
        for (int i = 0; i < 1000 && opened.steps().size() != seen; ++i) {
            std::this_thread::sleep_for(5ms);
            opened.refresh();
        }
        return opened.steps().size();
    };
    const std::string whole{as_text(run.store.read(index).view())};
    REQUIRE(written(whole.substr(0, whole.size() / 2), 5s, 2) == 2);
    CHECK(feed.next(std::chrono::steady_clock::now() + 5ms).empty());
    REQUIRE(written(whole, 10s, 3) == 3);
    CHECK(feed.next(std::chrono::steady_clock::now() + 10s) == steps{2});
    CHECK(feed.went_back());
}

TEST_CASE("step_feed: a caller may come back before there is anything to hand out") {
    growing_run run;
    run.write(0);
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {}};
    CHECK(feed.next() == steps{0});
    CHECK(feed.next(std::chrono::steady_clock::now() + 5ms).empty());
    CHECK_FALSE(feed.end().has_value());
    run.write(1);
    CHECK(feed.next() == steps{1});
}

TEST_CASE("step_feed: a step of a worker that others have not written is not complete before the job ends") {
    growing_run run{{"worker_0", "worker_1"}};
    run.write(0, "worker_0");
    run.write(0, "worker_1");
    run.write(1, "worker_0");
    const local_trial opened = run.open();
    cli::detail::step_feed feed{opened, {.give_up_after = 1ms}};
    CHECK(feed.next() == steps{0});
    CHECK(feed.next().empty());
    CHECK(feed.end() == cli::detail::follow_end::stalled);
    run.write(2, "worker_1");
    run.build.end();
    CHECK(feed.next() == steps{1, 2});
    CHECK(feed.next().empty());
    CHECK(feed.end() == cli::detail::follow_end::ended);
}

TEST_CASE("step_feed: many steps in small pieces, others between them and behind them meanwhile: each once") {
    growing_run run;
    for (step_number step = 0; step < 40; step += 2) {
        run.write(step);
    }
    const local_trial trial = run.open();
    cli::detail::step_feed feed{trial, {.most = 3}};
    std::vector<step_number> all;
    for (int round = 0; round < 40 && all.size() < 26; ++round) {
        const auto more = feed.next();
        REQUIRE_FALSE(more.empty());
        CHECK(more.size() <= 3);
        all.insert(all.end(), more.begin(), more.end());
        if (round == 2) {
            run.write(1);
            run.write(3);
            run.write(41);
            trial.refresh();
        }
        if (round == 5) {
            run.write(7);
            run.write(43);
            run.write(45);
            trial.refresh();
        }
    }
    CHECK(feed.count() == 26);
    std::sort(all.begin(), all.end());
    CHECK(all == trial.steps());
}

TEST_CASE("step_feed: from a step on, up to, not including, another") {
    growing_run run;
    for (step_number step = 0; step < 5; ++step) {
        run.write(step);
    }
    const local_trial opened = run.open();
    cli::detail::step_feed inside{opened, {.start = 1, .end = 3}};
    CHECK(inside.next() == steps{1, 2});
    CHECK(inside.next().empty());
    CHECK(inside.end() == cli::detail::follow_end::end_step);
    cli::detail::step_feed all{opened, {.start = 3, .end = 5}};  // there is no step that is not below the end
    CHECK(all.next() == steps{3, 4});
    CHECK(all.next().empty());
    CHECK(all.end() == cli::detail::follow_end::end_step);
    cli::detail::step_feed beyond{opened, {.start = 5, .end = 7, .give_up_after = 1ms}};
    CHECK(beyond.next().empty());
    CHECK(beyond.end() == cli::detail::follow_end::stalled);
}

TEST_CASE("step_feed: a stop ends a wait, and takes precedence over steps") {
    growing_run run;
    run.write(0);
    const local_trial opened = run.open();
    std::stop_source stop;
    cli::detail::step_feed feed{opened, {.stop = stop.get_token()}};
    CHECK(feed.next() == steps{0});
    const std::jthread stopper{[&] { stop.request_stop(); }};
    CHECK(feed.next().empty());
    CHECK(feed.end() == cli::detail::follow_end::interrupted);
    cli::detail::step_feed late{opened, {.stop = stop.get_token()}};
    CHECK(late.next().empty());
}

TEST_CASE("step_feed: calls while there is nothing to hand out; that changes neither steps nor the end") {
    growing_run run;
    run.write(0);
    const local_trial opened = run.open();
    int calls = 0;
    cli::detail::feed_options how{.idle_interval = 1ms};
    how.idle = [&] {
        ++calls;
        if (calls == 2) {
            run.write(7);
        } else if (calls == 4) {
            run.build.end();
        }
    };
    cli::detail::step_feed feed{opened, how};
    CHECK(feed.next() == steps{0});
    CHECK(calls == 0);
    CHECK(feed.next() == steps{7});
    CHECK(calls >= 2);
    CHECK(feed.next().empty());
    CHECK(calls >= 4);
    CHECK(feed.end() == cli::detail::follow_end::ended);
}

TEST_CASE("step_feed: a run is given up on time, and a stop is noticed, however many calls there were meanwhile") {
    growing_run run;
    run.write(0);
    const local_trial opened = run.open();
    cli::detail::feed_options how{.start = 1, .give_up_after = 30ms, .idle_interval = 1ms};
    int calls = 0;
    how.idle = [&] { ++calls; };
    cli::detail::step_feed given_up{opened, how};
    CHECK(given_up.next().empty());
    CHECK(given_up.end() == cli::detail::follow_end::stalled);
    std::stop_source stop;
    cli::detail::step_feed stopped{
        opened, {.start = 1, .stop = stop.get_token(), .idle = [&] { stop.request_stop(); }, .idle_interval = 1ms}};
    CHECK(stopped.next().empty());
    CHECK(stopped.end() == cli::detail::follow_end::interrupted);
}

TEST_CASE("follow_end: each has a word") {
    using cli::detail::follow_end;
    for (const auto& [end, word] :
         {std::pair{follow_end::ended, "ended"}, std::pair{follow_end::end_step, "running"},
          std::pair{follow_end::stalled, "stalled"}, std::pair{follow_end::interrupted, "interrupted"},
          std::pair{follow_end::not_started, "not started"}, std::pair{follow_end::failed, "failed"}}) {
        CHECK(cli::detail::name_of(end) == word);
    }
}

TEST_CASE("step_feed: a run that is replaced ends it, before steps are handed out and while it waits") {
    growing_run run;
    run.write(2);
    const local_trial opened = run.open();
    bool is_replaced = true;
    cli::detail::step_feed at_once{opened, {.is_replaced = [&] { return is_replaced; }}};
    CHECK(at_once.next().empty());
    CHECK(at_once.end() == cli::detail::follow_end::replaced);
    int asked = 0;
    cli::detail::step_feed later{
        opened, {.idle_interval = std::chrono::milliseconds{1}, .is_replaced = [&] { return ++asked > 3; }}};
    CHECK(later.next() == steps{2});
    CHECK(later.next().empty());
    CHECK(later.end() == cli::detail::follow_end::replaced);
}
