// What mpi_channel does between processes, check_mpi_batch.sh sees: no process of doctest is one of mpirun.
#include <smdebug/batch/ranks/mpi_channel.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>

#include <doctest/doctest.h>

#include <concepts>
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
