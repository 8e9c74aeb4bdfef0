#include <smdebug/learn/facts/series.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::learn;

namespace {

/// A series of one run: a number at each of some mode steps.
number_series series_of(run_place run, const std::vector<std::pair<step_number, double>>& numbers) {
    number_series one{.runs = 1};
    for (const auto& [step, value] : numbers) {
        window_facts window{.window = window_of(step), .runs = 1};
        window.low.push_back({value, run});
        window.high.push_back({value, run});
        one.windows.push_back(window);
    }
    return one;
}

number_series at_step_0(const std::vector<double>& values) {
    number_series all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        all = joined(all, series_of(static_cast<run_place>(i), {{0, values[i]}}));
    }
    return all;
}

std::vector<run_place> suspects_in(number_series& series, number which) {
    std::vector<run_place> found;
    find_margins(series, which, found);
    return found;
}

std::vector<double> numbers_in(const extremes& some) {
    std::vector<double> all;
    for (const extreme& each : some) {
        all.push_back(each.number);
    }
    return all;
}
std::vector<run_place> runs_in(const extremes& some) {
    std::vector<run_place> all;
    for (const extreme& each : some) {
        all.push_back(each.run);
    }
    return all;
}

}  // namespace

TEST_CASE("learned series: the three least and greatest, ties by run") {
    const number_series all = at_step_0({4, 1, 3, 1, 5, 5});
    REQUIRE(all.windows.size() == 1);
    const window_facts window = all.windows[0];
    CHECK(window.runs == 6);
    CHECK(numbers_in(window.low) == std::vector<double>{1, 1, 3});
    CHECK(runs_in(window.low) == std::vector<run_place>{1, 3, 2});
    CHECK(numbers_in(window.high) == std::vector<double>{5, 5, 4});
    CHECK(runs_in(window.high) == std::vector<run_place>{4, 5, 0});
    CHECK(window.low.has(3));
    CHECK_FALSE(window.low.has(0));
    CHECK(runs_in(window.low.without(1)) == std::vector<run_place>{3, 2});
    CHECK(window.low.first_but(1)->run == 3);
    CHECK(window.low.first_but(0)->run == 1);
    CHECK(extremes{}.first_but(0) == nullptr);
}

TEST_CASE("learned series: windows are joined in any order") {
    const number_series a = series_of(0, {{0, 1}, {10, 2}});
    const number_series b = series_of(1, {{10, 3}, {12, 4}});
    const number_series both = joined(a, b);
    REQUIRE(both.windows.size() == 3);
    CHECK(both.runs == 2);
    CHECK(both.windows.runs_at(0) == 1);
    CHECK(both.windows.runs_at(1) == 2);
    CHECK(numbers_in(both.windows[1].low) == std::vector<double>{2, 3});
    CHECK(numbers_in(joined(b, a).windows[1].low) == std::vector<double>{2, 3});
    number_series moved = both;
    moved.windows.renumber(std::vector<run_place>{5, 9});
    CHECK(runs_in(moved.windows[1].low) == std::vector<run_place>{5, 9});
}

TEST_CASE("learned series: what is written by hand stays, the greater one of two") {
    number_series a = series_of(0, {{0, 1}});
    number_series b = series_of(1, {{0, 1}});
    CHECK_FALSE(joined(a, b).widen.has_value());
    a.widen = 0.5;
    CHECK(joined(a, b).widen == 0.5);
    b.widen = 3;
    CHECK(joined(a, b).widen == 3);
    CHECK(joined(b, a).widen == 3);
}

TEST_CASE("learned series: margins, the examples of the specification") {
    std::vector<double> values;
    for (int i = 0; i < 8; ++i) {
        values.push_back(5 * (1 + i / 16.0));
    }
    number_series eight = at_step_0(values);
    CHECK(suspects_in(eight, number::l2).empty());
    CHECK(eight.down == 0.8);
    CHECK(eight.up == 0.4);
    number_series two = at_step_0({1, 1.25});
    CHECK(suspects_in(two, number::value).empty());  // of two, one is left: no envelope
    CHECK(two.down == 1.6);
    CHECK(two.up == 3.2);
    number_series one = at_step_0({1});
    CHECK(suspects_in(one, number::value).empty());
    CHECK_FALSE(one.down.has_value());
    CHECK_FALSE(one.up.has_value());
    number_series from_zero = at_step_0({0, 1, 1});
    CHECK(suspects_in(from_zero, number::l2) == std::vector<run_place>{0});  // without it, the others are alike
    CHECK_FALSE(from_zero.down.has_value());
    CHECK(from_zero.up == 0.4);
    number_series apart = joined(series_of(0, {{0, 1}}), series_of(1, {{9, 1}}));
    CHECK(suspects_in(apart, number::l2).empty());
    CHECK_FALSE(apart.down.has_value());
    CHECK_FALSE(apart.up.has_value());
}

TEST_CASE("learned series: twenty runs need one rung less") {
    std::vector<double> values(19, 10.0);
    number_series less = at_step_0(values);
    CHECK(suspects_in(less, number::l2).empty());
    CHECK(less.up == 0.4);
    values.push_back(10);
    number_series enough = at_step_0(values);
    CHECK(suspects_in(enough, number::l2).empty());
    CHECK(enough.up == 0.2);
}

