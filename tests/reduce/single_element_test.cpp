#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/reduce_tensor.hpp>

#include <reduce/corpus.hpp>
#include <smdebug/reduce/accumulate.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;
using namespace smdebug::reduce;

namespace {

/// One look against the general way.
void check_element(const tensor_view& tensor) {
    const auto only = single_element<scalar_sweeps>(tensor);
    REQUIRE(only);
    reduction_values found;
    values_of_one<scalar_sweeps>(*only, found);
    const required_statistics everything = demand_of<scalar_sweeps>(reduction_set::all());
    reduction_values wanted;
    CHECK(dtype_walk<scalar_sweeps, required_statistics>(tensor, everything).run([&](const totals& all) {
        finish<scalar_sweeps>(all, everything, false, wanted);
    }) == status::ok);
    CAPTURE(*only);
    CAPTURE(name_of(tensor.type));
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        CAPTURE(reduction_key::from_index(i).name());
        const bool both_nan = smdebug::is_nan(found.value[i]) && smdebug::is_nan(wanted.value[i]);
        CHECK((both_nan ||
               std::bit_cast<std::uint64_t>(found.value[i]) == std::bit_cast<std::uint64_t>(wanted.value[i])));
    }
    CHECK(found.count == wanted.count);
    CHECK(found.nan == wanted.nan);
    CHECK(found.pos_inf == wanted.pos_inf);
    CHECK(found.neg_inf == wanted.neg_inf);
    CHECK(found.zeros == wanted.zeros);
    CHECK(found.computed == wanted.computed);
}

template <class T>
void check_numbers(dtype type, const std::vector<T>& numbers) {
    for (const T number : numbers) {
        const reduce_test::owned_tensor tensor(type, std::vector<T>{number});
        check_element(tensor.view());
    }
}

template <class Integer>
void check_integers(dtype type) {
    using limits = std::numeric_limits<Integer>;
    check_numbers<Integer>(type, {limits::min(), static_cast<Integer>(limits::min() + 1), static_cast<Integer>(-1), 0,
                                  1, 77, static_cast<Integer>(limits::max() - 1), limits::max()});
}

template <class Float>
std::vector<Float> floats() {
    using limits = std::numeric_limits<Float>;
    std::vector<Float> numbers{0,
                               1,
                               Float{1} / 3,
                               limits::min(),
                               limits::denorm_min(),
                               7 * limits::denorm_min(),
                               limits::max(),
                               limits::infinity(),
                               limits::quiet_NaN(),
                               limits::signaling_NaN()};
    for (Float power = limits::min(); power < limits::max() / 16; power *= Float(12.3456789)) {
        numbers.push_back(power);
    }
    const std::size_t count = numbers.size();
    for (std::size_t i = 0; i < count; ++i) {
        numbers.push_back(-numbers[i]);
    }
    return numbers;
}

}  // namespace

TEST_CASE("values_of_one: one element has the bits that the general way gives it, whatever its dtype") {
    check_numbers<float>(dtype::float32, floats<float>());
    check_numbers<double>(dtype::float64, floats<double>());
    std::vector<std::uint16_t> halves;
    for (unsigned bits = 0; bits < 0x10000; bits += 13) {
        halves.push_back(static_cast<std::uint16_t>(bits));
    }
    check_numbers<std::uint16_t>(dtype::float16, halves);
    check_numbers<std::uint16_t>(dtype::bfloat16, halves);
    std::vector<std::uint8_t> codes(256);
    std::iota(codes.begin(), codes.end(), std::uint8_t{0});
    check_numbers<std::uint8_t>(dtype::float8_e4m3fn, codes);
    check_numbers<std::uint8_t>(dtype::float8_e5m2, codes);
    check_numbers<std::uint8_t>(dtype::boolean, {0, 1});
    check_integers<std::int8_t>(dtype::int8);
    check_integers<std::uint8_t>(dtype::uint8);
    check_integers<std::int16_t>(dtype::int16);
    check_integers<std::uint16_t>(dtype::uint16);
    check_integers<std::int32_t>(dtype::int32);
    check_integers<std::uint32_t>(dtype::uint32);
    check_integers<std::int64_t>(dtype::int64);
    check_integers<std::uint64_t>(dtype::uint64);
    check_numbers<std::int64_t>(dtype::int64, {(std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53) - 1});
}

TEST_CASE("single_element: nothing where there is not exactly one real number") {
    const auto none = [](dtype type, std::size_t bytes) {
        const std::vector<std::uint8_t> content(bytes, 1);
        const reduce_test::owned_tensor tensor(type, content);
        return !single_element<scalar_sweeps>(tensor.view());
    };
    CHECK(none(dtype::float32, 0));
    CHECK(none(dtype::float32, 3));
    CHECK_FALSE(none(dtype::float32, 4));
    CHECK_FALSE(none(dtype::float32, 7));
    CHECK(none(dtype::float32, 8));
    CHECK(none(dtype::complex64, 8));
    CHECK(none(dtype::complex128, 16));
    CHECK(none(dtype::string, 0));
    CHECK(none(dtype::invalid, 0));
}
