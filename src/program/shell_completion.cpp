#include <program/shell_completion.hpp>

#include <program/bash_completion.hpp>
#include <program/fish_completion.hpp>
#include <program/zsh_completion.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

std::string completion_script(const command_table& table, std::string_view shell) {
    return shell == "bash" ? bash_completion(table) : shell == "zsh" ? zsh_completion(table) : fish_completion(table);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
