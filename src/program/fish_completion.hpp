// The commands by which fish completes the program's command line.
#pragma once

#include <program/command_table.hpp>

#include <string>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

[[nodiscard]] std::string fish_completion(const command_table& table);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
