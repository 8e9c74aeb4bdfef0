// Pins the answers of the kernels, bit by bit: one digest a dtype, the same on x86-64 and AArch64, with every compiler,
// optimisation level and instruction set.  The data are made of bits by integer arithmetic, so that neither a C library
// nor a contracted a * b + c has a part in them.
// A digest that differs on one machine alone is a mistake there.  Digests that differ everywhere say that the
// definition in reduce/lanes.hpp has changed: where that was meant, copy what the failing test prints into `elements`.
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include <reduce/corpus.hpp>
#include "support/test.hpp"

#include <iomanip>

using namespace smdebug;
using reduce_test::owned_tensor;
using reduce_test::random_bits;

namespace {

/// How the numbers of a dtype lie in their bits, and the digest of its answers.
struct element_bits {
    dtype type;
    unsigned exponent;  ///< bits of the exponent; 0 for integers
    std::uint64_t digest;
};
constexpr std::array elements{
    element_bits{dtype::float16, 5, 0x2B3D7B17F31C1180U},
    element_bits{dtype::bfloat16, 8, 0xB13892A78F1441FEU},
    element_bits{dtype::float32, 8, 0x42CB839F2B1693F5U},
    element_bits{dtype::float64, 11, 0xAD15CA9402EBB855U},
    element_bits{dtype::complex64, 8, 0xDD72F0861041816CU},
    element_bits{dtype::complex128, 11, 0xC62DD4A154C3B4ADU},
    element_bits{dtype::boolean, 0, 0x8C02D022F2CA9654U},
    element_bits{dtype::int8, 0, 0xEF54A1C4F6A8D02AU},
    element_bits{dtype::uint8, 0, 0xCDC18FFA3628E801U},
    element_bits{dtype::int16, 0, 0xDE004407F43DA048U},
    element_bits{dtype::uint16, 0, 0x15E8714CE7A440FCU},
    element_bits{dtype::int32, 0, 0xC262BBBAE07AFFAAU},
    element_bits{dtype::uint32, 0, 0xCD1F5FE8E8DC7CE2U},
    element_bits{dtype::int64, 0, 0xE9499A0CE229D835U},
    element_bits{dtype::uint64, 0, 0x9F45BD0507E2F20DU},
    element_bits{dtype::float8_e4m3fn, 4, 0x929D6F9BFD8313E1U},
    element_bits{dtype::float8_e5m2, 5, 0x029F8194FEA05F4FU},
};

/// What a tensor is filled with.
enum class pattern {
    near_one,  ///< of both signs; integers of all sizes
    far_mean,  ///< the mean is large beside the deviation
    wide,      ///< any finite number
    huge,      ///< the largest exponent
    tiny,      ///< denormals
    zeros,     ///< half of them 0 or -0
    products,  ///< close to 1, so that products of any length stay in the range
    infinite,  ///< some are infinite
    any_bits   ///< NaN among them
};
constexpr std::array patterns{pattern::near_one, pattern::far_mean, pattern::wide,     pattern::huge,    pattern::tiny,
                              pattern::zeros,    pattern::products, pattern::infinite, pattern::any_bits};

/// Around vectors, rows, groups of rows, blocks, and some blocks and a rest.
constexpr std::array<std::size_t, 17> lengths{0,   1,   2,   7,    15,   16,   17,   33,  100,
                                              127, 128, 129, 2047, 2048, 2049, 5003, 8192};

/// A float's bits, in the lowest of 64.
std::uint64_t float_of(pattern which, unsigned exponent_bits, unsigned all_bits, random_bits& random) {
    const unsigned fraction_bits = all_bits - 1 - exponent_bits;
    const std::uint64_t largest = (std::uint64_t{1} << exponent_bits) - 2;
    const std::uint64_t of_one = largest / 2;
    const std::uint64_t bits = random();
    const std::uint64_t upper = (bits >> 52U) & 0x7FFU;  // the sign is above, the fraction below
    std::uint64_t negative = bits >> 63U;
    std::uint64_t exponent = of_one - upper % 4;
    std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
    switch (which) {
        case pattern::near_one:
            break;
        case pattern::far_mean:
            negative = 0;
            exponent = of_one + 3;
            fraction >>= fraction_bits / 2;
            break;
        case pattern::wide:
            exponent = upper % (largest + 1);
            break;
        case pattern::huge:
            exponent = largest;
            break;
        case pattern::tiny:
            exponent = 0;
            break;
        case pattern::zeros:
            exponent = upper < 0x400 ? 0 : exponent;
            fraction = upper < 0x400 ? 0 : fraction;
            break;
        case pattern::products:
            exponent = of_one - (fraction >> (fraction_bits - 1));  // 0.75 to 1.5
            break;
        case pattern::infinite:
            exponent = upper < 0x40 ? largest + 1 : exponent;
            fraction = upper < 0x40 ? 0 : fraction;
            break;
        case pattern::any_bits:
            exponent = upper % (largest + 2);
            break;
    }
    return (((negative << exponent_bits) | exponent) << fraction_bits) | fraction;
}

/// An integer of two's complement, in the lowest of 64 bits.
std::uint64_t integer_of(pattern which, unsigned all_bits, random_bits& random) {
    const std::uint64_t bits = random();
    switch (which) {
        case pattern::near_one:
            return bits >> (bits % all_bits);
        case pattern::far_mean:
            return (std::uint64_t{1} << (all_bits - 2)) + bits % 8;
        case pattern::huge:
            return (std::uint64_t{1} << (all_bits - 1)) - 2 + bits % 4;  // the signed limits, both
        case pattern::tiny:
            return bits % 7 - 3;
        case pattern::zeros:
            return (bits >> 63U) == 0 ? 0 : bits;
        case pattern::products:
            return 1 - 2 * (bits % 2);
        default:
            return bits;
    }
}

/// `Bits` has the size of a number.
template <class Bits>
owned_tensor filled(const element_bits& element, pattern which, std::size_t length) {
    constexpr unsigned all_bits = 8 * sizeof(Bits);
    random_bits random(static_cast<std::uint64_t>(which) * 100'000 + length);
    std::vector<Bits> numbers(is_complex(element.type) ? 2 * length : length);
    for (Bits& number : numbers) {
        const std::uint64_t bits = element.exponent == 0 ? integer_of(which, all_bits, random)
                                                         : float_of(which, element.exponent, all_bits, random);
        number = static_cast<Bits>(element.type == dtype::boolean ? bits & 1U : bits);
    }
    return {element.type, numbers, length % 4};
}

owned_tensor tensor_of(const element_bits& element, pattern which, std::size_t length) {
    switch (size_of(element.type) / (is_complex(element.type) ? 2 : 1)) {
        case 1:
            return filled<std::uint8_t>(element, which, length);
        case 2:
            return filled<std::uint16_t>(element, which, length);
        case 4:
            return filled<std::uint32_t>(element, which, length);
        default:
            return filled<std::uint64_t>(element, which, length);
    }
}

/// A digest of answers: every bit of every value, but all NaN are alike.
class digest {
public:
    void add(const reduction_values& values) {
        for (const double value : values.value) {
            add(value == value ? std::bit_cast<std::uint64_t>(value) : 0x7FF8000000000000U);
        }
        for (const std::uint64_t count : {values.count, values.nan, values.pos_inf, values.neg_inf, values.zeros}) {
            add(count);
        }
    }
    [[nodiscard]] std::uint64_t value() const { return state_; }

private:
    void add(std::uint64_t word) { state_ = random_bits(state_ ^ word)(); }  // splitmix64's mixing
    std::uint64_t state_ = 0;
};

template <class Kernel>
std::uint64_t digest_of(const Kernel& kernel, const element_bits& element) {
    digest all;
    for (const pattern which : patterns) {
        for (const std::size_t length : lengths) {
            all.add(*kernel.reduce(tensor_of(element, which, length).view(), reduction_set::all()));
        }
    }
    return all.value();
}

template <class Kernel>
void check_digests(const Kernel& kernel) {
    for (const element_bits& element : elements) {
        const std::uint64_t found = digest_of(kernel, element);
        std::ostringstream now;
        now << kernel.name() << " on " << name_of(element.type) << ": the digest is now 0x" << std::hex
            << std::uppercase << std::setfill('0') << std::setw(16) << found << "U";
        CHECK_MESSAGE(found == element.digest, now.str());
    }
}

}  // namespace

TEST_CASE("same bits: the scalar kernel's answers for every dtype, on every machine") {
    check_digests(scalar_kernel{});
}

TEST_CASE("same bits: the SIMD kernel's answers for every dtype, on every machine") { check_digests(simd_kernel<>{}); }
