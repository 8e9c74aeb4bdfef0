// The optional arguments of trials and tensors: aggregates, so that a call reads like the Python one.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/index/collection.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// One text or several, so that both `.regex = "relu"` and `.regex = {"relu", "tanh"}` read well; or none at all, which
/// is not the same as an empty list.
class text_list {
public:
    text_list() = default;
    text_list(const char* text) : texts_{text}, is_set_(true) {}                            // NOLINT: implicit
    text_list(std::string_view text) : texts_{std::string{text}}, is_set_(true) {}          // NOLINT: implicit
    text_list(std::string text) : texts_{std::move(text)}, is_set_(true) {}                 // NOLINT: implicit
    text_list(std::vector<std::string> texts) : texts_(std::move(texts)), is_set_(true) {}  // NOLINT: implicit
    /// Literals only: from two std::strings in braces a std::string could be made as well, of a pair of iterators.
    text_list(std::initializer_list<const char*> texts) : texts_(texts.begin(), texts.end()), is_set_(true) {}

    [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }
    [[nodiscard]] bool empty() const noexcept { return texts_.empty(); }
    /// Whether anything was given, be it an empty list.
    [[nodiscard]] bool given() const noexcept { return is_set_; }

private:
    std::vector<std::string> texts_;
    bool is_set_ = false;
};

namespace detail {

/// A collection, by its name or by itself.
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

}  // namespace detail

/// What to do with an index file that is damaged.
enum class damage_policy : std::uint8_t {
    fail,  ///< opening, and every refresh, throws index_reader_exception
    skip,  ///< the file's steps are absent; trial.problems() names it
};

/// The most that is read of one thing at once: what a damaged or hostile file claims costs an error, not the memory.
/// Whatever they say, no more is read than is there.
struct size_limits {
    /// Of a record in an event file: protobuf's limit for a message is 2 GiB, and its frame comes on top of that.  Of a tensor
    /// of a checkpoint, that is in memory at once: larger ones are reduced in pieces.
    std::uint64_t record = (std::uint64_t{1} << 31U) + 64;
    std::uint64_t index_file = std::uint64_t{256} << 20U;  ///< some three million tensors
    std::uint64_t collections_file = std::uint64_t{256} << 20U;
    /// Of index files of one run, and of bytes in all of them: what a trial keeps of a run grows with both.
    std::uint64_t index_files = UINT64_MAX;
    std::uint64_t all_index_files = UINT64_MAX;

    /// For runs that come from anybody: a trial of one keeps some hundred MiB at most, and reading a tensor takes no more
    /// than its record and what docs/limits.md says of values that repeat.
    [[nodiscard]] static constexpr size_limits untrusted() noexcept {
        return {.record = std::uint64_t{64} << 20U,
                .index_file = std::uint64_t{4} << 20U,
                .collections_file = std::uint64_t{4} << 20U,
                .index_files = 1'000'000,
                .all_index_files = std::uint64_t{256} << 20U};
    }

    /// The same, where so many bytes are to do for a trial: half of them for a record, a quarter for what is kept of the index
    /// files.
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
    /// What the trial calls itself; the last part of its path if empty.
    std::string name = {};
    /// Only these global steps exist for this trial; of a TensorBoard log these steps of the log, of every mode.
    step_range range = {};
    /// How long to wait for a run that has not started, or whose collections files are not all there yet.
    std::chrono::milliseconds open_timeout{0};
    /// How often a wait looks again where the storage announces no change; not more often than the storage likes to be
    /// asked (s3_options::look_interval).
    std::chrono::milliseconds poll_interval{100};
    /// After how many incomplete steps half of them count as complete; at least 2.
    /// Unset: SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, else 1000.
    std::optional<int> incomplete_step_wait_window = {};
    /// For how many poll intervals a missing event file of a running job is waited for before its tensors count as
    /// unavailable.  Unset: SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT, else 10.
    std::optional<int> missing_event_file_retry_limit = {};
    damage_policy damaged_index = damage_policy::fail;
    /// Ends every wait of this trial; asked for while it is being opened it ends that, too, after the index file at hand.
    std::stop_token stop = {};
    /// How long after a job was seen to end its files are still looked for before the run counts as loaded: for
    /// storages that show what was written only later.  Unset: SMDEBUG_TRAINING_END_DELAY_REFRESH (seconds), else 0.
    std::optional<std::chrono::milliseconds> training_end_delay_refresh = {};
    /// After how long without anything new a job that has not ended counts as stalled.
    std::chrono::milliseconds stalled_after{std::chrono::minutes{30}};
    /// What is larger is damaged: a record is corrupt_record, an index file index_reader_exception (or skipped, see
    /// damaged_index), a collections file collections_file_exception; a run of more or larger index files altogether is an
    /// index_reader_exception in any case.
    size_limits limits = {};
};

/// trial.tensor_names(...).  `regex` and `collection` exclude each other.
struct tensor_names_options {
    text_list regex = {};
    std::optional<detail::collection_ref> collection = {};
    std::optional<step_number> step = {};
    smdebug::mode mode = smdebug::mode::global;
};

/// trial.steps(...), tensor.steps(...).
struct steps_options {
    smdebug::mode mode = smdebug::mode::global;
    bool show_incomplete_steps = false;
};

/// trial.wait_for_steps(...).  No timeout: for ever.
struct wait_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::chrono::milliseconds> timeout = {};
    std::stop_token stop = {};
    /// Give up when nothing new has come for so long, be it since before the wait.  Unset: never.
    std::optional<std::chrono::milliseconds> give_up_after = {};
};

/// tensor.shape(...), tensor.reduction_values(...) and others that read one step.
struct read_options {
    smdebug::mode mode = smdebug::mode::global;
    /// Unset: the first by name that saved the tensor at the step.
    std::optional<std::string> worker = {};
};

/// tensor.value(...).
struct value_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    /// Whether value<T>() may convert from another dtype, by copy.
    bool convert = false;
};

/// tensor.reduction_value(...).
struct reduction_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    bool abs = false;
};

/// tensor.values(...), tensor.shapes(...).
struct values_options {
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
};

/// tensor.prev_steps(...).  No n: all.
struct prev_steps_options {
    std::optional<std::int64_t> n = {};
    smdebug::mode mode = smdebug::mode::global;
};

}  // namespace v1
}  // namespace smdebug
