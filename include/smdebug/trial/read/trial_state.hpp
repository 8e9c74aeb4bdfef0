// What a trial and its tensor handles share: storage, decoder, kernel, and the newest catalog.
// Handles hold this, so they stay valid when the trial is moved or destroyed.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug::inline v1::detail {

/// Remembers the keys of missing files, and when each was last checked.  A file that was missing may have appeared
/// since: a caller that finds it here checks again, in the way that is cheap for a missing file.
/// Memory: some hundred bytes a file, 65,536 files at most; further ones are not remembered.
/// Threads: all calls may run concurrently.  Cost: negligible while no file is missing.
class missing_files {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::size_t most = std::size_t{1} << 16U;

    /// The number of files known to be missing.
    [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    [[nodiscard]] bool contains(std::string_view key) const { return count() > 0 && is_known(key); }
    /// Whether it was checked, and was missing, less than an interval ago.
    [[nodiscard]] bool asked_within(std::string_view key, std::chrono::milliseconds interval) const;

    /// Notes that it is missing now.
    void note(const std::string& key);
    /// Notes that it exists now.
    void forget(const std::string& key);

private:
    [[nodiscard]] bool is_known(std::string_view key) const;

    using times = std::unordered_map<std::string, clock::time_point, text_hash, std::equal_to<>>;

    mutable synchronized<times> asked_;
    std::atomic<std::size_t> count_{0};
};

class loader;

/// The shared state of a trial.
/// Threads: all const calls may run concurrently; one refresh runs at a time, readers keep the catalog that they have.
class trial_state {
public:
    trial_state(any_storage store, trial_options options, any_decoder decoder, any_kernel kernel);

    trial_state(const trial_state&) = delete;
    trial_state& operator=(const trial_state&) = delete;
    ~trial_state();

    [[nodiscard]] const any_storage& store() const noexcept { return store_; }
    [[nodiscard]] const trial_options& options() const noexcept { return options_; }
    [[nodiscard]] const any_decoder& decoder() const noexcept { return decoder_; }
    [[nodiscard]] const any_kernel& kernel() const noexcept { return kernel_; }

    /// The newest catalog.  Cost: one reference count under a lock.
    [[nodiscard]] std::shared_ptr<const catalog> current() const;

    /// The newest catalog after a refresh, if refreshing is on and the run may still grow.
    [[nodiscard]] std::shared_ptr<const catalog> fresh() const {
        return dynamic_refresh_.load(std::memory_order_relaxed) ? refreshed() : current();
    }

    /// The newest catalog after a refresh, unless the run has been loaded completely.
    /// `changed_keys`: the only keys that have changed; see loader::load.
    /// Errors: what loader::load throws; the last catalog then stays.
    [[nodiscard]] std::shared_ptr<const catalog> refreshed(
        const std::vector<std::string>* changed_keys = nullptr) const;

    /// The newest catalog, for a caller that has read something that does not fit the current one: if refreshing is on,
    /// after a refresh that finds out what was written again, see loader::doubt().
    [[nodiscard]] std::shared_ptr<const catalog> rechecked() const;

    /// See trial::quiet_time().  The storage is queried at most once.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const;
    /// The part of it that this process has seen pass: since it opened the run, at most.
    [[nodiscard]] std::chrono::milliseconds watched_quiet_time() const;

    /// The signals that wake a wait for new steps.  Borrows this.
    [[nodiscard]] signal_source step_signals() const {
        return store_.source() != nullptr
                   ? signal_source{}  // its data announce nothing
                   : signals_of(store_, {std::string{locations::index_folder}, std::string{locations::end_of_job}});
    }
    [[nodiscard]] feed_pool& step_feeds() const noexcept { return step_feeds_; }
    /// When a wait that may give up has to look again even without an announcement: by then the job may have been
    /// quiet, or have ended, for long enough.
    [[nodiscard]] waiter::clock::time_point look_by(std::optional<std::chrono::milliseconds> give_up_after) const;

    [[nodiscard]] bool dynamic_refresh() const noexcept { return dynamic_refresh_.load(std::memory_order_relaxed); }

    /// Begins a setting of refreshing; the newest active setting decides; without one refreshing is on.
    [[nodiscard]] std::uint64_t begin_refresh_setting(bool on) const;
    void end_refresh_setting(std::uint64_t number) const noexcept;

    [[nodiscard]] std::vector<problem> problems() const;

