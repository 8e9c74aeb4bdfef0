// What was learned of healthy runs, as a table that a person can check.
#pragma once

#include <smdebug/learn/learned_facts.hpp>

#include <optional>
#include <string>

namespace smdebug::inline v1::cli::detail {

/// A line for each tensor and mode.  With a tensor: its facts, and a line for each window of its numbers.
[[nodiscard]] std::string learned_table(const learned_facts& facts, const std::optional<std::string>& tensor);

}  // namespace smdebug::inline v1::cli::detail
