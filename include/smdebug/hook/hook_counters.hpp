// What a hook has done so far, and what it has lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Counts since a hook was made.  In a dry run: of what would have been written.
struct hook_counters {
    std::uint64_t steps = 0;            ///< steps written, or handed to the background
    std::uint64_t tensors = 0;          ///< tensors of these steps: values, reductions of one, or a shape count as one
    std::uint64_t bytes = 0;            ///< bytes of their event and index files
    std::uint64_t dropped_tensors = 0;  ///< tensors for which there was no room
    std::uint64_t lost_steps = 0;       ///< steps that could not be written, or were abandoned
    std::string last_loss = {};         ///< why, of the last one
    /// Names of tensors that were offered, by should_save() or a save, at steps at which anything was due, and that no
    /// saved collection holds: see basic_hook::unsaved_tensors().  As of the last step that ended.
    std::uint64_t unsaved_tensors = 0;
    /// Keys of files that an earlier process of this worker, which was killed, had begun to send to S3, which keeps the
    /// parts that have come, and charges for them: given up when the hook was made.
    std::vector<std::string> removed_uploads = {};
};

}  // namespace v1
}  // namespace smdebug
