// The whole program, called as main() calls it.
#pragma once

#include <program/console.hpp>
#include <program/program.hpp>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace smdebug_test {

struct ran {
    int status = 0;
    std::string out;
    std::string err;
};

inline ran program(std::vector<std::string> arguments, smdebug::cli::detail::console_kind kind = {}) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = smdebug::cli::run_program(std::move(arguments), out, err, kind);
    return {status, out.str(), err.str()};
}

}  // namespace smdebug_test
