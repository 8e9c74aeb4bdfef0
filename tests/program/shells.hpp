// Scripts, run by the shells of this machine.
#pragma once

#include "support/skipped.hpp"
#include "support/standard.hpp"
#include "support/temporary_folder.hpp"

#include <sys/wait.h>

namespace smdebug_test {

struct shell_answer {
    int status = 0;
    std::string text;  ///< what it printed, errors, too
};

/// Runs a line of sh, for at most a minute.
inline shell_answer answer_of(const std::string& line) {
    std::FILE* const pipe =
        ::popen(("exec timeout 60 " + line + " 2>&1 </dev/null").c_str(), "r");  // NOLINT(cert-env33-c)
    if (pipe == nullptr) {
        throw std::runtime_error("cannot start a shell");
    }
    shell_answer answer;
    std::array<char, 4096> buffer{};
    for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        answer.text.append(buffer.data(), count);
    }
    const int how = ::pclose(pipe);
    answer.status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    return answer;
}

/// Whether the program is installed; if not, reports a skip.
inline bool is_there(const std::string& program) {
    const bool there = answer_of("sh -c 'command -v " + program + "'").status == 0;
    if (!there) {
        skipped(lacking::set_up, "there is no " + program);
    }
    return there;
}

/// The output of a shell for a script; {folder} in it is a folder with the files run-a, run b, other and the folder
/// runs.
inline shell_answer ran_by(const std::string& shell, std::string script) {
    const temporary_folder folder;
    for (const char* const file : {"files/run-a", "files/run b", "files/other", "files/runs/x"}) {
        folder.write(file, "");
    }
    const std::string files = folder.path() + "/files";
    for (std::size_t at = script.find("{folder}"); at != std::string::npos; at = script.find("{folder}")) {
        script.replace(at, 8, files);
    }
    folder.write("script", script);
    return answer_of("env -C '" + files + "' HOME='" + files + "' " + shell + " " + folder.path() + "/script");
}

}  // namespace smdebug_test
