// What a trial and the tensor handles made from it share: storage, decoder, kernel, and the newest catalog.
// Handles stay valid when the trial is moved or destroyed, because they hold this.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/tensor/any_decoder.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/missing_files.hpp>
#include <smdebug/trial/read/passed_records.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class loader;

/// The shared part of a trial.
/// Threads: everything const may be called at once; one refresh runs at a time, readers keep the catalog that they
/// have.
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

    /// The newest catalog after a refresh, unless the run has been loaded whole.
    /// `changed_keys`: the only keys that have changed; see loader::load.
    /// Errors: what loader::load throws; the last catalog then stays.
    [[nodiscard]] std::shared_ptr<const catalog> refreshed(
        const std::vector<std::string>* changed_keys = nullptr) const;

    /// How long nothing new has come: since this trial last saw a new index file, and before the first since the last
    /// step was written, where the storage knows when that was, which it is asked once.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const;

    /// What wakes a wait for new steps.  Borrows this.
    [[nodiscard]] signal_source step_signals() const {
        return store_.source() != nullptr
                   ? signal_source{}  // its data announce nothing
                   : signals_of(store_, {std::string{locations::index_folder}, std::string{locations::end_of_job}});
    }
    [[nodiscard]] feed_pool& step_feeds() const noexcept { return step_feeds_; }
    /// When a wait that gives up has to look again, though nothing is announced: the job may have been quiet for long
    /// enough then, or have ended for long enough.
    [[nodiscard]] waiter::clock::time_point look_by(std::optional<std::chrono::milliseconds> give_up_after) const;

    [[nodiscard]] bool dynamic_refresh() const noexcept { return dynamic_refresh_.load(std::memory_order_relaxed); }

    /// Begins a setting of refreshing; the newest that has not ended decides, and refreshing is on where there is none.
    [[nodiscard]] std::uint64_t begin_refresh_setting(bool on) const;
    void end_refresh_setting(std::uint64_t number) const noexcept;

    [[nodiscard]] std::vector<problem> problems() const;

    /// " Did you mean a, b or c?" for a tensor that the run does not have, or nothing.
    /// Cost: a pass over all names.  Rules may ask at every step, and for many names: it is remembered, and of further
    /// names than most_hints nothing is said.
    [[nodiscard]] std::string names_near(std::string_view wanted) const;

    /// The key of the event file that an index file names; empty where it names none, or one outside of the run.
    [[nodiscard]] static std::string event_key(const catalog& from, const catalog::file& file);
    /// What is wrong with an index file for which there is no such key.
    [[nodiscard]] static lookup_error names_no_event_file(const catalog& from, const catalog::file& file);

    /// A piece of the event file that an index file names.  A running job may be about to write it: it is waited for,
    /// as long as the options say, unless the job has ended or the worker has gone on to a later step.
    /// One that was missing before is asked for again, but of a run that has ended no sooner than after the storage's
    /// own look_interval(), where looking costs time or money.
    /// Nothing is read of an entry that is in no object.
    [[nodiscard]] lookup<byte_buffer> read_event(const catalog& from, const catalog::file& file,
                                                 const layout::entry& entry) const;
    /// The part of an object that is read for an entry at once.
    /// Errors: corrupt_data for a record that claims more than limits.record, unavailable for other data that have more; those
    ///         of the storage.
    [[nodiscard]] byte_range part_to_read(const std::string& key, const layout::entry& entry) const;

    /// The reductions of a tensor, all that its dtype has, that were made in passing (see reduce_in_passing()); nothing
    /// where there are none, or this trial's own decoder and kernel may have others.
    [[nodiscard]] std::optional<passed_tensor> passed(const catalog& from, const catalog::file& file, byte_range record,
                                                      std::string_view name) const;

    /// How many event files read_event has missed, and not seen since: up to missing_files::most.
    [[nodiscard]] std::size_t missing_event_files() const noexcept { return missing_.count(); }

private:
    // Calls look(object, notes) where something was written down about an event file.
    void look_at_notes(
        const std::string& key,
        function_ref<void(const std::shared_ptr<const opened_object>&, const passed_records&)> look) const;

    [[nodiscard]] bool will_not_come(const catalog::file& file, const std::string& worker,
                                     const std::string& missing) const;

    // When the newest files that the catalog knows were written.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_written(const catalog& from) const;

    any_storage store_;
    trial_options options_;
    any_decoder decoder_;
    any_kernel kernel_;
    mutable guarded<std::unique_ptr<loader>> loader_;  // held by the one refresh
    int missing_event_file_retry_limit_;
    mutable guarded<std::shared_ptr<const catalog>> newest_;  // held for the exchange of a pointer
    waiter::clock::time_point opened_ = waiter::clock::now();
    mutable std::atomic<waiter::clock::rep> last_news_{0};  // when a refresh last found a file; 0: not yet
    struct first_dating {
        bool is_done = false;
        std::optional<std::chrono::system_clock::time_point> last_written = {};
    };
    mutable guarded<first_dating> dating_;  // held while the storage is asked
    mutable feed_pool step_feeds_;
    mutable missing_files missing_;
    static constexpr std::size_t most_hints = 16;
    mutable guarded<std::map<std::string, std::string, std::less<>>> hints_;  // by the name that is not there
    struct refresh_settings {
        struct choice {
            std::uint64_t number = 0;
            bool on = true;
        };
        std::vector<choice> live = {};  // oldest first
        std::uint64_t last_number = 0;
    };
    mutable guarded<refresh_settings> settings_;       // held while dynamic_refresh_ is set, too
    mutable std::atomic<bool> dynamic_refresh_{true};  // what they come to
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/trial_state.ipp>
#endif
