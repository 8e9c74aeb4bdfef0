// The part of a list of runs that one of many independent jobs scans: --shard 2/4, or the number of a job in an array.
#pragma once

#include <smdebug/core/function_ref.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {

/// One of `count` parts of a list, counted from 1.  A run's part depends on its path alone: it stays the same when
/// other runs come or go.  Parts are as even as chance makes them: of 10,000 runs in 4 parts each has some 2,500, give
/// or take 90.
struct run_shard {
    std::uint64_t index = 1;
    std::uint64_t count = 1;

    /// Whether a run of this path is in this part.  `path` as it stands in the list; slashes at its end do not count.
    [[nodiscard]] bool has(std::string_view path) const noexcept;
    friend constexpr bool operator==(const run_shard&, const run_shard&) = default;
};

/// "2/4": the second of four.  "array": this job's of the array that it is in, see shard_of_array().
/// Errors: value_error: not of this form; index not from 1 to count; "array" where no array is.
[[nodiscard]] run_shard parse_shard(std::string_view text);

/// This job's part, where Slurm or AWS Batch started it as one of an array; nothing elsewhere.
///   Slurm      SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP: `--array=1-4`, `0-3`, `10-40:10`; not `1,2,7`
///   AWS Batch  AWS_BATCH_JOB_ARRAY_INDEX (from 0) and AWS_BATCH_JOB_ARRAY_SIZE
/// `variable` gives an environment variable, nothing where it is not set; by default the process's own.
/// Errors: value_error: variables that are missing, no numbers, or of an array with gaps: such jobs need a shard by
/// number.
[[nodiscard]] std::optional<run_shard> shard_of_array(function_ref<std::optional<std::string>(const char*)> variable);
[[nodiscard]] std::optional<run_shard> shard_of_array();

}  // namespace smdebug::inline v1
