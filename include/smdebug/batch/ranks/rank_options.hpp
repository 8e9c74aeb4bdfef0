// How a batch goes over many processes, and what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Every rank has its own threads, all ranks the same times.
struct rank_options {
    /// Of this rank's engine.  The rank has one run more than that at a time, or more where runs are small.
    std::size_t threads = 1;
    std::chrono::milliseconds heartbeat{1'000};      ///< so often a rank says that it lives
    std::chrono::milliseconds lost_after{20'000};    ///< a rank of which nothing is heard for so long is lost
    std::chrono::milliseconds start_limit{120'000};  ///< the same before its first word
    std::chrono::milliseconds stop_limit{10'000};    ///< so long all may take to end once they are told to stop
    unsigned losses = 2;                             ///< a run that so many ranks were lost with is given up
    /// What the user should know: lost ranks, those that are back, runs that are given up.  Called by the thread that calls
    /// run_on_ranks().
    std::function<void(const std::string&)> on_note = {};
};

/// What came of it, as rank 0 knows it.
struct ranks_outcome {
    std::uint64_t results = 0;   ///< that the sink was given
    std::uint64_t undone = 0;    ///< of these: undone, as the batch was stopped or too many ranks were lost
    std::vector<int> lost = {};  ///< ranks that did not come to their end
    bool stopped = false;        ///< the source has not been asked to its end
};

}  // namespace v1
}  // namespace smdebug
