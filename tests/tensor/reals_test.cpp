#include <smdebug/tensor/tensor_value.hpp>

#include "support/test.hpp"

using namespace smdebug;
using doubles = std::vector<double>;

namespace {

template <class T>
doubles reals(const std::vector<T>& values) {
    return reals_of(tensor_value::copy_of<T>({values.size()}, std::span<const T>{values}));
}

}  // namespace

TEST_CASE("reals_of: every real type, whatever its width, as doubles in order") {
    CHECK(reals<float>({1.5F, -2}) == doubles{1.5, -2});
    CHECK(reals<double>({0.1, 1e300}) == doubles{0.1, 1e300});
    CHECK(reals<std::int8_t>({-128, 127}) == doubles{-128, 127});
    CHECK(reals<std::uint8_t>({0, 255}) == doubles{0, 255});
    CHECK(reals<std::int16_t>({-300}) == doubles{-300});
    CHECK(reals<std::uint16_t>({65535}) == doubles{65535});
    CHECK(reals<std::int32_t>({-70000}) == doubles{-70000});
    CHECK(reals<std::uint32_t>({4000000000U}) == doubles{4e9});
    CHECK(reals<std::int64_t>({std::numeric_limits<std::int64_t>::min()}) == doubles{-9223372036854775808.0});
    CHECK(reals<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}) == doubles{18446744073709551616.0});
    CHECK(reals<float16>({float16{0.5F}, float16{-2}}) == doubles{0.5, -2});
    CHECK(reals<bfloat16>({bfloat16{1.5F}}) == doubles{1.5});
    CHECK(reals<float8_e4m3fn>({float8_e4m3fn{1.75F}}) == doubles{1.75});
    CHECK(reals<float8_e5m2>({float8_e5m2{-1.5F}}) == doubles{-1.5});
    const bool truths[] = {true, false};
    CHECK(reals_of(tensor_value::copy_of<bool>({2}, std::span{truths})) == doubles{1, 0});
    CHECK(reals<float>({}).empty());
}

TEST_CASE("visit_reals: elements of their own type; neither complex numbers nor strings are reals") {
    bool visited = false;
    CHECK(visit_reals(
        tensor_value::copy_of<std::int16_t>({3}, std::vector<std::int16_t>{1, 2, 3}),
        [&]<class T>(std::span<const T> all) { visited = std::is_same_v<T, std::int16_t> && all.size() == 3; }));
    CHECK(visited);
    const auto none = [](const auto&) { FAIL("there are no reals"); };
    CHECK_FALSE(
        visit_reals(tensor_value::copy_of<std::complex<float>>({1}, std::vector<std::complex<float>>{{1, 2}}), none));
    const std::vector<std::string_view> texts{"text"};
    CHECK_FALSE(visit_reals(tensor_value::of_strings({1}, texts), none));
    CHECK(reals<std::complex<double>>({{1, 2}}).empty());
}

static_assert(has_reals(dtype::float32) && has_reals(dtype::boolean) && has_reals(dtype::float16));
static_assert(!has_reals(dtype::complex64) && !has_reals(dtype::complex128) && !has_reals(dtype::string) &&
              !has_reals(dtype::invalid));

TEST_CASE("for_each_real_block: visits every element once, in order, at any alignment; stops on request") {
    std::vector<float> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    const std::vector<std::size_t> shape{values.size()};
    for (std::size_t shift = 0; shift < 5; ++shift) {
        std::vector<std::byte> bytes(values.size() * sizeof(float) + shift);
        std::memcpy(bytes.data() + shift, values.data(), values.size() * sizeof(float));
        const tensor_view view{dtype::float32, shape, std::span{bytes}.subspan(shift), {}};
        doubles seen;
        CHECK(for_each_real_block(view, [&](auto elements) {
            for (const auto each : elements) {
                seen.push_back(to_double(each));
            }
            return true;
        }));
        CHECK(seen == doubles(values.begin(), values.end()));
        int blocks = 0;
        CHECK(for_each_real_block(view, [&](auto) { return ++blocks < 2; }));
        CHECK(blocks == 2);
        std::vector<std::byte> room;
        const auto some = aligned_elements<float>(view, 100, 50, room);
        CHECK(doubles(some.begin(), some.end()) == doubles(values.begin() + 100, values.begin() + 150));
        CHECK(room.empty() == (shift % alignof(float) == 0));
    }
    const std::vector<std::size_t> one{1};
    const std::vector<std::byte> complex_bytes(8);
    CHECK_FALSE(for_each_real_block(tensor_view{dtype::complex64, one, complex_bytes, {}}, [](auto) { return true; }));
    CHECK_FALSE(for_each_real_block(tensor_view{}, [](auto) { return true; }));
}
