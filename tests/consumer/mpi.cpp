// A user's program that takes part in a batch, where mpirun or srun has started it.
#include <smdebug/batch/ranks/mpi_channel.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>

#include <cstdio>
#include <optional>
#include <stop_token>

int main() {
    if (smdebug::launched_processes() < 2) {
        std::puts("one process");
        return 0;
    }
    smdebug::mpi_channel channel;
    const auto source = []() -> std::optional<smdebug::batch_run> { return std::nullopt; };
    const auto sink = [](smdebug::run_result&&) {};
    const auto engine = [](smdebug::rank_work& work, const std::stop_token&) {
        while (auto run = work.next()) {
            work.emit({.run = *run});
        }
    };
    const smdebug::ranks_outcome outcome = smdebug::run_on_ranks(channel, {}, source, sink, engine);
    channel.end(0);
    return outcome.results == 0 ? 0 : 1;
}
