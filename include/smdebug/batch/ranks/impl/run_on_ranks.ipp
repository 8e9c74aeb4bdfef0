// The bodies of <smdebug/batch/ranks/run_on_ranks.hpp>.
#pragma once

#include <smdebug/batch/ranks/run_on_ranks.hpp>

#include <smdebug/batch/ranks/coordinator.hpp>
#include <smdebug/batch/ranks/worker.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE ranks_outcome run_on_ranks(rank_channel& channel, const rank_options& options,
                                          function_ref<std::optional<batch_run>()> source,
                                          function_ref<void(run_result&&)> sink,
                                          function_ref<void(rank_work&, std::stop_token)> engine,
                                          std::stop_token stop) {
    if (channel.rank() == 0) {
        return detail::coordinator{channel, options, source, sink, engine, std::move(stop)}.run();
    }
    detail::worker{channel, options, engine, std::move(stop)}.run();
    return {};
}

SMDEBUG_INLINE std::size_t launched_processes() {
    // Open MPI; MPICH, Intel MPI, Slurm's pmi2; any other way of srun.
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        const char* const text = std::getenv(name);
        if (text == nullptr) {
            continue;
        }
        const std::string_view digits{text};
        std::size_t count = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec == std::errc{} && count > 0) {
            return count;
        }
    }
    return 1;
}

}  // namespace v1
}  // namespace smdebug
