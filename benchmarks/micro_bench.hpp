// Micro-benchmarks run by Google Benchmark: it chooses the number of calls, and interleaves the repetitions of all
// subjects, so that disturbances affect all of them.  Pairing with a limit is ours: a limit is a subject.
#pragma once

#include "bench.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

/// Fills the times of each subject: seconds of one call, `repetitions` of them.
inline void run_micro(std::vector<subject>& subjects, int repetitions) {
    // Captures what Google Benchmark would print.
    class taker final : public benchmark::BenchmarkReporter {
    public:
        explicit taker(std::vector<subject>& subjects) : subjects_(subjects) {
            for (std::size_t i = 0; i < subjects.size(); ++i) {
                places_.emplace(std::to_string(i), i);
            }
        }
        bool ReportContext(const Context& /*context*/) override { return true; }
        void ReportRuns(const std::vector<Run>& runs) override {
            for (const Run& run : runs) {
                if (run.run_type == Run::RT_Iteration) {
                    subjects_[places_.at(run.run_name.function_name)].times.push_back(
                        run.real_accumulated_time / static_cast<double>(run.iterations));
                }
            }
        }

    private:
        std::vector<subject>& subjects_;
        std::unordered_map<std::string, std::size_t> places_;
    };

    static const bool is_ready = [] {
        std::string name = "micro_bench";
        std::string mixed = "--benchmark_enable_random_interleaving=true";
        std::vector<char*> arguments{name.data(), mixed.data()};
        int count = static_cast<int>(arguments.size());
        benchmark::Initialize(&count, arguments.data());
        return true;
    }();
    static_cast<void>(is_ready);
    benchmark::ClearRegisteredBenchmarks();
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                     [&one = subjects[i]](benchmark::State& state) {
                                         for ([[maybe_unused]] const auto each : state) {
                                             one.run();
                                         }
                                     })
            ->Repetitions(repetitions)
            ->MinTime(0.01)
            ->UseRealTime();
    }
    taker takes{subjects};
    benchmark::RunSpecifiedBenchmarks(&takes);
}

}  // namespace bench
