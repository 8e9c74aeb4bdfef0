#include <program/tensor_text.hpp>

#include <smdebug/core/json_text.hpp>
#include <smdebug/tensor/element.hpp>

#include <algorithm>
#include <concepts>

namespace smdebug::inline v1::cli::detail {

std::string real_text(double value, output_format format) {
    if (format != output_format::json) {
        return number_text(value, format);
    }
    std::string out;
    append_json_number(out, value);
    return out;
}

namespace {

template <class T>
std::string element_text(const T& value, output_format format) {
    if constexpr (std::same_as<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
        return std::to_string(value);
    } else if constexpr (requires { value.imag(); }) {
        const std::string parts = real_text(static_cast<double>(value.real()), format) + "," +
                                  real_text(static_cast<double>(value.imag()), format);
        return format == output_format::json ? "[" + parts + "]" : "(" + parts + ")";
    } else if constexpr (std::floating_point<T>) {
        return real_text(static_cast<double>(value), format);
    } else {
        return real_text(static_cast<double>(static_cast<float>(value)), format);  // the narrow floats
    }
}

}  // namespace

std::vector<std::string> first_values(const tensor_value& tensor, std::size_t most, output_format format) {
    std::vector<std::string> texts;
    if (!is_numeric(tensor.type())) {
        for (const std::string& each : tensor.strings().first(std::min(most, tensor.strings().size()))) {
            texts.push_back(each);
            if (format != output_format::csv) {
                texts.back().clear();
                append_json_string(texts.back(), each);
            }
        }
        return texts;
    }
    visit_dtype(tensor.type(), [&]<class T>() {
        const auto elements = tensor.elements<T>();
        for (const T& each : elements.first(std::min(most, elements.size()))) {
            texts.push_back(detail::element_text(each, format));
        }
    });
    return texts;
}

}  // namespace smdebug::inline v1::cli::detail
