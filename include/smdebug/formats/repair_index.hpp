// A new index for a run that has lost its own, or some of it, from what its event files say.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What a repair does, or would do.
struct index_repair {
    enum class action : std::uint8_t {
        written,   ///< was not there
        replaced,  ///< was damaged, or not what the event file says; it is kept under its name and ".damaged"
    };
    struct file {
        std::string key = {};
        action what = action::written;
        std::string why = {};      ///< a sentence without the file's name
        std::string dropped = {};  ///< what the old file has, or may have had, and the new one has not; empty: nothing
        std::string text = {};     ///< what is to be in it
    };

    std::vector<file> files = {};  ///< by key
    std::vector<std::string> problems =
        {};  ///< what of the event files is damaged and left out; index files without an event file
    std::size_t event_files = 0;  ///< that were read
    std::size_t good = 0;         ///< index files that stay as they are
};

/// Reads all event files of a run of the Python package, compares them with its index, and says what is to be written.
/// An index file stays where it names what the event file has, in whatever formatting, and shapes beside it.  One that
/// is replaced keeps its order and the shapes that it has, unless it is the file of another step.
/// Nobody is to be writing the run.      Errors: those of the storage; not_found: no event files.
/// Cost: a pass over the run.  Memory: 40 bytes a record, and the texts.
[[nodiscard]] index_repair plan_index_repair(const any_storage& store);

/// Does it; each file is on the disk before the next one is written.  Event files are never touched.  Returns how many
/// files were written: all, unless `stop` came between two of them.
/// Errors: those of the storage; the files before that were written.
std::size_t repair_index(any_storage& store, const index_repair& plan, const std::stop_token& stop = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/repair_index.ipp>
#endif
