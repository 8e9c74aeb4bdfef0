// The optional arguments of trials and tensors: aggregates, so that a call reads like the Python one.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/index/collection.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// One text or several, so that both `.regex = "relu"` and `.regex = {"relu", "tanh"}` work; or none, which is not the
/// same as an empty list.
class text_list {
public:
    text_list() = default;
    text_list(const char* text) : texts_{text}, is_set_(true) {}                            // NOLINT: implicit
    text_list(std::string_view text) : texts_{std::string{text}}, is_set_(true) {}          // NOLINT: implicit
    text_list(std::string text) : texts_{std::move(text)}, is_set_(true) {}                 // NOLINT: implicit
    text_list(std::vector<std::string> texts) : texts_(std::move(texts)), is_set_(true) {}  // NOLINT: implicit
    /// Literals only: two std::strings in braces would also match std::string's constructor from two iterators.
    text_list(std::initializer_list<const char*> texts) : texts_(texts.begin(), texts.end()), is_set_(true) {}

    [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }
    [[nodiscard]] bool empty() const noexcept { return texts_.empty(); }
    /// Whether a list was given, even an empty one.
    [[nodiscard]] bool given() const noexcept { return is_set_; }

private:
    std::vector<std::string> texts_;
    bool is_set_ = false;
};

/// A collection, by name or as an object.
class collection_ref {
public:
    collection_ref(const char* name) : name_(name) {}                        // NOLINT: implicit
    collection_ref(std::string_view name) : name_(name) {}                   // NOLINT: implicit
    collection_ref(std::string name) : name_(std::move(name)) {}             // NOLINT: implicit
    collection_ref(const smdebug::collection& group) : name_(group.name) {}  // NOLINT: implicit

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
};

/// What to do with an index file that is damaged.
enum class damage_policy : std::uint8_t {
    fail,  ///< opening, and every refresh, throws corrupt_index
    skip,  ///< the file's steps are absent; trial.problems() names it
};

/// The most that is read of one thing at once: a damaged or hostile file causes an error, not a huge allocation.
/// Whatever the limits are, no more is read than exists.
struct size_limits {
    /// For a record in an event file: 2 GiB, as protobuf limits a message, and the record's frame.
    /// For a tensor of a checkpoint that is in memory at once: larger ones are reduced in pieces.
    std::uint64_t record = detail::usual_most_record_bytes;
    std::uint64_t index_file = std::uint64_t{256} << 20U;  ///< some three million tensors
    std::uint64_t collections_file = std::uint64_t{256} << 20U;
    /// For the index files of one run: their number, and their bytes in total.  What a trial keeps in memory grows with
    /// both.
    std::uint64_t index_files = UINT64_MAX;
    std::uint64_t all_index_files = UINT64_MAX;

    /// For runs from untrusted sources: a trial keeps at most some hundred MiB, and reading a tensor takes no more than
    /// its record and what docs/limits.md says about values that repeat.
    [[nodiscard]] static constexpr size_limits untrusted() noexcept {
        return {.record = std::uint64_t{64} << 20U,
                .index_file = std::uint64_t{4} << 20U,
                .collections_file = std::uint64_t{4} << 20U,
                .index_files = 1'000'000,
                .all_index_files = std::uint64_t{256} << 20U};
    }

    /// These limits for a trial that may use so many bytes: half of them for a record, a quarter for what is kept of
    /// the index files.
    [[nodiscard]] constexpr size_limits within(std::uint64_t bytes) const noexcept {
        size_limits some = *this;
        some.record = std::min(record, bytes / 2);
        some.index_file = std::min(index_file, bytes / 4);
        some.collections_file = std::min(collections_file, bytes / 4);
        some.all_index_files = std::min(all_index_files, bytes / 4);
        return some;
    }

    friend bool operator==(const size_limits&, const size_limits&) = default;
};

/// How to open a run.
struct trial_options {
    /// The trial's name; the last part of its path if empty.
    std::string name = {};
    /// Only these global steps exist for this trial; for a TensorBoard log these steps of the log, in every mode.
    step_range range = {};
    /// How long to wait for a run that has not started, or whose collections files are incomplete.
    std::chrono::milliseconds open_timeout{0};
    /// How often a wait looks again where the storage announces no change; never more often than the storage's own
    /// interval (s3_options::look_interval).
    std::chrono::milliseconds poll_interval{100};
    /// When more than this many steps follow the last complete one, half this many of them count as complete, so that a
    /// worker that has died does not block the run.  At least 2, else value_error.
    /// If unset: SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, else 1000.
    std::optional<int> incomplete_step_wait_window = {};
    /// For how many poll intervals to wait for a missing event file of a running job before its tensors count as
    /// unavailable.  If unset: SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT, else 10.
    std::optional<int> missing_event_file_retry_limit = {};
    damage_policy damaged_index = damage_policy::fail;
    /// Ends every wait of this trial.  A stop while the trial is being opened ends the opening after the current index
    /// file.
    std::stop_token stop = {};
    /// How long to look for new files after a job has ended, before the run counts as loaded: for storages that show
    /// new files with a delay.  If unset: SMDEBUG_TRAINING_END_DELAY_REFRESH (seconds), else 0.
    std::optional<std::chrono::milliseconds> training_end_delay_refresh = {};
    /// How long a job must write nothing before it counts as stalled.
    std::chrono::milliseconds stalled_after{std::chrono::minutes{30}};
    /// Anything larger counts as damaged: a record throws corrupt_record, an index file corrupt_index (or is
    /// skipped, see damaged_index), a collections file corrupt_collections_file.  A run with more index files, or
    /// more bytes in them, always throws corrupt_index.
    size_limits limits = {};
};

