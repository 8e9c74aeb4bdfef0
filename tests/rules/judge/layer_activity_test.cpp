#include <smdebug/rules/judge/layer_activity.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/trial/lookup.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::rules::detail;
using namespace smdebug::rules;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// The part of a saved_tensor that a judge needs.
struct layer_tensor {
    tensor_value held;
    bool knows_shape = true;

    [[nodiscard]] lookup<double> reduction_value(reduction what) const {
        const auto found = scalar_kernel{}.reduce(held.view(), what);
        if (!found.ok() || !found->computed.contains(what)) {
            return lookup_failure_kind::wrong_dtype;
        }
        return (*found)(what);
    }
    [[nodiscard]] lookup<shape_type> shape() const {
        if (!knows_shape) {
            return lookup_failure_kind::shape_not_saved;
        }
        return held.shape();
    }
    [[nodiscard]] static finding met(double value, double threshold, std::string message) {
        return {.met = true, .value = value, .threshold = threshold, .message = std::move(message)};
    }
    [[nodiscard]] static finding note(std::string message) { return {.message = std::move(message)}; }
};

template <class T>
tensor_value value_of(const std::vector<T>& values, shape_type shape) {
    return tensor_value::copy_of<T>(std::move(shape), std::span{values});
}

// The condition, in the words of the specification.
template <class T>
double percent_inactive(const std::vector<T>& values, layer_size layer, const active_range& range, double threshold) {
    std::size_t inactive = 0;
    for (std::size_t node = 0; node < layer.nodes; ++node) {
        std::size_t active = 0;
        for (std::size_t sample = 0; sample < layer.samples; ++sample) {
            const double value = to_double(values[sample * layer.nodes + node]);
            active += value > range.above && (!range.below || value < *range.below) ? 1U : 0U;
        }
        inactive += 100 * static_cast<double>(active) / static_cast<double>(layer.samples) < threshold ? 1U : 0U;
    }
    return 100 * static_cast<double>(inactive) / static_cast<double>(layer.nodes);
}

template <class T>
T random_element(std::mt19937& random) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(random() % 5);
    } else {
        constexpr double edges[] = {0.0,  -0.0,  1.0,          -1.0,    2.0,      inf, -inf,
                                    1e-9, -1e-9, not_a_number, 65504.0, -65504.0, 3e38};
        const auto pick = random() % 26;
        return static_cast<T>(pick < 13 ? edges[pick] : static_cast<double>(random() % 2000) / 500 - 2);
    }
}

