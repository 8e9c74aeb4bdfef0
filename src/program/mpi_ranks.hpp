// Ranks as MPI processes.  Of the executable alone, where MPI is found: the library needs none.
#pragma once

#include <program/ranks.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The processes of mpirun or srun.
[[nodiscard]] rank_starter mpi_ranks();

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