/// trial.tensor_names(...).  `regex` and `collection` exclude each other.
struct tensor_names_options {
    text_list regex = {};
    std::optional<collection_ref> collection = {};
    std::optional<step_number> step = {};
    smdebug::mode mode = smdebug::mode::global;
};

/// trial.steps(...), tensor.steps(...).
struct steps_options {
    smdebug::mode mode = smdebug::mode::global;
    bool show_incomplete_steps = false;
};

/// trial.wait_for_steps(...).  No timeout: waits indefinitely.
struct wait_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::chrono::milliseconds> timeout = {};
    std::stop_token stop = {};
    /// Gives up when nothing new has come for this long, counting time before the wait.  If unset, never.
    std::optional<std::chrono::milliseconds> give_up_after = {};
};

/// tensor.shape(...), tensor.saved_reduction_values(...), tensor.values(...) and others.
struct read_options {
    smdebug::mode mode = smdebug::mode::global;
    /// If unset, the first worker by name that saved the tensor at the step.
    std::optional<std::string> worker = {};
};

/// tensor.value(...).
struct value_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    /// Whether value<T>() may convert another dtype, with a copy.
    bool convert = false;
};

/// tensor.reduction_value(...).
struct reduction_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    bool abs = false;
};

/// tensor.prev_steps(...).  No n: all.
struct prev_steps_options {
    std::optional<std::int64_t> n = {};
    smdebug::mode mode = smdebug::mode::global;
};

/// How to walk over a run.
struct walk_options {
    /// Threads that read and work; 0 counts as 1, which is the calling thread.
    unsigned threads = 1;
    /// Called on the calling thread from time to time, with the number of finished event files and of all.
    std::function<void(std::size_t done, std::size_t all)> progress = {};
    /// Ends the walk after what is being read: at most 64 files for each thread, or 256 where the storage reads many
    /// ranges together.
    std::stop_token stop = {};
    /// The most bytes of event files that are in memory at once, on all threads together; a larger record that must be
    /// read whole takes its size nevertheless.
    std::uint64_t memory = std::uint64_t{256} << 20U;
};

class thread_budget;  // of core/ordered_thread_pool.hpp

/// How much data rules that share a trial cache.
struct sharing_options {
    /// Values of tensors, in bytes: the most recently used of this step and the previous one; and the same again for
    /// the last saves of tensors that comparisons use.  Reductions and results of measures of the last 16 saves are
    /// kept in addition.
    std::size_t value_bytes = std::size_t{256} << 20U;
    /// Whether a thread reduces the next available steps, up to 16, while rules evaluate the current one.
    bool look_ahead = true;
    /// Event files of a remote storage, in bytes: half for those of the next steps, a quarter for those of the last
    /// ones.  For a larger step the rest is read on demand.
    std::uint64_t file_bytes = std::uint64_t{256} << 20U;
    /// For many runs at once: a shared thread budget.  Up to `most_threads` threads prefetch, each some of the next
    /// steps; where none is free, or `most_threads` is 0, the walking thread reduces them.  If null, there is one
    /// additional thread, always available, whatever `most_threads` is.  Findings and numbers do not depend on the
    /// number of threads.
    std::shared_ptr<thread_budget> threads = {};
    unsigned most_threads = 8;

    /// These options for a run that may use so many bytes: an eighth of them for values (`value_bytes` is a sixteenth,
    /// and counts twice), a sixteenth for files, and a thread for each 128 MiB: below that, none.
    [[nodiscard]] sharing_options within(std::uint64_t bytes) const {
        sharing_options some = *this;
        some.value_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(value_bytes, bytes / 16));
        some.file_bytes = std::min(file_bytes, bytes / 16);
        some.most_threads = static_cast<unsigned>(std::min<std::uint64_t>(most_threads, bytes >> 27U));
        return some;
    }
};

}  // namespace smdebug::inline v1
