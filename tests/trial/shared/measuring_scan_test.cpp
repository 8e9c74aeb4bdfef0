#include <smdebug/trial/shared/measuring_scan.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/reals.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/for_each_tensor.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace smdebug;
using namespace smdebug_test;

namespace {

double first_of(const tensor_view& values) {
    double first = -1;
    for_each_real_block(values, [&](auto elements) {
        first = to_double(elements[0]);
        return false;
    });
    return first;
}

struct first_value {
    double operator()(const tensor_view& values) const { return first_of(values); }
    friend bool operator==(const first_value&, const first_value&) = default;
};
struct change {
    double operator()(const tensor_view& earlier, const tensor_view& now) const {
        return first_of(now) - first_of(earlier);
    }
    friend bool operator==(const change&, const change&) = default;
};
struct throws_at_three {
    double operator()(const tensor_view& values) const {
        return first_of(values) == 3 ? throw std::runtime_error{"three"} : 1.0;
    }
    friend bool operator==(const throws_at_three&, const throws_at_three&) = default;
};

/// Steps 0 to 5 of two workers; every third step is one of evaluation.  The value of "a" is its step, and 100 more of
/// worker_1.
memory_storage six_steps() {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number step = 0; step < 6; ++step) {
        for (const int worker : {0, 1}) {
            const auto value = static_cast<float>(step + 100 * worker);
            build.step({.step = step,
                        .tensors = {tensor_of<float>("a", {value, 1, 2}), tensor_of<float>("b", {-value})},
                        .mode = step % 3 == 2 ? mode::eval : mode::train,
                        .worker = "worker_" + std::to_string(worker)});
        }
    }
    build.end();
    return store;
}

detail::tensor_questions::numbered numbered(detail::measure_list& list, const auto& measure, auto compares) {
    const auto number = list.number_of(
        detail::typed_measure<std::remove_cvref_t<decltype(measure)>, decltype(compares)::value>{measure});
    return {*number, list[*number]};
}

}  // namespace

TEST_CASE("measuring_scan: reduces what is to be reduced, and asks measures about what they are for") {
    const memory_trial run(six_steps());
    detail::measure_list list;
    const auto first = numbered(list, first_value{}, std::false_type{});
    const auto found = detail::measuring_scan(
        run.state(), {1, 3}, {{"a", {.reductions = true, .measures = {first}}}, {"b", {.measures = {first}}}}, nullptr);
    REQUIRE(found.size() == 8);
    for (const detail::measured_tensor& each : found) {
        const double value = static_cast<double>(each.what.step) + (each.what.worker == "worker_1" ? 100 : 0);
        CHECK(each.what.reduced == (each.name == "a"));
        CHECK(each.what.found.computed.contains(reduction::sum) == (each.name == "a"));
        REQUIRE(each.what.answers.size() == 1);
        CHECK(each.what.answers[0].measure == first.number);
        CHECK(detail::unpacked<double>(each.what.answers[0].bytes) == (each.name == "a" ? value : -value));
    }
}

TEST_CASE("measuring_scan: compares each save with the worker's last one of the same mode, also over several scans") {
    const memory_trial run(six_steps());
    detail::measure_list list;
    const detail::questions_by_tensor asked{{"a", {.measures = {numbered(list, change{}, std::true_type{})}}}};
    detail::last_saves previous{1 << 20};
    std::vector<detail::measured_tensor> found;
    for (const step_range& range : {step_range{0, 2}, step_range{2, 3}, step_range{3, 6}}) {
        for (detail::measured_tensor& each : detail::measuring_scan(run.state(), range, asked, &previous)) {
            found.push_back(std::move(each));
        }
    }
    REQUIRE(found.size() == 12);
    const std::vector<step_number> earlier{-1, 0, -1, 1, 3, 2};
    for (const detail::measured_tensor& each : found) {
        const step_number before = earlier[static_cast<std::size_t>(each.what.step)];
        REQUIRE(each.what.answers.size() == (before < 0 ? 0 : 1));
        if (before >= 0) {
            CHECK(each.what.answers[0].earlier == before);
            CHECK(detail::unpacked<double>(each.what.answers[0].bytes) == static_cast<double>(each.what.step - before));
        }
    }
}

