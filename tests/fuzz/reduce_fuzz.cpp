// Reduction kernels: all give the same bits, whole or in parts, and agree with exact arithmetic within their promised
// error.  The first byte is the dtype, the second the offset and layout of the elements: raw bytes, or raw bytes
// repeated, for tensors of more than one block.
#include "reduce/answers.hpp"
#include "support.hpp"

// Of the tests the arithmetic alone, without their checks, which then have no use for what they are called with.
#define DOCTEST_CONFIG_DISABLE
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include "reduce/exact.hpp"
#pragma clang diagnostic pop

#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

constexpr dtype types[] = {dtype::float32,       dtype::float64,   dtype::float16, dtype::bfloat16, dtype::float8_e5m2,
                           dtype::int8,          dtype::uint8,     dtype::int16,   dtype::uint16,   dtype::int32,
                           dtype::uint32,        dtype::int64,     dtype::uint64,  dtype::boolean,  dtype::complex64,
                           dtype::float8_e4m3fn, dtype::complex128};

// Counts, extrema and, of finite elements, the sums: each from the elements themselves.
template <class T>
void check_exactly(std::span<const T> elements, const reduction_values& values) {
    std::vector<reduce_test::element> exact;
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;
    std::uint64_t zeros = 0;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const T one : elements) {
        if constexpr (std::integral<T>) {
            using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
            exact.push_back(reduce_test::element_of(static_cast<wide>(one)));
            zeros += one == T{} ? 1U : 0U;
            low = std::min(low, static_cast<double>(one));
            high = std::max(high, static_cast<double>(one));
        } else {
            const double value =
                static_cast<double>(static_cast<std::conditional_t<std::same_as<T, double>, double, float>>(one));
            nan += std::isnan(value) ? 1U : 0U;
            infinite += std::isinf(value) ? 1U : 0U;
            zeros += value == 0 ? 1U : 0U;
            low = std::min(low, value);
            high = std::max(high, value);
            if (std::isfinite(value)) {
                exact.push_back(reduce_test::element_of(value));
            }
        }
    }
    demand(values.count == elements.size() && values.nan == nan && values.pos_inf + values.neg_inf == infinite &&
               values.zeros == zeros,
           "counts are exact");
    if (nan > 0) {
        demand(std::isnan(values(reduction::sum)) && std::isnan(values(reduction::l2)) &&
                   std::isnan(values(reduction::max)),
               "NaN in gives NaN out");
        return;
    }
    if (elements.empty()) {
        demand(values(reduction::sum) == 0 && values(reduction::l1) == 0 && std::isnan(values(reduction::mean)),
               "an empty tensor has a sum alone");
        return;
    }
    demand(values(reduction::min) == low && values(reduction::max) == high, "extrema are exact");
    if (infinite > 0) {
        return;
    }
    const reduce_test::bounds bound{.bits = std::same_as<T, double> ? 50U : 45U, .inverse_tolerance = 0};
    const reduce_test::exact_sums sums{exact};
    demand(reduce_test::sum_is_right(values(reduction::sum), sums.sum, sums, bound), "a sum is what was promised");
    demand(reduce_test::sum_is_right(values(reduction::l1), sums.magnitudes, sums, bound), "the l1 norm, too");
    demand(reduce_test::norm_is_right(values(reduction::l2), sums, bound), "the l2 norm, too");
    demand(reduce_test::mean_is_right(values(reduction::mean), sums.sum, sums, bound) ||
               !std::isfinite(values(reduction::mean)),
           "the mean, too");
    demand(values(reduction::variance) >= 0 && (values(reduction::std) == std::sqrt(values(reduction::variance))),
           "std is the root of the variance");
    if constexpr (std::integral<T>) {
        demand(reduce_test::within(reduce_test::big_of(values(reduction::sum)), sums.sum, sums.sum.absolute(), 53),
               "integers are summed exactly, and rounded once");
    }
    if (elements.size() <= 64) {
        demand(reduce_test::product_is_right(values(reduction::prod), exact), "a product is what was promised");
    }
}

bool same(const result<reduction_values>& a, const result<reduction_values>& b) {
    return a.ok() && b.ok() && reduce_test::same_bits(*a, *b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    const dtype type = types[in.take_byte() % std::size(types)];
    const std::uint8_t how = in.take_byte();
    const std::size_t offset = how & 7U;
    const std::size_t element_size = size_of(type);
    std::vector<std::byte> elements(in.rest().begin(), in.rest().end());
    elements.resize(elements.size() / element_size * element_size);
    if ((how & 8U) != 0 && !elements.empty()) {
        const std::vector<std::byte> once = elements;
        while (elements.size() < 12'000) {
            elements.insert(elements.end(), once.begin(), once.end());
        }
    }
    if (type == dtype::boolean) {
        for (std::byte& one : elements) {
            one &= std::byte{1};
        }
    }
    std::vector<std::byte> memory(offset + elements.size());
    std::copy(elements.begin(), elements.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
    const exact_copy copy{memory};
    const std::size_t shape[] = {elements.size() / element_size};
    const tensor_view tensor{.type = type, .shape = shape, .bytes = copy.view().subspan(offset), .strings = {}};
    const reduction_set all = reduction_set::all() | reduction_set::counts();

    const scalar_kernel plain;
    const auto values = plain.reduce(tensor, all);
    demand(values.ok(), "numbers are reduced");
    demand(same(values, simd_kernel<>{}.reduce(tensor, all)), "vectors give the same bits");
    for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
        demand(same(values, kernel.reduce(tensor, all)), "every instruction set gives the same bits");
        const std::size_t piece = 1 + how % 13U * 16U;
        std::vector<std::byte> fed;
        const auto feed = [&](std::size_t begin, std::size_t least) {
            fed.assign(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                       tensor.bytes.begin() +
                           static_cast<std::ptrdiff_t>(std::min(begin + std::max(least, piece), tensor.bytes.size())));
            return byte_view{fed};
        };
        demand(same(values, kernel.reduce_fed({.type = type, .size = tensor.bytes.size(), .feed = feed}, all)),
               "in pieces gives the same bits");
    }
    visit_dtype(type, [&]<class T>() {
        if constexpr (std::is_arithmetic_v<T> || std::convertible_to<T, float>) {
            std::vector<std::conditional_t<std::same_as<T, bool>, std::uint8_t, T>> typed(shape[0]);
            if (!typed.empty()) {
                std::memcpy(typed.data(), elements.data(), elements.size());
            }
            check_exactly(std::span{std::as_const(typed)}, *values);
        }
    });
    return 0;
}
