// Completion of the command line: the candidates, and the scripts by which shells request them.
#pragma once

#include <program/command_table.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

inline constexpr std::array<std::string_view, 3> completed_shells{"bash", "zsh", "fish"};

/// The candidates at a position: words with a line of help, or a kind that the shell completes itself.
struct completion {
    value_kind kind = value_kind::none;
    std::vector<std::pair<std::string, std::string_view>> words = {};  ///< borrow from the table
};

/// What may stand in the place of the last of these words, which follow the program's name.  A value may stand behind
/// its option as a word, joined by '=', or, as bash splits words, with a '=' between them.
[[nodiscard]] completion complete(const command_table& table, std::vector<std::string> words);

/// Completions as a script reads them: a line with the kind - words, some (with commas between them), path, folder,
/// program, none -, and a line "word<TAB>help" for each word.
[[nodiscard]] std::string completion_text(const completion& of);

/// The script for one of completed_shells: it runs `PROGRAM complete -- WORD...` where a word is to be completed.
[[nodiscard]] std::string completion_script(std::string_view program, std::string_view shell);

}  // namespace smdebug::inline v1::cli::detail
