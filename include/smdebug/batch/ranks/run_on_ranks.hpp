// A batch over many processes: every rank calls run_on_ranks() with the same engine, rank 0 has list and results.
#pragma once

#include <smdebug/batch/ranks/channel.hpp>
#include <smdebug/batch/ranks/rank_options.hpp>
#include <smdebug/batch/ranks/rank_work.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/stop_token.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

/// Does the runs of a source on all ranks; called by all of them, with a channel each.
/// The engine is called on a thread of its own, and takes runs from, and gives results to, the rank_work that it is
/// handed: `next()` and `emit()`.  It ends when next() gives nothing.
/// Rank 0 asks the source, whose runs have a `place` each, and gives the sink one result a run, in the order in which they
/// come, as soon as they come; source and sink are called by one thread each.  The other ranks use neither.
///   A rank is quick     It has the runs of its next 20 ms, up to 64; where it has no result for 100 ms it gives back those
///                       that it has not begun.
///   A run is huge       Its result names parts (run_result::parts): ranks do these, and their rows, joined, are the run's; or
///                       rank 0 does the run with them (run_result::parts_inform).  Places of 2^63 and more are the parts'.
///   A rank is lost      Nothing was heard of it for options.lost_after: others do its runs.  If it was only stopped, it is
///                       back with its first word; of two results of a run the first is taken.
///   A run is given up   Two ranks were lost with it: its result is `undone`.  Rank 0 does no run that a rank was lost
///                       with while there are other ranks.
///   A rank is stopped   (its `stop`): others do what it had.
///   The batch stops     (rank 0's `stop`, or what source, sink or rank 0's engine throw): all ranks are told to, and the
///                       runs that the source had given are `undone`.
///   Rank 0 is silent    for options.lost_after: the others end.
/// Returns:  on rank 0, when the sink has everything and the others have been told; elsewhere, empty, at the same time.
/// Errors:   rank 0: what the source, the sink or the engine threw; value_error: two runs have one place.
///           Elsewhere: none, rank_channel::quit() ends the process.
/// Cost:     two messages a run, and one a megabyte of rows of reductions, of which rank 0 has one megabyte a run in memory,
///           the rest in temporary files; a result is copied twice.  Threads: three more on rank 0, one elsewhere.
[[nodiscard]] ranks_outcome run_on_ranks(rank_channel& channel, const rank_options& options,
                                         function_ref<std::optional<batch_run>()> source,
                                         function_ref<void(run_result&&)> sink,
                                         function_ref<void(rank_work&, std::stop_token)> engine,
                                         std::stop_token stop = {});

/// How many processes a launcher (mpirun, srun) says that it has started, of which this is one; 1 where there is none.
/// A program without MPI that sees more than 1 should end: every process would do everything.
[[nodiscard]] std::size_t launched_processes();

/// The channel of the processes that were launched; to be asked for once.  Not there (has_launched_channel() tells) where no
/// file of the program includes <smdebug/batch/ranks/mpi_channel.hpp>, which has it.  Errors: as mpi_channel's constructor.
[[nodiscard, gnu::weak]] std::unique_ptr<rank_channel> launched_channel();
[[nodiscard]] inline bool has_launched_channel() noexcept { return &launched_channel != nullptr; }
/// What that channel is made with, "Open MPI v4.1.4"; there where launched_channel() is.
[[nodiscard, gnu::weak]] std::string launched_library();

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/run_on_ranks.ipp>
#endif
