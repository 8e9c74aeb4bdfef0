// The first values of a tensor as text, whatever its dtype: for people and for JSON.
#pragma once

#include <program/rows.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

[[nodiscard]] std::string real_text(double value, output_format format);

/// The first `most` elements, in C order.  JSON: each a JSON value (a complex number [re, im]; what is not finite, and
/// strings, as JSON strings).  CSV: 17 digits.  Tables: short, strings in quotes.
[[nodiscard]] std::vector<std::string> first_values(const tensor_value& tensor, std::size_t most, output_format format);

}  // namespace smdebug::inline v1::cli::detail
