#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/element_differences.hpp>

#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>

#include "support/test.hpp"

using namespace smdebug;
using reduce::detail::element_comparison;
using reduce::detail::tolerance;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
element_comparison compared(const std::vector<T>& a, const std::vector<T>& b, std::optional<tolerance> within = {}) {
    element_comparison made{dtype_of_v<T>, within};
    made.add(std::as_bytes(std::span{a}), std::as_bytes(std::span{b}));
    return made;
}

template <class T>
std::size_t apart(T a, T b, std::optional<tolerance> within = {}) {
    element_comparison made{dtype_of_v<T>, within};
    made.add(std::as_bytes(std::span{&a, 1}), std::as_bytes(std::span{&b, 1}));
    return made.differing();
}

}  // namespace

TEST_CASE("element_comparison: equal bytes are equal, and nothing is said of differences") {
    const std::vector<float> values(5000, 1.5F);
    const element_comparison same = compared(values, values);
    CHECK(same.elements() == 5000);
    CHECK(same.differing() == 0);
    CHECK(smdebug::is_nan(same.largest()));
    CHECK(smdebug::is_nan(same.largest_relative()));
    CHECK_FALSE(same.first());
    CHECK_FALSE(same.farthest());
}

TEST_CASE("element_comparison: how many differ, where the first is, and where the farthest") {
    std::vector<float> a(5000, 1.0F);
    std::vector<float> b = a;
    b[1023] = 1.25F;  // the last of a block
    b[1024] = 1.125F;
    b[4999] = -1.0F;
    const element_comparison found = compared(a, b);
    CHECK(found.differing() == 3);
    CHECK(found.largest() == 2);
    CHECK(found.largest_relative() == 2);
    CHECK(found.first()->place == 1023);
    CHECK(found.first()->first == "1");
    CHECK(found.first()->second == "1.25");
    CHECK(found.farthest()->place == 4999);
    CHECK(found.farthest()->second == "-1");
}

TEST_CASE("element_comparison: exactly, bits decide: signed zeros differ, NaN is like NaN of the same bits") {
    CHECK(apart(0.0, -0.0) == 1);
    CHECK(compared<double>({0.0}, {-0.0}).largest() == 0);
    CHECK(compared<double>({0.0}, {-0.0}).largest_relative() == 0);
    CHECK(apart(not_a_number, not_a_number) == 0);
    const double other_nan = std::bit_cast<double>(std::bit_cast<std::uint64_t>(not_a_number) | 1U);
    CHECK(apart(not_a_number, other_nan) == 1);
    CHECK(compared<double>({not_a_number}, {other_nan}).largest() == 0);
    CHECK(apart(1.0, std::nextafter(1.0, 2.0)) == 1);
    CHECK(compared<double>({not_a_number}, {1}).largest() == inf);
    CHECK(compared<double>({1}, {not_a_number}).largest_relative() == inf);
    CHECK(compared<double>({inf}, {-inf}).largest() == inf);
    CHECK(compared<double>({1}, {0}).largest_relative() == inf);
}

TEST_CASE("element_comparison: within a tolerance as numpy.allclose(a, b, equal_nan=True) has it") {
    // NumPy gives these results.
    const tolerance usual{1e-5, 1e-8, true};
    CHECK(apart(1.0, 1.0 + 1e-6, usual) == 0);
    CHECK(apart(1.0, 1.0001, usual) == 1);
    CHECK(apart(0.0, -0.0, usual) == 0);
    CHECK(apart(0.0, 1e-8, usual) == 0);
    CHECK(apart(0.0, 1.1e-8, usual) == 1);
    const tolerance tenth{0.1, 0, true};  // of the second
    CHECK(apart(10.0, 11.0, tenth) == 0);
    CHECK(apart(11.0, 10.0, tenth) == 0);
    CHECK(apart(9.0, 10.0, tenth) == 0);
    CHECK(apart(10.0, 9.0, tenth) == 1);
    for (const tolerance& within : {usual, tolerance{0, inf, true}, tolerance{inf, 0, true}}) {
        CHECK(apart(inf, inf, within) == 0);
        CHECK(apart(inf, -inf, within) == 1);
        CHECK(apart(1.0, inf, within) == 1);
        CHECK(apart(inf, 1.0, within) == 1);
        CHECK(apart(not_a_number, 1.0, within) == 1);
        CHECK(apart(1.0, not_a_number, within) == 1);
        CHECK(apart(not_a_number, std::bit_cast<double>(std::bit_cast<std::uint64_t>(not_a_number) | 1U), within) == 0);
    }
    CHECK(apart<float>(1.0F, 1.000005F, usual) == 0);
    CHECK(apart(float16::from_bits(0x3C00), float16::from_bits(0x3C01), tolerance{1e-3, 0, true}) == 0);
    CHECK(apart(float16::from_bits(0x3C00), float16::from_bits(0x3C01), tolerance{1e-4, 0, true}) == 1);
    CHECK(apart<std::int32_t>(100, 101, tolerance{0, 1, true}) == 0);
    CHECK(apart<std::int32_t>(100, 102, tolerance{0, 1, true}) == 1);
    CHECK(apart(true, false, tolerance{0, 0.5, true}) == 1);
    using complex = std::complex<float>;
    CHECK(apart(complex{3, 4}, complex{3, 4.25F}, tolerance{0.06, 0, true}) == 0);
    CHECK(apart(complex{3, 4}, complex{3, 4.25F}, tolerance{0.04, 0, true}) == 1);
    CHECK(apart(complex{1, static_cast<float>(not_a_number)}, complex{static_cast<float>(not_a_number), 1}, usual) ==
          0);
    CHECK(apart(complex{1, static_cast<float>(inf)}, complex{1, static_cast<float>(inf)}, usual) == 0);
    CHECK(apart(complex{2, static_cast<float>(inf)}, complex{1, static_cast<float>(inf)}, usual) == 1);
}

