// What mpi_channel does between processes, check_mpi_batch.sh sees: no process of doctest is one of mpirun.
#include <smdebug/batch/ranks/mpi_channel.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <type_traits>

namespace smd = smdebug;

TEST_CASE("a channel over MPI is a channel, and there is one of it") {
    static_assert(std::derived_from<smd::mpi_channel, smd::rank_channel>);
    static_assert(std::is_default_constructible_v<smd::mpi_channel>);
    static_assert(!std::is_copy_constructible_v<smd::mpi_channel>);
    static_assert(!std::is_move_constructible_v<smd::mpi_channel>);
    int is_there = 1;
    CHECK(MPI_Initialized(&is_there) == MPI_SUCCESS);
    CHECK(is_there == 0);  // nothing is started that nobody asked for
}

TEST_CASE("the library of the launched channel is told by its name and release") {
    const std::string name = smdebug::launched_library();
    CAPTURE(name);
    CHECK(name.size() > 5);
    CHECK(name.find('\n') == std::string::npos);
    CHECK(name.find_first_of("0123456789") != std::string::npos);
}
