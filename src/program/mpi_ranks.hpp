// Ranks as MPI processes.  Of the executable alone, where MPI is found: the library needs none.
#pragma once

#include <program/ranks.hpp>

namespace smdebug::inline v1::cli::detail {

/// The processes of mpirun or srun.
[[nodiscard]] rank_starter mpi_ranks();

}  // namespace smdebug::inline v1::cli::detail