template <class T>
void check_against_the_wording() {
    std::mt19937 random{7};
    const layer_size layers[] = {{1, 1}, {1, 5}, {7, 1}, {3, 33}, {250, 3}, {40, 100}, {5, 1500}, {130, 70}, {64, 600}};
    const active_range ranges[] = {{0, std::nullopt}, {-0.0, std::nullopt}, {-1, 1},     {0, 0.5},     {-2, 0},
                                   {-2, -0.0},        {1e-9, 65504},        {-inf, inf}, {-1e-300, 1}, {-1, 1e-300},
                                   {-1e300, 1e300},   {-inf, -65504},       {3e38, inf}, {0.1, 1.9},   {1, 3}};
    for (const layer_size layer : layers) {
        for (const active_range& range : ranges) {
            std::vector<T> values(layer.samples * layer.nodes);
            for (T& each : values) {
                each = random_element<T>(random);
            }
            const double threshold = static_cast<double>(random() % 101);
            const double percent = percent_inactive(values, layer, range, threshold);
            CAPTURE(layer.samples);
            CAPTURE(layer.nodes);
            CAPTURE(range.above);
            CAPTURE(range.below.value_or(not_a_number));
            for (const double limit : {0.0, percent / 2, std::nextafter(percent, -inf), percent, 100.0}) {
                const layer_judge judge{range, {threshold, limit}, "dead"};
                const layer_tensor tensor{value_of(values, {layer.samples, layer.nodes})};
                const finding found = judge.by_count(tensor, judge.measure()(tensor.held));
                REQUIRE(found.met == (percent > limit));
                if (found.met) {
                    CHECK(found.value == percent);
                }
                if (const auto decided = judge.by_extrema(tensor)) {
                    REQUIRE(decided->met == found.met);
                    CHECK((!found.met || decided->value == found.value));
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("layer_size_of: axis 0 counts samples, unless it is the only one; without axes there is no layer") {
    const auto size_of_layer = [](const shape_type& extents) {
        const auto found = layer_size_of(extents);
        return found ? std::vector<std::size_t>{found->samples, found->nodes} : std::vector<std::size_t>{};
    };
    CHECK(size_of_layer({}).empty());
    CHECK(size_of_layer({4}) == std::vector<std::size_t>{1, 4});
    CHECK(size_of_layer({4, 2}) == std::vector<std::size_t>{4, 2});
    CHECK(size_of_layer({4, 2, 3}) == std::vector<std::size_t>{4, 6});
    CHECK(size_of_layer({0, 2}) == std::vector<std::size_t>{0, 2});
    CHECK(size_of_layer({4, 0}) == std::vector<std::size_t>{4, 0});
}

TEST_CASE("fewest_parts: finds the first percentage that is enough, by the same arithmetic") {
    for (std::size_t whole = 1; whole < 300; ++whole) {
        for (const double threshold : {-1.0, 0.0, 1.0, 33.3, 50.0, 99.9, 100.0, 101.0}) {
            std::size_t expected = 0;
            while (expected <= whole && !(percent_of(expected, whole) > threshold)) {
                ++expected;
            }
            CHECK(fewest_parts(whole, [&](double percent) { return percent > threshold; }) == expected);
        }
    }
}

TEST_CASE("layer_judge: says what the wording of the condition says, for every dtype, and early where it stops early") {
    check_against_the_wording<float>();
    check_against_the_wording<double>();
    check_against_the_wording<float16>();
    check_against_the_wording<bfloat16>();
    check_against_the_wording<std::int8_t>();
    check_against_the_wording<std::uint8_t>();
    check_against_the_wording<std::int32_t>();
    check_against_the_wording<std::int64_t>();
}

TEST_CASE("layer_judge: a layer without axes, values or reals is not judged") {
    const layer_judge judge{};
    const layer_tensor scalar{value_of<float>({-1}, {})};
    CHECK_FALSE(judge.by_count(scalar, judge.measure()(scalar.held)).met);
    REQUIRE(judge.by_extrema(scalar));
    CHECK_FALSE(judge.by_extrema(scalar)->met);
    const layer_tensor reduced{value_of<float>({-1}, {}), false};  // it is not known to be a scalar
    CHECK(judge.by_extrema(reduced)->met);
    const layer_tensor empty{value_of<float>({}, {0, 3})};
    CHECK_FALSE(judge.by_extrema(empty));
    CHECK_FALSE(judge.by_count(empty, judge.measure()(empty.held)).met);
    const layer_tensor complex{value_of<std::complex<float>>({{-1, 0}}, {1})};
    CHECK_FALSE(judge.by_extrema(complex)->met);
    CHECK_FALSE(judge.by_count(complex, judge.measure()(complex.held)).met);
    const std::vector<std::string_view> texts{"a"};
    const layer_tensor text{tensor_value::of_strings({1}, texts)};
    CHECK_FALSE(judge.by_count(text, judge.measure()(text.held)).met);
}

TEST_CASE("layer_judge: its extrema decide nothing that thresholds beyond all percentages turn around") {
    const layer_tensor alive{value_of<float>({1, 2}, {1, 2})};
    const layer_tensor dead{value_of<float>({-1, 0}, {1, 2})};
    for (const double inactivity : {-1.0, 0.0, 1.0, 100.0, 101.0}) {
        for (const double layer : {-1.0, 0.0, 50.0, 100.0, 101.0}) {
            const layer_judge judge{{}, {inactivity, layer}, "dead"};
            for (const layer_tensor* tensor : {&alive, &dead}) {
                if (const auto decided = judge.by_extrema(*tensor)) {
                    CHECK(decided->met == judge.by_count(*tensor, judge.measure()(tensor->held)).met);
                }
            }
        }
    }
}

TEST_CASE("layer_judge: says how many nodes, of how many, in words") {
    const layer_judge judge{{}, {}, "dead"};
    const layer_tensor tensor{value_of<float>({0, 0, 1, 0, 0, 1}, {2, 3})};
    CHECK(judge.by_count(tensor, judge.measure()(tensor.held)).message ==
          "2 of 3 nodes (66.6667%) are dead, more than 50%: active in less than 1% of 2 samples");
    const layer_tensor none{value_of<float>({0, 0}, {1, 2})};
    CHECK(judge.by_extrema(none)->message == "no value is active: all nodes are dead, more than 50%");
}

TEST_CASE("activity_thresholds: are percentages") {
    CHECK_NOTHROW(activity_thresholds{}.check("rule"));
    CHECK_NOTHROW(activity_thresholds{0, 100}.check("rule"));
    CHECK_THROWS_AS((activity_thresholds{-1, 50}.check("rule")), value_error);
    CHECK_THROWS_AS((activity_thresholds{1, 100.5}.check("rule")), value_error);
    CHECK_THROWS_AS((activity_thresholds{not_a_number, 50}.check("rule")), value_error);
}
