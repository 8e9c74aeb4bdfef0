#include <smdebug/tensor/tensor_value.hpp>

#include "support/test.hpp"

using smdebug::bfloat16;
using smdebug::converted;
using smdebug::dtype;
using smdebug::dtype_of_v;
using smdebug::float16;
using smdebug::float8_e4m3fn;
using smdebug::float8_e5m2;
using smdebug::shape_type;
using smdebug::status;
using smdebug::tensor_value;

namespace {

template <class T>
tensor_value tensor_of(std::initializer_list<T> values) {
    return tensor_value::copy_of<T>({values.size()}, std::span<const T>{values.begin(), values.size()});
}

/// The elements as To; requires that they convert.
template <class To, class From>
std::vector<To> as(std::initializer_list<From> values) {
    const auto tensor = converted<To>(tensor_of<From>(values));
    REQUIRE(tensor.ok());
    REQUIRE(tensor->type() == dtype_of_v<To>);
    const auto elements = tensor->template elements<To>();
    return {elements.begin(), elements.end()};
}

using bits_of = std::vector<unsigned>;

/// The codes of the elements as an 8-bit float type.
template <class To, class From>
bits_of codes(std::initializer_list<From> values) {
    bits_of codes;
    for (const To& each : as<To>(values)) {
        codes.push_back(each.bits);
    }
    return codes;
}

template <class To, class From>
bool fits(From value) {
    return converted<To>(tensor_of<From>({value})).ok();
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("converted: the same type is the same tensor") {
    const auto tensor = tensor_of<float>({1, 2});
    CHECK(converted<float>(tensor)->bytes().data() == tensor.bytes().data());
}

TEST_CASE("converted: keeps the shape, empty and 0-d ones too") {
    const std::array<std::int32_t, 6> values{1, 2, 3, 4, 5, 6};
    CHECK(converted<double>(tensor_value::copy_of<std::int32_t>({2, 3}, values))->shape() == shape_type{2, 3});
    CHECK(converted<double>(tensor_value::copy_of<std::int32_t>({0, 3}, {}))->shape() == shape_type{0, 3});
    const auto scalar = converted<double>(tensor_value::copy_of<std::int32_t>({}, std::span{values}.first(1)));
    CHECK(scalar->shape().empty());
    CHECK(scalar->elements<double>()[0] == 1);
}

TEST_CASE("converted: widening is exact") {
    CHECK(as<double>({float16{1.5F}, float16{-0.25F}}) == std::vector<double>{1.5, -0.25});
    CHECK(as<float>({bfloat16{3.0F}}) == std::vector<float>{3});
    CHECK(as<double>({0.1F}) == std::vector<double>{static_cast<double>(0.1F)});
    CHECK(as<std::int64_t>({std::uint32_t{0xffffffff}}) == std::vector<std::int64_t>{0xffffffff});
    CHECK(as<std::int32_t>({std::int8_t{-128}}) == std::vector<std::int32_t>{-128});
    CHECK(std::isnan(as<double>({std::numeric_limits<float>::quiet_NaN()})[0]));
}

TEST_CASE("converted: integers that do not fit are unsupported, at both ends and in the sign") {
    CHECK(fits<std::int8_t>(std::int32_t{127}));
    CHECK(fits<std::int8_t>(std::int32_t{-128}));
    CHECK_FALSE(fits<std::int8_t>(std::int32_t{128}));
    CHECK_FALSE(fits<std::int8_t>(std::int32_t{-129}));
    CHECK_FALSE(fits<std::uint8_t>(std::int8_t{-1}));
    CHECK_FALSE(fits<std::int64_t>(std::numeric_limits<std::uint64_t>::max()));
    CHECK_FALSE(fits<std::uint64_t>(std::int64_t{-1}));
    CHECK_FALSE(converted<std::int8_t>(tensor_of<std::int32_t>({1, 2, 300})).ok());
}

TEST_CASE("converted: floats to integers are cut towards zero, and must be in range") {
    CHECK(as<std::int32_t>({1.9, -1.9, -0.9}) == std::vector<std::int32_t>{1, -1, 0});
    CHECK(as<std::uint8_t>({255.9, -0.9}) == std::vector<std::uint8_t>{255, 0});
    CHECK_FALSE(fits<std::uint8_t>(256.0));
    CHECK_FALSE(fits<std::uint8_t>(-1.0));
    CHECK(as<std::int8_t>({-128.9}) == std::vector<std::int8_t>{-128});
    CHECK_FALSE(fits<std::int8_t>(-129.0));
    CHECK(as<std::int64_t>({-0x1p63}) == std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
    CHECK_FALSE(fits<std::int64_t>(0x1p63));
    CHECK(fits<std::uint64_t>(0x1.fffffffffffffp63));
    CHECK_FALSE(fits<std::uint64_t>(0x1p64));
    for (const double value : {not_a_number, infinity, -infinity}) {
        CHECK_FALSE(fits<std::int64_t>(value));
        CHECK_FALSE(fits<std::uint8_t>(static_cast<float>(value)));
        CHECK_FALSE(fits<std::int16_t>(float16{value}));
    }
    CHECK(as<std::int32_t>({float16{65504.0F}}) == std::vector<std::int32_t>{65504});
}

TEST_CASE("converted: to floats rounds to nearest, infinity beyond the range") {
    CHECK(as<float>({1e300, -1e300, 0.1}) ==
          std::vector<float>{static_cast<float>(infinity), -static_cast<float>(infinity), 0.1F});
    CHECK(as<float16>({1e6, 1.0})[0].bits == 0x7c00);
    CHECK(as<float16>({std::int64_t{2049}})[0].bits == float16{2048.0F}.bits);
    CHECK(as<bfloat16>({float16{1.0F}})[0].bits == 0x3f80);
    CHECK(codes<float8_e4m3fn>({448.0, 464.0, 465.0, -infinity, 17.0}) == bits_of({0x7e, 0x7e, 0x7f, 0xff, 0x58}));
    CHECK(codes<float8_e5m2>({57344.0F, 61440.0F, -1e30F}) == bits_of({0x7b, 0x7c, 0xfc}));
    CHECK(codes<float8_e5m2>({float8_e4m3fn{448}}) == bits_of({0x5f}));
    CHECK(as<std::int8_t>({float8_e4m3fn{-17}}) == std::vector<std::int8_t>{-16});
    CHECK_FALSE(fits<std::int32_t>(float8_e4m3fn::from_bits(0x7f)));
    CHECK(std::isnan(as<float>({not_a_number})[0]));
    CHECK(__builtin_signbit(as<float>({-0.0})[0]));
    CHECK(as<float>({std::uint64_t{16777217}}) == std::vector<float>{16777216});
}

TEST_CASE("converted: bool is whether an element differs from zero; from bool come 0 and 1") {
    const auto flags = converted<bool>(tensor_of<double>({0, -0.0, 0.5, not_a_number, infinity}));
    REQUIRE(flags.ok());
    constexpr std::array wanted{false, false, true, true, true};
    CHECK(std::ranges::equal(flags->elements<bool>(), wanted));
    CHECK(as<std::int8_t>({true, false}) == std::vector<std::int8_t>{1, 0});
    CHECK(as<double>({true, false}) == std::vector<double>{1, 0});
    CHECK(as<float16>({true})[0].bits == 0x3c00);
    CHECK(converted<bool>(tensor_of<std::complex<float>>({{0, 1}}))->elements<bool>()[0]);
    CHECK_FALSE(converted<bool>(tensor_of<std::complex<float>>({{0, 0}}))->elements<bool>()[0]);
}

TEST_CASE("converted: real to complex has no imaginary part, complex to real is unsupported") {
    using c64 = std::complex<float>;
    using c128 = std::complex<double>;
    CHECK(as<c64>({std::int8_t{-3}}) == std::vector<c64>{{-3, 0}});
    CHECK(as<c128>({c64{1, -2}}) == std::vector<c128>{{1, -2}});
    CHECK(as<c64>({c128{1e300, -2}}) == std::vector<c64>{{static_cast<float>(infinity), -2}});
    CHECK(converted<double>(tensor_of<c64>({{1, 0}})).code() == status::unsupported);
    CHECK(converted<std::int32_t>(tensor_value::copy_of<c64>({0}, {})).code() == status::unsupported);
}

TEST_CASE("converted: strings and tensors without a type are unsupported") {
    const std::array<std::string_view, 1> texts{"1"};
    CHECK(converted<float>(tensor_value::of_strings({1}, texts)).code() == status::unsupported);
    CHECK(converted<float>(tensor_value{}).code() == status::unsupported);
}

TEST_CASE("converted: every pair of dtypes takes 0 and 1, or says why not") {
    for (std::uint64_t code = 0; code < 32; ++code) {
        const dtype from = smdebug::dtype_from_code(code);
        if (!smdebug::is_numeric(from)) {
            continue;
        }
        const tensor_value source = smdebug::visit_dtype(from, []<class T>() {
            const std::array<T, 2> values{static_cast<T>(0), static_cast<T>(1)};
            return tensor_value::copy_of<T>({2}, values);
        });
        for (std::uint64_t other = 0; other < 32; ++other) {
            const dtype to = smdebug::dtype_from_code(other);
            if (!smdebug::is_numeric(to)) {
                continue;
            }
            smdebug::visit_dtype(to, [&]<class T>() {
                const auto target = converted<T>(source);
                const bool possible = !is_complex(from) || is_complex(to) || to == dtype::boolean;
                REQUIRE(target.ok() == possible);
                if (possible) {
                    REQUIRE(target->template elements<T>()[0] == static_cast<T>(0));
                    REQUIRE(target->template elements<T>()[1] == static_cast<T>(1));
                }
            });
        }
    }
}
