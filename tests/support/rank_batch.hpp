// A batch over ranks that are threads of this process: each with an engine, rank 0 with a list and the results.
#pragma once

#include "support/fake_ranks.hpp"

#include <smdebug/batch/ranks/run_on_ranks.hpp>
#include <smdebug/core/first_failure.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace smdebug_test {

/// Times that suit tests: a heartbeat a few milliseconds, lost after `lost_after`.
[[nodiscard]] inline smdebug::rank_options short_times(std::chrono::milliseconds lost_after) {
    return {.threads = 2,
            .heartbeat = std::chrono::milliseconds{5},
            .lost_after = lost_after,
            .start_limit = std::chrono::seconds{20},
            .stop_limit = std::chrono::seconds{20}};
}

class rank_batch {
public:
    /// What a rank does with a run; may take its time, or throw.
    using job = std::function<smdebug::run_result(int rank, const smdebug::batch_run& run, std::stop_token stop)>;

    rank_batch(int ranks, std::uint64_t runs) : all(ranks), stops(static_cast<std::size_t>(ranks)), runs_(runs) {}

    /// Every rank but those of `absent`, to their end.  What rank 0's call returns; throws what it throws.
    smdebug::ranks_outcome run(const smdebug::rank_options& options, const job& work,
                               const std::set<int>& absent = {}) {
        std::vector<std::jthread> others;
        for (int rank = 1; rank < static_cast<int>(stops.size()); ++rank) {
            if (!absent.contains(rank)) {
                others.emplace_back([this, rank, &options, &work] { serve(rank, options, work); });
            }
        }
        try {
            smdebug::ranks_outcome outcome = serve(0, options, work);
            all.end_forgotten();
            return outcome;
        } catch (...) {
            all.end_forgotten();
            throw;
        }
    }

    /// How often each run's result came to the sink.
    [[nodiscard]] std::map<std::uint64_t, int> counts() const {
        std::map<std::uint64_t, int> each;
        for (const smdebug::run_result& result : results) {
            ++each[result.run.place];
        }
        return each;
    }
    [[nodiscard]] bool each_once() const {
        for (const auto& [place, count] : counts()) {
            if (count != 1) {
                return false;
            }
        }
        return counts().size() == runs_;
    }
    [[nodiscard]] bool noted(const std::string& part) const {
        for (const std::string& each : notes) {
            if (each.find(part) != each.npos) {
                return true;
            }
        }
        return false;
    }
    /// The texts of abort(), or what else the other ranks threw.
    [[nodiscard]] std::map<int, std::string> failures() {
        const std::lock_guard lock{mutex_};
        return failures_;
    }

    fake_ranks all;
    std::vector<smdebug::run_result> results;
    std::vector<std::string> notes;
    std::function<void(const smdebug::run_result&)> on_result = {};  ///< before it is kept

    std::vector<std::stop_source> stops;  ///< a rank's own

private:
    smdebug::ranks_outcome serve(int rank, smdebug::rank_options options, const job& work) {
        std::uint64_t next = 0;
        const auto source = [&]() -> std::optional<smdebug::batch_run> {
            if (next == runs_) {
                return std::nullopt;
            }
            const std::uint64_t place = next++;
            return smdebug::batch_run{.place = place, .path = "run-" + std::to_string(place)};
        };
        const auto sink = [&](smdebug::run_result&& result) {
            if (on_result) {
                on_result(result);
            }
            results.push_back(std::move(result));
        };
        const std::size_t threads = options.threads;
        const auto engine = [&](smdebug::rank_work& from, const std::stop_token& stop) {
            smdebug::detail::first_failure failure;
            std::mutex mutex;
            {
                std::vector<std::jthread> crew;
                for (std::size_t i = 0; i < threads; ++i) {
                    crew.emplace_back([&] {
                        try {
                            while (auto run = from.next()) {
                                from.emit(work(rank, *run, stop));
                            }
                        } catch (...) {
                            const std::lock_guard lock{mutex};
                            failure.attempt([] { throw; });
                        }
                    });
                }
            }
            failure.rethrow();
        };
        if (rank == 0) {
            options.on_note = [this](const std::string& text) { notes.push_back(text); };
            return smdebug::run_on_ranks(*all.channel(0), options, source, sink, engine, stops[0].get_token());
        }
        try {
            return smdebug::run_on_ranks(*all.channel(rank), options, source, sink, engine,
                                         stops[static_cast<std::size_t>(rank)].get_token());
        } catch (const std::exception& thrown) {
            const std::lock_guard lock{mutex_};
            failures_[rank] = thrown.what();
        }
        return {};
    }

    std::uint64_t runs_;
    std::mutex mutex_;
    std::map<int, std::string> failures_;
};

}  // namespace smdebug_test
