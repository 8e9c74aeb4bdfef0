#include <smdebug/rules/judge/closeness.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using reduce::detail::tolerance;
using rules::detail::likeness;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
tensor_value values_of(const std::vector<T>& values) {
    return tensor_value::copy_of<T>({values.size()}, std::span<const T>{values});
}

bool close(std::vector<double> a, std::vector<double> b, const tolerance& within = {}) {
    return reduce::detail::allclose(values_of(a), values_of(b), within);
}

}  // namespace

TEST_CASE("closeness: extrema never prove a difference between tensors that are close, be they rounded to float32") {
    std::mt19937 random{11};
    const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    std::size_t proven = 0;
    for (int round = 0; round < 4000; ++round) {
        const tolerance within{.rtol = round % 2 == 0 ? 1e-5 : 1e-9, .atol = round % 3 == 0 ? 0 : 1e-8};
        std::vector<double> a(8);
        std::vector<double> b(8);
        for (std::size_t i = 0; i < a.size(); ++i) {
            b[i] = std::normal_distribution<double>{0, 1}(random);
            const double far = round % 5 == 0 ? 4 : 1;
            a[i] = b[i] + far * std::uniform_real_distribution<double>{-1, 1}(random)*within.allowed(b[i]);
        }
        double max_a = -inf;
        double max_b = -inf;
        double abs_b = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            max_a = std::max(max_a, a[i]);
            max_b = std::max(max_b, b[i]);
            abs_b = std::max(abs_b, std::abs(b[i]));
        }
        if (rules::detail::extrema_differ(rounded(max_a), rounded(max_b), rounded(abs_b), within)) {
            ++proven;
            CHECK_FALSE(close(a, b, within));
        }
    }
    CHECK(proven > 0);
    CHECK(rules::detail::extrema_differ(1, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(not_a_number, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(1, 2, not_a_number, {}));
    CHECK(rules::detail::extrema_differ(inf, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(inf, 1e300, 1e300, {}));  // float32 holds neither
}

TEST_CASE("closeness: saved tensors are compared by reductions first, then by values") {
    const auto compare_in = [](const trial& run, const std::string& a, const std::string& b) {
        const auto of_a = run.tensor(a);
        const auto of_b = run.tensor(b);
        const std::string worker = "worker_0";
        return rules::detail::compare_saved(rules::detail::saved_tensor{of_a, a, 0, worker},
                                            rules::detail::saved_tensor{of_b, b, 0, worker}, {});
    };
    const memory_trial reduced = reduced_run({{"one", {{0, {1, -3}}}}, {"two", {{0, {1, -4}}}}});
    const auto apart = compare_in(reduced, "one", "two");
    CHECK(apart.alike == likeness::different);
    CHECK(apart.what == "largest absolute value");
    CHECK(apart.value == "3");
    CHECK(apart.reference == "4");
    CHECK(apart.apart == 1);
    const auto same = compare_in(reduced, "one", "one");
    CHECK(same.alike == likeness::unknown);
    CHECK_FALSE(same.note.message.empty());

    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1, 5, 3}), tensor_of<float>("b", {1, 5, 2}),
                           tensor_of<float>("c", {1, 5, 3}, {3, 1}), tensor_of<float>("empty", {}),
                           tensor_of<std::complex<float>>("complex", {{1, 0}}), tensor_of<std::uint8_t>("bytes", {7}),
                           written_tensor{"text", dtype::string, {0}, {}}}})
        .end();
    const memory_trial run{store};
    const auto compare = [&](const char* a, const char* b) { return compare_in(run, a, b); };
    CHECK(compare("a", "a").alike == likeness::same);
    CHECK(compare("bytes", "bytes").alike == likeness::same);
    const auto differing = compare("a", "b");
    CHECK(differing.alike == likeness::different);
    CHECK(differing.what == "value 2 of 3");
    CHECK(differing.apart == 1);
    CHECK(differing.allowed == doctest::Approx(2.001e-5));
    const auto shapes = compare("a", "c");
    CHECK(shapes.alike == likeness::different);
    CHECK(shapes.what == "shape");
    CHECK(shapes.value == "(3)");
    CHECK(shapes.reference == "(3x1)");
    CHECK(compare("empty", "empty").alike == likeness::not_comparable);
    CHECK(compare("a", "empty").alike == likeness::not_comparable);
    CHECK(compare("complex", "complex").alike == likeness::not_comparable);
    CHECK(compare("text", "text").alike == likeness::not_comparable);
    CHECK(compare("a", "text").alike == likeness::not_comparable);
    CHECK(compare("complex", "a").alike == likeness::not_comparable);
}

TEST_CASE("closeness: an impossible tolerance is refused by its name") {
    CHECK_NOTHROW(rules::detail::check_tolerance("rule", {.rtol = 0, .atol = 0}));
    CHECK_THROWS_WITH_AS(rules::detail::check_tolerance("rule", {.rtol = -1}), doctest::Contains("rule: rtol is -1"),
                         value_error);
    CHECK_THROWS_WITH_AS(rules::detail::check_tolerance("rule", {.atol = not_a_number}),
                         doctest::Contains("atol is nan"), value_error);
    CHECK_THROWS_AS(rules::detail::check_tolerance("rule", {.rtol = inf}), value_error);
}
