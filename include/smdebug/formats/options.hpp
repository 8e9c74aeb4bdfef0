// How data of other tools are read as runs.
#pragma once

#include <smdebug/archive/options.hpp>

#include <cstdint>
#include <string>

namespace smdebug {
inline namespace v1 {

/// What the data at a path are read as.
enum class data_format : std::uint8_t {
    detect,       ///< by what is there; a run of the Python package comes first
    smdebug,      ///< a run of the Python package, by its index
    event_files,  ///< one without its index: from its event files alone
    tensorboard,  ///< logs of TensorBoard
    checkpoints,  ///< .safetensors, .npz and .npy
};

struct format_options {
    data_format as = data_format::detect;
    /// The step of a checkpoint in its name, as the regex's only group; empty: by the usual ways of naming them.
    std::string step_regex = {};
    /// TensorBoard: the folders below a run's are its workers; else they are runs of their own, which log_folders() tells, and
    /// only folders of modes are parts of it.
    bool folders_are_workers = true;
    /// Bytes of the largest record of an event file or log that is believed; one that claims more is a problem, and the file
    /// ends with it.  As size_limits::record, which bounds what is read of it later.
    std::uint64_t most_record_bytes = (std::uint64_t{1} << 31U) + 64;
    /// What an .npz, which is a zip, may hold: members, and bytes that they inflate to.  Its ratio is at least what deflate
    /// makes of zeros.
    archive_options npz = {};
};

}  // namespace v1
}  // namespace smdebug