TEST_CASE("measuring_scan: a measure that throws has no answer there, and others have theirs") {
    const memory_trial run(six_steps());
    detail::measure_list list;
    const auto bad = numbered(list, throws_at_three{}, std::false_type{});
    const auto good = numbered(list, first_value{}, std::false_type{});
    for (const auto& each : detail::measuring_scan(run.state(), {}, {{"a", {.measures = {bad, good}}}}, nullptr)) {
        const bool threw = each.what.step == 3 && each.what.worker == "worker_0";
        CHECK(each.what.answers.size() == (threw ? 1 : 2));
        CHECK(each.what.answers.back().measure == good.number);
    }
}

TEST_CASE("measuring_scan: of large tensors in files, measured or not, the reductions are those of a scan") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections({"worker_0"}, {});
    std::vector<float> values(300'000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 1013) - 300;
    }
    for (step_number step = 0; step < 4; ++step) {
        values[0] = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", values, {300'000}), tensor_of<float>("b", values, {300'000})}});
    }
    build.end();
    const local_trial run{std::string{folder.path()}};
    detail::measure_list list;
    const auto first = numbered(list, first_value{}, std::false_type{});
    const detail::questions_by_tensor asked{{"a", {.reductions = true}},
                                            {"b", {.reductions = true, .measures = {first}}}};
    std::map<std::pair<std::string, step_number>, reduction_values> expected;
    for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& one) {
        expected[{std::string{one.name}, one.step}] = one.reductions;
    });
    detail::faster_way faster;
    for (const step_range& range : {step_range{0, 3}, step_range{3, 4}}) {
        for (const auto& each : detail::measuring_scan(run.state(), range, asked, nullptr, &faster)) {
            const reduction_values known = expected.at({each.name, each.what.step});
            expected.erase({each.name, each.what.step});
            CHECK(each.what.found.value == known.value);
            CHECK(each.what.found.count == 300'000);
            REQUIRE(each.what.answers.size() == (each.name == "b" ? 1 : 0));
            if (each.name == "b") {
                CHECK(detail::unpacked<double>(each.what.answers[0].bytes) == static_cast<double>(each.what.step));
            }
        }
    }
    CHECK(expected.empty());
}

TEST_CASE("last_saves: what has no room is not kept, and is not compared with") {
    detail::last_saves previous{16};
    const auto value = [](std::vector<float> values) {
        return tensor_value::copy_of<float>({values.size()}, std::span<const float>{values});
    };
    auto& a = previous.of("a", "w", mode::train);
    previous.replace(a, 1, value({1, 2, 3}));
    CHECK(a.step == 1);
    auto& b = previous.of("b", "w", mode::train);
    previous.replace(b, 1, value({1, 2}));
    CHECK(b.step == -1);
    previous.replace(a, 2, value({1}));
    previous.replace(b, 2, value({1, 2, 3}));
    CHECK(b.step == 2);
    CHECK(&previous.of("a", "w", mode::train) == &a);
    CHECK(&previous.of("a", "w", mode::eval) != &a);
    CHECK(&previous.of("a", "v", mode::train) != &a);
    previous.replace(a, 3, value({1, 2, 3, 4, 5}));
    CHECK(a.step == -1);
}

TEST_CASE("begun_scan: gives what the scan gives, and throws what it throws, begun now or when it is asked for") {
    for (const bool now : {true, false}) {
        CAPTURE(now);
        const auto here = std::this_thread::get_id();
        std::thread::id there;
        const detail::begun_scan scan{now, [&] {
                                          there = std::this_thread::get_id();
                                          std::vector<detail::measured_tensor> found(1);
                                          found.front().name = "a";
                                          return found;
                                      }};
        const auto found = scan.get();
        REQUIRE(found.size() == 1);
        CHECK(found.front().name == "a");
        CHECK((there != here) == now);
        const detail::begun_scan failing{
            now, []() -> std::vector<detail::measured_tensor> { throw std::runtime_error{"no"}; }};
        CHECK_THROWS_AS(static_cast<void>(failing.get()), std::runtime_error);
    }
    bool done = false;
    {
        const detail::begun_scan left{true, [&] {
                                          done = true;
                                          return std::vector<detail::measured_tensor>{};
                                      }};
    }
    CHECK(done);
}
