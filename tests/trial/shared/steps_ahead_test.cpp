#include <smdebug/trial/shared/steps_ahead.hpp>

#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include "support/test.hpp"

using namespace smdebug;
using detail::known_save;
using detail::questions_by_tensor;
using detail::steps_ahead;

namespace {

struct measured {
    double operator()(const tensor_view&) const { return 1; }
    friend bool operator==(const measured&, const measured&) = default;
};
struct compared {
    double operator()(const tensor_view&, const tensor_view&) const { return 1; }
    friend bool operator==(const compared&, const compared&) = default;
};
const detail::typed_measure<measured, false> alone{measured{}};
const detail::typed_measure<compared, true> with_earlier{compared{}};

questions_by_tensor asked_for(std::string_view name, std::vector<const detail::any_measure*> measures = {}) {
    return {{name, {.reductions = true, .measures = std::move(measures)}}};
}

/// A scan as it was requested.
struct request {
    step_range range;
    questions_by_tensor asked;
    bool compared = false;
};

/// Finds a save of "worker" for each step, and records what was requested.
class recorder {
public:
    [[nodiscard]] steps_ahead::scan scan() {
        return [this](const step_range& range, const questions_by_tensor& asked, bool is_compared,
                      std::vector<known_save>& found) {
            {
                const std::lock_guard lock{guard_};
                all_.push_back({range, asked, is_compared});
            }
            if (range.contains(fails_at)) {
                throw std::runtime_error{"no such step"};
            }
            for (step_number step = *range.begin; step < *range.end; ++step) {
                found.push_back({.step = step, .worker = "worker"});
            }
        };
    }
    [[nodiscard]] std::vector<request> all() {
        const std::lock_guard lock{guard_};
        return all_;
    }
    step_number fails_at = -1;

private:
    std::mutex guard_;
    std::vector<request> all_;
};

std::vector<step_number> first_steps(std::size_t count) {
    std::vector<step_number> steps(count);
    std::iota(steps.begin(), steps.end(), 0);
    return steps;
}

/// Takes what is due; returns the steps that were found.
std::vector<step_number> found_next(steps_ahead& ahead, std::vector<step_number>& covered) {
    std::vector<step_number> steps;
    covered = ahead.take([&](std::vector<known_save>& found) {
        for (const known_save& one : found) {
            steps.push_back(one.step);
        }
    });
    return steps;
}

}  // namespace

TEST_CASE("steps_ahead: each step once and in order, on no thread, one, and several") {
    for (const unsigned threads : {0U, 1U, 3U}) {
        CAPTURE(threads);
        recorder scans;
        steps_ahead ahead{first_steps(10), 4, threads, {}, asked_for("a"), scans.scan()};
        std::vector<step_number> found;
        std::vector<step_number> covered;
        CHECK(ahead.has(0));
        for (step_number due = 0; !ahead.is_used_up(); due += 4) {
            CHECK_FALSE(ahead.has(due - 1));
            CHECK(ahead.has(due));
            const std::vector<step_number> some = found_next(ahead, covered);
            CHECK(some == covered);
            found.insert(found.end(), some.begin(), some.end());
        }
        CHECK(found == first_steps(10));
        CHECK_FALSE(ahead.has(100));
        CHECK(ahead.stop() == 9);
    }
}

TEST_CASE("steps_ahead: later scans have the newest questions") {
    recorder scans;
    steps_ahead ahead{first_steps(4), 2, 0, {}, asked_for("a"), scans.scan()};
    std::vector<step_number> covered;
    static_cast<void>(found_next(ahead, covered));
    ahead.ask(asked_for("b"));
    static_cast<void>(found_next(ahead, covered));
    const auto all = scans.all();
    REQUIRE(all.size() == 2);
    CHECK(all[0].asked.contains("a"));
    CHECK(all[0].compared);
    CHECK(all[1].asked.contains("b"));
    CHECK_FALSE(all[1].asked.contains("a"));
}

TEST_CASE("steps_ahead: with several threads one of them compares, in order, and the others do the rest") {
    recorder scans;
    {
        steps_ahead ahead{first_steps(12), 2, 3, {}, asked_for("a", {&alone, &with_earlier}), scans.scan()};
        std::vector<step_number> covered;
        while (!ahead.is_used_up()) {
            CHECK(found_next(ahead, covered).size() == 4);  // by both scans
        }
    }
    step_number next = 0;
    std::size_t others = 0;
    for (const request& each : scans.all()) {
        const auto& about = each.asked.at("a");
        REQUIRE(about.measures.size() == 1);
        CHECK(about.measures[0] == (each.compared ? static_cast<const detail::any_measure*>(&with_earlier) : &alone));
        CHECK(about.reductions != each.compared);
        if (each.compared) {
            CHECK(each.range.begin == next);
            next = *each.range.end;
        } else {
            ++others;
        }
    }
    CHECK(next == 12);
    CHECK(others == 6);
}

TEST_CASE("steps_ahead: a scan that fails has found nothing, and the next ones have") {
    for (const unsigned threads : {0U, 2U}) {
        recorder scans;
        scans.fails_at = 3;
        steps_ahead ahead{first_steps(6), 2, threads, {}, asked_for("a"), scans.scan()};
        std::vector<step_number> covered;
        CHECK(found_next(ahead, covered).size() == 2);
        CHECK(found_next(ahead, covered).empty());
        CHECK(covered == std::vector<step_number>{2, 3});
        CHECK(found_next(ahead, covered).size() == 2);
    }
}

TEST_CASE("steps_ahead: reaches few steps at a time, and returns threads that were lent") {
    const auto budget = std::make_shared<thread_budget>(1);
    recorder scans;
    {
        std::vector<thread_permit> lent;
        lent.push_back(budget->try_acquire());
        steps_ahead ahead{first_steps(1000), 4, 1, std::move(lent), asked_for("a"), scans.scan()};
        CHECK_FALSE(budget->try_acquire());
        CHECK(ahead.reaches(0));
        CHECK(ahead.reaches(16));
        CHECK_FALSE(ahead.reaches(17));
        std::vector<step_number> covered;
        static_cast<void>(found_next(ahead, covered));
        CHECK(ahead.reaches(17));
        const std::optional<step_number> last = ahead.stop();
        REQUIRE(last);
        CHECK(*last >= 3);
        CHECK(*last < 20);
        CHECK(scans.all().back().range.end == *last + 1);
    }
    CHECK(budget->try_acquire());
}
