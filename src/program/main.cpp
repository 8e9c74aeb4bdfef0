// main() of the program smdebug; everything else is in the library smdebug::program.
#include <program/defaults_file.hpp>
#include <program/interrupt.hpp>
#include <program/program.hpp>
#include <program/ranks.hpp>
#ifdef SMDEBUG_PROGRAM_HAS_MPI
#include <program/mpi_ranks.hpp>
#endif
#include <program/terminal.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    smdebug::cli::open_standard_descriptors();
    std::ios::sync_with_stdio(false);
    std::optional<smdebug::cli::interrupt_listener> interrupts;
    smdebug::cli::detail::rank_starter ranks;
#ifdef SMDEBUG_PROGRAM_HAS_MPI
    ranks = smdebug::cli::detail::mpi_ranks();
#endif
    // With many processes one waits for the others, and merges their results.
    const std::chrono::seconds patience{smdebug::cli::detail::launched_processes() > 1 ? 15 : 5};
    return smdebug::cli::run_program(
        std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), std::cout, std::cerr,
        smdebug::cli::terminal_kind(), [&] { return interrupts.emplace(patience).token(); },
        smdebug::cli::defaults_file, ranks);
}
