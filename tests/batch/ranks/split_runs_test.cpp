#include <smdebug/batch/ranks/split_runs.hpp>
#include <smdebug/batch/row_spool.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smd = smdebug;
using smd::detail::split_runs;

namespace {

smd::run_result opened() {
    return {.run = {.place = 3, .path = "huge", .version = "new", .bytes = 99},
            .steps = 30,
            .workers = 2,
            .seconds = 1,
            .messages = {{.text = "a note"}},
            .parts = {{.begin = 0, .end = 10}, {.begin = 10, .end = 20}, {.begin = 20}}};
}

// A part's result: a row, of its first step.
smd::run_result done(const smd::batch_run& part) {
    auto rows = std::make_shared<smd::row_spool>();
    rows->add({.step = part.steps->begin.value_or(-1)});
    return {.run = part, .steps = 30, .seconds = 2, .reductions = std::move(rows)};
}

std::vector<smd::step_number> steps_of(smd::run_result& result) {
    std::vector<smd::step_number> steps;
    result.reductions->for_each([&](const smd::reduction_row& row) { steps.push_back(row.step); });
    return steps;
}

// A list's run that was opened, and its parts.
struct office {
    split_runs book;
    std::vector<smd::batch_run> parts = book.split({.place = 3, .path = "huge", .version = "old"}, opened());
};

}  // namespace

TEST_CASE("split_runs: parts have places of their own, and are of the version that was opened") {
    office with;
    REQUIRE(with.parts.size() == 3);
    const auto others = with.book.split({.place = 4}, opened());
    CHECK_FALSE(split_runs::is_part(3));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(split_runs::is_part(with.parts[i].place));
        CHECK(with.parts[i].place == split_runs::first_place + i);
        CHECK(others[i].place == split_runs::first_place + 3 + i);
        CHECK(with.parts[i].path == "huge");
        CHECK(with.parts[i].version == "new");
        CHECK_FALSE(with.parts[i].whole);
    }
    CHECK(with.parts[1].steps->begin == 10);
    CHECK(with.parts[1].steps->end == 20);
    CHECK_FALSE(with.parts[2].steps->end);
}

TEST_CASE("split_runs: whatever the order of the parts, joined they are what was opened, with the rows in order") {
    for (const std::vector<std::size_t>& order :
         {std::vector<std::size_t>{0, 1, 2}, std::vector<std::size_t>{2, 0, 1}, std::vector<std::size_t>{1, 2, 0}}) {
        office with;
        const auto others = with.book.split({.place = 4}, opened());
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK_FALSE(with.book.take(done(others[i == 0 ? 0 : 1])).joined);  // twice the same one
            auto next = with.book.take(done(with.parts[order[i]]));
            CHECK_FALSE(next.again);
            CHECK(next.useless.empty());
            REQUIRE(next.joined.has_value() == (i == 2));
            if (next.joined) {
                CHECK(next.joined->run.place == 3);
                CHECK(next.joined->run.version == "new");
                CHECK(next.joined->run.bytes == 99);
                CHECK(next.joined->steps == 30);
                CHECK(next.joined->seconds == 7);
                CHECK(next.joined->messages.size() == 1);
                CHECK(next.joined->parts.empty());
                CHECK(steps_of(*next.joined) == std::vector<smd::step_number>{0, 10, 20});
            }
        }
        CHECK_FALSE(with.book.take(done(with.parts[0])).joined);  // it is over
        CHECK(with.book.take(done(others[2])).joined);
    }
}

TEST_CASE("split_runs: a part that failed, has a message or no rows: the run is done whole, as the list has it") {
    for (int way = 0; way < 4; ++way) {
        CAPTURE(way);
        office with;
        CHECK_FALSE(with.book.take(done(with.parts[1])).again);
        smd::run_result bad = done(with.parts[0]);
        if (way == 0) {
            bad.state = smd::run_state::failed;
        } else if (way == 1) {
            bad.messages.push_back({.what = smd::run_message::kind::damage, .text = "damaged"});
        } else if (way == 2) {
            bad.reductions.reset();
        } else {
            bad.state = smd::run_state::growing;
        }
        auto next = with.book.take(std::move(bad));
        CHECK_FALSE(next.joined);
        REQUIRE(next.again);
        CHECK(next.again->place == 3);
        CHECK(next.again->version == "old");
        CHECK(next.again->whole);
        CHECK_FALSE(next.again->steps);
        CHECK(next.useless == std::vector<std::uint64_t>{with.parts[2].place});
        next = with.book.take(done(with.parts[2]));
        CHECK_FALSE(next.joined);
        CHECK_FALSE(next.again);
    }
}

TEST_CASE("split_runs: parts that only inform give what the run is then done with") {
    split_runs book;
    smd::run_result first = opened();
    first.parts_inform = true;
    const auto parts = book.split({.place = 3, .path = "huge", .version = "old"}, std::move(first));
    CHECK_FALSE(book.take(done(parts[2])).again);
    CHECK_FALSE(book.take(done(parts[0])).again);
    const auto next = book.take(done(parts[1]));
    CHECK_FALSE(next.joined);
    REQUIRE(next.again);
    CHECK(next.again->place == 3);
    CHECK(next.again->version == "old");
    CHECK(next.again->whole);
    CHECK(next.again->known_of == "new");
    REQUIRE(next.again->known);
    CHECK(next.again->known->size() == 3);
}

TEST_CASE("split_runs: a part that is given up is the end of its run, once") {
    office with;
    CHECK_FALSE(with.book.take(done(with.parts[1])).joined);
    std::vector<std::uint64_t> useless;
    const auto run = with.book.give_up(with.parts[2].place, useless);
    REQUIRE(run);
    CHECK(run->place == 3);
    CHECK(run->version == "old");
    CHECK(useless == std::vector<std::uint64_t>{with.parts[0].place, with.parts[2].place});
    CHECK_FALSE(with.book.give_up(with.parts[0].place, useless));
    CHECK_FALSE(with.book.give_up(split_runs::first_place + 3, useless));
}
