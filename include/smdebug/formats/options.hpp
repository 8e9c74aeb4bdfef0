// How data of other tools is read as runs.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/bytes.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace smdebug::inline v1 {

/// The format that the data at a path is read as.
enum class data_format : std::uint8_t {
    detect,       ///< detected; a run of the Python package comes first
    smdebug,      ///< a run of the Python package, by its index
    event_files,  ///< one without its index: from its event files alone
    tensorboard,  ///< TensorBoard logs
    checkpoints,  ///< .safetensors, .npz, .npy, and what PyTorch saves
};

struct format_options {
    data_format as = data_format::detect;
    /// A regex whose only group matches the step in a checkpoint's name; if empty, the usual names are recognised.
    std::string step_regex = {};
    /// Since when the data are followed while they are written; if unset, they are read as they are.  If followed, a
    /// checkpoint is shown once it is whole and nothing of it was written for two seconds, one below
    /// "tmp-checkpoint-..." once it has its own name; one that is removed is no problem; pickled files are named once,
    /// not in each checkpoint; and the end is awaited for three times the longest pause before a checkpoint since then.
    std::optional<std::chrono::system_clock::time_point> followed_since = {};
    /// For TensorBoard's logs: whether the folders below a run's folder are its workers.  Otherwise they are runs of
    /// their own, which log_folders() lists, and only folders of modes belong to the run.
    bool folders_are_workers = true;
    /// The size limit of a record of an event file or log; a larger one is a problem, and ends the file.  See
    /// size_limits::record for the limit on reading it later.
    std::uint64_t most_record_bytes = detail::usual_most_record_bytes;
    /// Limits on what is unpacked from checkpoints.  For an .npz and a .pt, which are zips: members, and inflated
    /// bytes; the inflation ratio is at least what deflate reaches for zeros.  A pickle has at most a 64th of
    /// most_bytes, and 256 MiB.
    archive_options unpacking = {};
};

}  // namespace smdebug::inline v1
