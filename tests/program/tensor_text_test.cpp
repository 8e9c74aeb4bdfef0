#include <program/tensor_text.hpp>

#include <program/rows.hpp>

#include "support/test.hpp"

using namespace smdebug;
using cli::detail::output_format;
using texts = std::vector<std::string>;

namespace {

template <class T>
texts values(const std::vector<T>& held, output_format format, std::size_t most = 10) {
    return cli::detail::first_values(tensor_value::copy_of<T>({held.size()}, held), most, format);
}

}  // namespace

TEST_CASE("first_values: floats are short for people and exact for programs") {
    const std::vector<float> held{0.1F, std::numeric_limits<float>::infinity()};
    CHECK(values(held, output_format::table) == texts{"0.1", "Infinity"});
    CHECK(values(held, output_format::csv) == texts{"0.10000000149011612", "Infinity"});
    CHECK(values(held, output_format::json) == texts{"0.10000000149011612", "\"Infinity\""});
    CHECK(values(std::vector<double>{0.1}, output_format::json) == texts{"0.10000000000000001"});
}

TEST_CASE("first_values: integers are exact, booleans are words, complex numbers are pairs") {
    CHECK(values(std::vector<std::uint64_t>{18446744073709551615U}, output_format::table) ==
          texts{"18446744073709551615"});
    CHECK(values(std::vector<std::int8_t>{-128, 127}, output_format::json) == texts{"-128", "127"});
    const bool truths[] = {true, false};
    CHECK(cli::detail::first_values(tensor_value::copy_of<bool>({2}, truths), 2, output_format::table) ==
          texts{"true", "false"});
    const std::vector<std::complex<float>> pair{{1.5F, -2}};
    CHECK(values(pair, output_format::table) == texts{"(1.5,-2)"});
    CHECK(values(pair, output_format::json) == texts{"[1.5,-2]"});
}

TEST_CASE("first_values: the narrow floats are shown as the numbers that they are") {
    const std::vector<bfloat16> held{bfloat16{1.5F}};
    CHECK(values(held, output_format::table) == texts{"1.5"});
    const std::vector<float8_e4m3fn> narrow{float8_e4m3fn{448}, float8_e4m3fn::from_bits(0x7f)};
    CHECK(values(narrow, output_format::table) == texts{"448", "NaN"});
    const std::vector<float16> half{float16{1.5F}};
    CHECK(values(half, output_format::table) == texts{"1.5"});
}

TEST_CASE("first_values: strings are quoted, and valid in JSON whatever their bytes") {
    const std::string_view strings[] = {"a\"b", "\xFF"};
    const auto held = tensor_value::of_strings({2}, strings);
    CHECK(cli::detail::first_values(held, 9, output_format::json) == texts{R"("a\"b")", "\"\xEF\xBF\xBD\""});
    CHECK(cli::detail::first_values(held, 1, output_format::csv) == texts{"a\"b"});
}

TEST_CASE("first_values: no more than requested, and no more than there are") {
    const std::vector<float> held{1, 2, 3};
    CHECK(values(held, output_format::table, 2) == texts{"1", "2"});
    CHECK(values(held, output_format::table, 0).empty());
    CHECK(values(std::vector<float>{}, output_format::table).empty());
}
