// The program smdebug: looks into training runs.  All that it does is in include/smdebug/cli/; this is its main().
#include <smdebug/batch/counted_memory.hpp>
#ifdef SMDEBUG_PROGRAM_HAS_MPI
#include <smdebug/batch/ranks/mpi_channel.hpp>
#endif
#include <smdebug/cli/defaults.hpp>
#include <smdebug/cli/interrupt.hpp>
#include <smdebug/cli/program.hpp>
#include <smdebug/cli/terminal.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    std::ios::sync_with_stdio(false);
    std::optional<smdebug::cli::interrupt_listener> interrupts;
    return smdebug::cli::run_program(
        std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), std::cout, std::cerr,
        smdebug::cli::terminal_kind(), [&] { return interrupts.emplace().token(); }, smdebug::cli::defaults_file);
}
