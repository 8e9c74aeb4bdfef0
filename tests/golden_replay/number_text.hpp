// Numbers as the recorded answers write them: the shortest decimal that reads back to the same number of its type.
#pragma once

#include "json_out.hpp"

#include <smdebug/tensor/half.hpp>

#include "support/standard.hpp"

#include <charconv>

namespace golden_replay {

namespace detail {

/// With a point or an exponent, so that 1.0 stays a float and -0.0 keeps its sign.
template <std::floating_point T>
[[nodiscard]] std::string shortest(T value) {
    char text[40] = {};
    std::string out(text, std::to_chars(text, text + sizeof text, value).ptr);
    return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

/// `digits` significant decimal digits of `value`, the last one `more` units higher, as a double.
[[nodiscard]] inline double decimal(double value, int digits, int more) {
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
    const std::string all(text, end);
    const std::size_t mark = all.find('e');
    std::string mantissa = all.substr(0, mark);
    std::erase(mantissa, '.');
    const long long units = std::stoll(mantissa) + (value < 0 ? -more : more);
    const int exponent = std::stoi(all.substr(mark + 1)) - (digits - 1);
    return std::strtod((std::to_string(units) + "e" + std::to_string(exponent)).c_str(), nullptr);
}

}  // namespace detail

/// A finite number's text.
[[nodiscard]] inline std::string shortest_text(double value) { return detail::shortest(value); }
[[nodiscard]] inline std::string shortest_text(float value) { return detail::shortest(value); }
/// bfloat16 and the 8-bit floats are written as the float32 that they are.
[[nodiscard]] inline std::string shortest_text(smdebug::bfloat16 value) {
    return detail::shortest(static_cast<float>(value));
}
template <smdebug::detail::float8 Float8>
[[nodiscard]] std::string shortest_text(Float8 value) {
    return detail::shortest(static_cast<float>(value));
}
/// The library knows no 16-bit floats, so their decimals are tried, from one digit on; five always do.  One unit more
/// is for 2^-6, whose four digits 1.562e-2 are too low for the gap below it, while 1.563e-2 is not for the one above.
[[nodiscard]] inline std::string shortest_text(smdebug::float16 value) {
    const double exact = static_cast<float>(value);
    for (int digits = 1; digits < 6; ++digits) {
        for (const int more : {0, 1}) {
            const double tried = detail::decimal(exact, digits, more);
            if (smdebug::float16{tried}.bits == value.bits && exact != 0) {
                return detail::shortest(tried);
            }
        }
    }
    return detail::shortest(exact);
}

[[nodiscard]] inline fragment element_json(bool value) { return truth(value); }
template <std::integral T>
[[nodiscard]] fragment element_json(T value) {
    return whole(value);
}
template <class T>
    requires requires(T value) { shortest_text(value); }
[[nodiscard]] fragment element_json(T value) {
    const double wide = static_cast<double>(value);
    if (std::isnan(wide)) {
        return in_quotes("NaN");
    }
    if (std::isinf(wide)) {
        return in_quotes(wide > 0 ? "Infinity" : "-Infinity");
    }
    return fragment{shortest_text(value)};
}
template <class T>
[[nodiscard]] fragment element_json(const std::complex<T>& value) {
    return fragment{"[" + element_json(value.real()).json() + ", " + element_json(value.imag()).json() + "]"};
}

/// A reduction: always a double, whatever it was computed from.
[[nodiscard]] inline fragment scalar_json(double value) {
    return object{}.add("dt", in_quotes("float64")).add("v", element_json(value)).done();
}

}  // namespace golden_replay
