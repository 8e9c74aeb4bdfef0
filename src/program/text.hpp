// Small pieces of text that several commands print: steps as ranges, counts, times.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

/// Steps as people write them: "0-8 by 2, 10, 20-29".  Steps are ascending.  After `most` pieces it says how many
/// steps are left out.
[[nodiscard]] std::string compact_steps(std::span<const step_number> steps, std::size_t most = 12);

/// A shape for tables: "2x3", "scalar" for a 0-d tensor.
[[nodiscard]] std::string shape_for_people(std::span<const std::size_t> extents);

/// "1 step", "2 steps".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// How long something took, as people say it: "90 seconds", "3 days".
[[nodiscard]] std::string duration_text(std::chrono::milliseconds time);

/// "12,345".
[[nodiscard]] std::string grouped(std::uint64_t number);

/// "1.2 GB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

[[nodiscard]] std::string joined(std::span<const std::string> parts, std::string_view between);

}  // namespace smdebug::inline v1::cli::detail