TEST_CASE("learned series: suspects are exact with three numbers of many") {
    std::mt19937 dice(5);
    for (int round = 0; round < 300; ++round) {
        const std::size_t runs = 2 + dice() % 7;
        std::vector<std::vector<std::pair<step_number, double>>> numbers(runs);
        for (auto& each : numbers) {
            for (step_number step = 0; step < 4; ++step) {
                if (dice() % 4 != 0) {
                    const double odd = dice() % 8 == 0 ? 4.0 : 1.0;
                    each.emplace_back(step, odd * (1 + static_cast<double>(dice() % 10) / 20));
                }
            }
        }
        const auto learned_without = [&](std::size_t left_out) {
            number_series all;
            for (std::size_t i = 0; i < runs; ++i) {
                if (i != left_out && !numbers[i].empty()) {
                    all = joined(all, series_of(static_cast<run_place>(i), numbers[i]));
                }
            }
            return all;
        };
        std::vector<run_place> expected;
        for (std::size_t i = 0; i < runs; ++i) {
            number_series others = learned_without(i);
            static_cast<void>(suspects_in(others, number::l2));
            bool alarms = false;
            for (const auto& [step, value] : numbers[i]) {
                for (std::size_t at = 0; at < others.windows.size(); ++at) {
                    const window_facts window = others.windows[at];
                    if (window.window != window_of(step) || window.runs < 2 || 2 * window.runs < others.runs) {
                        continue;
                    }
                    const number_range healthy{window.low[0].number, window.high[0].number};
                    alarms = alarms ||
                             (others.down && value < lower_bound(number_class::ratio, healthy, *others.down)) ||
                             (others.up && value > upper_bound(number_class::ratio, healthy, *others.up));
                }
            }
            if (alarms) {
                expected.push_back(static_cast<run_place>(i));
            }
        }
        number_series all = learned_without(runs);
        if (all.runs == runs) {  // without a run that the series lacks nothing changes
            CHECK(suspects_in(all, number::l2) == expected);
        }
    }
}

TEST_CASE("learned series: the healthy range at a step") {
    number_series all;
    for (run_place run = 0; run < 2; ++run) {
        std::vector<std::pair<step_number, double>> numbers;
        for (step_number step = 0; step <= 70; step += 10) {
            numbers.emplace_back(step, static_cast<double>(step + run));
        }
        std::vector<std::pair<step_number, double>> by_window;
        for (const auto& each : numbers) {  // 40 is alone in its window, and so are the others
            by_window.push_back(each);
        }
        all = joined(all, series_of(run, by_window));
    }
    const auto between = all.healthy_at(15);
    REQUIRE(between.has_value());
    CHECK(between->range.least == 10);
    CHECK(between->range.greatest == 21);
    CHECK(between->first_step == 10);
    CHECK(between->last_step == 23);
    REQUIRE(all.healthy_at(79).has_value());
    CHECK(all.healthy_at(79)->range.least == 70);
    CHECK(all.healthy_at(79)->runs == 2);
    CHECK_FALSE(all.healthy_at(80).has_value());
    CHECK(all.healthy_at(0)->range.greatest == 1);
    all.runs = 5;  // two of five are not half
    CHECK_FALSE(all.healthy_at(15).has_value());
    CHECK_FALSE(series_of(0, {{0, 1}}).healthy_at(0).has_value());
    CHECK_FALSE(number_series{}.healthy_at(0).has_value());
}

TEST_CASE("learned series: numbers out of order are in order when they are joined") {
    extremes edited;
    edited.push_back({2.5, 0});
    edited.push_back({2, 1});
    CHECK(numbers_in(joined_low(edited, {})) == std::vector<double>{2, 2.5});
    CHECK(numbers_in(joined_high(edited, {})) == std::vector<double>{2.5, 2});
}

TEST_CASE("learned windows: where they begin") {
    std::vector<step_number> begins;
    for (step_number step = 0; step <= 64; ++step) {
        if (window_from(step)) {
            begins.push_back(step);
        }
    }
    CHECK(begins ==
          std::vector<step_number>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64});
    CHECK_FALSE(window_from(-1).has_value());
    CHECK_FALSE(window_from(385).has_value());
    CHECK(first_step_of(window_of(400)) == 384);
    CHECK(last_step_of(window_of(400)) == 447);
    CHECK(window_of(999'999) < 80);
}

TEST_CASE("learned windows: each step is in one, by the text of the specification") {
    for (step_number step = 0; step < 5000; ++step) {
        step_number begin = step;
        if (step >= 4) {
            step_number octave = 1;  // 2^(e - 2)
            while (octave * 8 <= step) {
                octave *= 2;
            }
            begin = step - step % octave;
        }
        const window_number window = window_of(step);
        CHECK(first_step_of(window) == begin);
        CHECK(last_step_of(window) >= step);
        CHECK(window_of(last_step_of(window)) == window);
        CHECK(window_of(last_step_of(window) + 1) == window + 1);
        CHECK(window_from(begin) == window);
    }
    const step_number far = step_number{1} << 62;
    CHECK(first_step_of(window_of(far)) == far);
    CHECK(window_of(far + 1) == window_of(far));
    CHECK(last_step_of(last_window) == std::numeric_limits<step_number>::max());
}
