// A console whose output is strings, and the runs that the tests of the command line read.
#pragma once

#include "support/given_text.hpp"
#include "support/run_builder.hpp"
#include "support/sick_run.hpp"
#include "support/standard.hpp"
#include "support/temporary_folder.hpp"

#include <program/console.hpp>
#include <program/program.hpp>
#include <program/rule_set.hpp>
#include <smdebug/storage/local_storage.hpp>

namespace smdebug_test {

struct captured {
    std::ostringstream out;
    std::ostringstream err;
    smdebug::cli::detail::console to{out, err};
};

/// How a command ended, and what it wrote.
struct ended {
    int status = 0;
    std::string out = {};
    std::string err = {};
};

/// Calls `run` with a console; it returns the exit status.
template <class Run>
ended ended_by(Run run) {
    captured by;
    const int status = run(by.to);
    return {status, by.out.str(), by.err.str()};
}

/// The whole program, called as main() calls it.
inline ended run_to_end(std::vector<std::string> arguments, smdebug::cli::detail::console_kind kind = {}) {
    captured by;
    const int status = smdebug::cli::run_program(std::move(arguments), by.out, by.err, kind);
    return {status, by.out.str(), by.err.str()};
}

/// The built-in rules, made once.
inline const smdebug::cli::program_rules& known() {
    static const smdebug::cli::program_rules rules = smdebug::cli::program_rules::built_in();
    return rules;
}

inline std::string golden(std::string_view run) { return std::string{SMDEBUG_TEST_DATA "/golden/"}.append(run); }

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// A text with its lines sorted: what processes say in any order.
inline std::string sorted_lines(const std::string& text) {
    auto lines = lines_of(text);
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& each : lines) {
        all += each + "\n";
    }
    return all;
}

/// A text with one blank wherever there are several: what a table says, however wide its columns are.
inline std::string squeezed(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c != ' ' || !out.ends_with(' ')) {
            out += c;
        }
    }
    return out;
}

/// A finished run on disk of two workers, of which the second alone has a NaN, at step 1.
inline void write_run_of_two_workers(const temporary_folder& folder) {
    using namespace smdebug;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    local_storage store{folder.path()};
    run_builder made{store};
    made.collections({"worker_0", "worker_1"}, {{"weights", {"w"}}});
    for (const step_number step : {0, 1}) {
        made.step({.step = step, .tensors = {tensor_of<float>("w", {1, 2})}});
        made.step({.step = step, .tensors = {tensor_of<float>("w", {1, step == 1 ? nan : 2})}, .worker = "worker_1"});
    }
    made.end();
}

}  // namespace smdebug_test
