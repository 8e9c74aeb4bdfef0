// What a hook finds where it is to write: nothing, a run that has ended, or one that was interrupted.
// An interrupted one can be continued: a step is whole when its index file is there, so what lies beyond is taken away.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/index_meta.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/writable.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Where an interrupted run is continued.
struct continuation {
    step_number step = 0;                    ///< the first step to be written
    std::map<mode, step_number> mode_steps;  ///< the next step of each mode; of one that is not named, 0
    written_steps written;                   ///< by this worker, and still there
};

/// The run of one worker that lies in a storage already.
class earlier_run {
public:
    /// `how`: whether what is taken away may come back after a loss of power.      Cost: a listing of index/.
    earlier_run(any_storage store, const std::string& worker, durability how = durability::cached);

    /// Errors: run_exists where the job has ended, or this worker has written a step.
    void refuse() const;

    /// Makes room for the steps from `first` on: removes what this worker has written of them, the newest first, so that
    /// what is left is a run at any moment.  Without `first` it goes on behind the last step whose index file is not
    /// damaged.  Damaged index files before that stay, for a repair.
    /// The steps between the last one that is there and `first`, which were not saved, are taken for steps of the mode
    /// that has come farthest: that of the training, as those of the others are few, and mostly saved.  Where nothing
    /// is there, each mode begins at `first`, as in the Python package.
    /// Errors: run_exists where the job has ended; unsupported where the storage cannot remove; unavailable where an index
    ///         file cannot be read.
    /// Cost:   the index files are read, all of them: which modes there were, and how far each has come, is in no name.
    [[nodiscard]] continuation resume(std::optional<step_number> first);

    /// Discards files of this worker that a killed process had begun to write, where the storage keeps such parts.
    /// Returns their keys.  Those of other workers, who may be at work, stay; so does what may not
    /// be listed or given up.
    std::vector<std::string> remove_unfinished() noexcept;

    /// The collections file of this worker, where there is one that is not damaged.  Errors: as resume().
    [[nodiscard]] std::optional<collections_file> collections() const;

private:
    // The name of a temporary file up to the mark that it has until it is whole; nothing for other names.
    [[nodiscard]] static std::optional<std::string_view> stem_of_temporary(std::string_view name) noexcept;

    void refuse_ended() const;

    void remove(const std::string& key);

    // The step in the name of a file of this worker, or of a temporary one on its way to such a name.
    [[nodiscard]] std::optional<step_number> own_step(std::string_view key) const;

    // Events without an index, and what a writer that was killed had not renamed yet.
    void remove_rests(step_number first);

    void find_mode_steps(continuation& next);

    // The meta part of an index file; nothing where it is damaged.  The rest may be.
    [[nodiscard]] static std::optional<index_file::meta> head_of(byte_view bytes, json::document& parser);
    // Whether no part of an index file is damaged; if so, its meta part is put into `head`.
    [[nodiscard]] static bool is_whole(byte_view bytes, json::document& parser, index_file::meta& head);

    // Does what reads files of this worker.      Errors: unavailable, with what can be done, where one cannot be read.
    void read_or_tell(function_ref<void()> reading) const;

    // Removes the index files of the last steps that are damaged, where the storage can remove: a step is written when its
    // index file is.
    void remove_damaged_end();

    void remove_last_step();

    // Sees to it that the index files that were removed stay away, before other events come to lie where theirs did.
    void settle_removals();

    any_storage store_;
    std::string worker_;
    durability how_;
    std::string part_;                                         // the worker in file names
    std::map<step_number, std::string> steps_;                 // index files by step
    std::vector<std::string> strays_;                          // what else of this worker lies in index/
    std::map<std::string, std::string, std::less<>> removed_;  // by folder, one of the keys that were removed from it
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/earlier_run.ipp>
#endif