    /// " Did you mean a, b or c?" for a tensor that the run does not have, or nothing.
    /// Cost: a pass over all names.  Rules may call this at every step and for many names, so results are cached; after
    ///       most_hints names it returns nothing.
    [[nodiscard]] std::string names_near(std::string_view wanted) const;

    /// The key of the event file that an index file names; empty if it names none, or one outside the run.
    [[nodiscard]] static std::string event_key(const catalog& from, const catalog::file& file);
    /// The error for an index file without such a key.
    [[nodiscard]] static lookup_error names_no_event_file(const catalog& from, const catalog::file& file);

    /// A piece of the event file that an index file names.  A running job may be about to write it: the call waits for
    /// it, as long as the options say, unless the job has ended or the worker has continued with a later step.
    /// A file that was missing before is looked up again; but if the run has ended and looking costs time or money,
    /// only after the storage's own look_interval().
    /// Nothing is read for an entry that is not in an object.
    [[nodiscard]] lookup<byte_buffer> read_event(const catalog& from, const catalog::file& file,
                                                 const layout::entry& entry) const;
    /// The part of an object that is read for an entry at once.
    /// Errors: corrupt_data for a record that claims more than limits.record, unavailable for larger entries of other
    ///         data; those of the storage.
    [[nodiscard]] byte_range part_to_read(const std::string& key, const layout::entry& entry) const;

    /// The reductions of a tensor, all that its dtype has, that reduce_in_passing() computed; nothing if there are
    /// none, or if this trial's own decoder and kernel might give other numbers.
    [[nodiscard]] std::optional<early_reductions> reduced_early(const catalog& from, const catalog::file& file,
                                                                byte_range record, std::string_view name) const;

    /// How many event files read_event found missing and has not seen since: up to missing_files::most.
    [[nodiscard]] std::size_t missing_event_files() const noexcept { return missing_.count(); }

private:
    // What reduce_in_passing() noted of an event file; null if nothing.
    [[nodiscard]] std::shared_ptr<const cached_reductions> notes_of(const std::string& key) const;

    [[nodiscard]] bool will_not_come(const catalog::file& file, const std::string& worker,
                                     const std::string& missing) const;

    // When the newest files in the catalog were written.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_written(const catalog& from) const;

    any_storage store_;
    trial_options options_;
    any_decoder decoder_;
    any_kernel kernel_;
    mutable synchronized<std::unique_ptr<loader>> loader_;  // locked during a refresh
    int missing_event_file_retry_limit_;
    mutable synchronized<std::shared_ptr<const catalog>> newest_;  // locked only to exchange a pointer
    waiter::clock::time_point opened_ = waiter::clock::now();
    mutable std::atomic<waiter::clock::time_point> last_news_{opened_};  // when a refresh last found something
    struct first_dating {
        bool is_done = false;
        std::optional<std::chrono::system_clock::time_point> last_written = {};
    };
    mutable synchronized<first_dating> dating_;  // locked while the storage is queried
    mutable feed_pool step_feeds_;
    mutable missing_files missing_;
    static constexpr std::size_t most_hints = 16;
    mutable synchronized<std::map<std::string, std::string, std::less<>>> hints_;  // by the missing name
    struct refresh_settings {
        struct choice {
            std::uint64_t number = 0;
            bool on = true;
        };
        std::vector<choice> live = {};  // oldest first
        std::uint64_t last_number = 0;
    };
    mutable synchronized<refresh_settings> settings_;  // locked while dynamic_refresh_ is set, too
    mutable std::atomic<bool> dynamic_refresh_{true};  // the resulting setting
};

/// Polls until a caller-defined condition holds: look(), then, while the catalog does not meet it, given_up(), pause()
/// and look() again.
/// Borrows the state.  One thread uses it.
class step_wait {
public:
    /// The mode in `how` is ignored.
    step_wait(const trial_state& state, const wait_options& how);

    /// The newest catalog after a look at what has changed.  Errors: what a refresh throws; nothing is lost then.
    [[nodiscard]] std::shared_ptr<const catalog> look();

    /// Whether nothing new has come for as long as the wait may last.
    [[nodiscard]] bool given_up() const;

    /// Sleeps until another look is worthwhile.
    [[nodiscard]] wait_outcome pause();

private:
    const trial_state& state_;
    std::optional<std::chrono::milliseconds> give_up_after_;
    waiter pauses_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/trial_state.ipp>
#endif