TEST_CASE("element_comparison: integers are compared as what they are, however large") {
    const std::int64_t large = std::int64_t{1} << 60U;
    const element_comparison one = compared<std::int64_t>({large}, {large + 1});
    CHECK(one.differing() == 1);
    CHECK(one.largest() == 1);
    CHECK(one.first()->first == "1152921504606846976");
    CHECK(one.first()->second == "1152921504606846977");
    const auto least = std::numeric_limits<std::int64_t>::min();
    CHECK(compared<std::int64_t>({least}, {std::numeric_limits<std::int64_t>::max()}).largest() == 0x1p64);
    CHECK(compared<std::uint64_t>({0}, {std::numeric_limits<std::uint64_t>::max()}).largest() == 0x1p64);
    CHECK(compared<std::int8_t>({-128}, {127}).largest() == 255);
    CHECK(compared<std::uint8_t>({3}, {1}).largest_relative() == 2);
}

TEST_CASE("element_comparison: narrow floats, complex numbers and booleans in texts and distances") {
    const element_comparison half = compared<float16>({float16::from_bits(0x3C00)}, {float16::from_bits(0x3C01)});
    CHECK(half.largest() == 0x1p-10);
    CHECK(half.first()->second == "1.0009766");
    const element_comparison brain = compared<bfloat16>({bfloat16::from_bits(0x3F80)}, {bfloat16::from_bits(0x4000)});
    CHECK(brain.largest() == 1);
    CHECK(brain.first()->first == "1");
    const element_comparison eighth = compared<float8_e4m3fn>({float8_e4m3fn{-448}}, {float8_e4m3fn{2.25}});
    CHECK(eighth.largest() == 450.25);
    CHECK(eighth.first()->second == "2.25");
    const element_comparison complex = compared<std::complex<double>>({{0, 0}}, {{3, -4}});
    CHECK(complex.largest() == 5);
    CHECK(complex.largest_relative() == 1);
    CHECK(complex.first()->second == "(3,-4)");
    element_comparison boolean{dtype::boolean};
    const std::vector<std::byte> a{std::byte{0}, std::byte{1}};
    const std::vector<std::byte> b{std::byte{1}, std::byte{1}};
    boolean.add(a, b);
    CHECK(boolean.differing() == 1);
    CHECK(boolean.largest() == 1);
    CHECK(boolean.first()->first == "false");
    CHECK(compared<float>({1}, {static_cast<float>(-inf)}).first()->second == "-Infinity");
    CHECK(compared<float>({1}, {static_cast<float>(not_a_number)}).first()->second == "NaN");
}

TEST_CASE("element_comparison: strings by their bytes") {
    element_comparison strings{dtype::string, tolerance{1, 1, true}};
    const std::string tail(100, 'x');
    const std::vector<std::string_view> a{"same", "a", "b"};
    const std::vector<std::string_view> b{"same", tail, "c"};
    strings.add(a, b);
    CHECK(strings.elements() == 3);
    CHECK(strings.differing() == 2);
    CHECK(strings.first()->place == 1);
    CHECK(strings.first()->first == "\"a\"");
    CHECK(strings.first()->second == "\"" + std::string(40, 'x') + "...\"");
    CHECK(smdebug::is_nan(strings.largest()));
    CHECK_FALSE(strings.farthest());
}

TEST_CASE("element_comparison: pieces and repeats go on where the last ended, at any alignment") {
    std::vector<std::byte> room(1 + 4 * sizeof(float));
    const std::vector<float> values{1, 2, 3, 4};
    std::memcpy(room.data() + 1, values.data(), 4 * sizeof(float));
    const std::vector<float> other{1, 2, 3, 5};
    element_comparison found{dtype::float32};
    found.add(byte_view{room}.subspan(1, 8), std::as_bytes(std::span{other}).first(8));
    found.add(byte_view{room}.subspan(9), std::as_bytes(std::span{other}).subspan(8));
    const float x = 1;
    const float y = 9;
    found.add_repeated(std::as_bytes(std::span{&x, 1}), std::as_bytes(std::span{&x, 1}), 10);
    found.add_repeated(std::as_bytes(std::span{&x, 1}), std::as_bytes(std::span{&y, 1}), 1000);
    found.add_repeated(std::as_bytes(std::span{&x, 1}), std::as_bytes(std::span{&y, 1}), 0);
    CHECK(found.elements() == 1014);
    CHECK(found.differing() == 1001);
    CHECK(found.first()->place == 3);
    CHECK(found.farthest()->place == 14);
    CHECK(found.largest() == 8);
}
