// What a trial and the tensor handles made from it share: storage, decoder, kernel, and the newest catalog.
// Handles stay valid when the trial is moved or destroyed, because they hold this.
// Used by: trial/basic_trial.hpp, trial/tensor_handle.hpp, trial/refresh_guard.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/trial/bounded_record.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/loader.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/wait.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The shared part of a trial.
/// Threads: everything const may be called at once; one refresh runs at a time, readers keep the catalog that they
/// have.
template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
class trial_state {
public:
    using storage_type = Storage;
    using decoder_type = Decoder;
    using kernel_type = Kernel;

    trial_state(Storage store, trial_options options, Decoder decoder, Kernel kernel)
        : store_(std::move(store)),
          options_(std::move(options)),
          decoder_(std::move(decoder)),
          kernel_(std::move(kernel)),
          loader_(store_, options_),
          newest_(std::make_shared<const catalog>(loader_.open())) {}

    trial_state(const trial_state&) = delete;
    trial_state& operator=(const trial_state&) = delete;
    ~trial_state() = default;

    [[nodiscard]] const Storage& store() const noexcept { return store_; }
    [[nodiscard]] const trial_options& options() const noexcept { return options_; }
    [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }
    [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }

    /// The newest catalog.  Cost: one reference count under a lock.
    [[nodiscard]] std::shared_ptr<const catalog> current() const {
        const std::lock_guard lock{publishing_};
        return newest_;
    }

    /// The newest catalog after a refresh, if refreshing is on and the run may still grow.
    [[nodiscard]] std::shared_ptr<const catalog> fresh() const {
        return dynamic_refresh_.load(std::memory_order_relaxed) ? refreshed() : current();
    }

    /// The newest catalog after a refresh, unless the run has been loaded whole.
    /// `told`: the only keys that have changed; see loader::load.
    /// Errors: what loader::load throws; the last catalog then stays.
    [[nodiscard]] std::shared_ptr<const catalog> refreshed(const std::vector<std::string>* told = nullptr) const {
        auto last = current();
        if (last->loaded_all_steps) {
            return last;
        }
        const std::lock_guard lock{loading_};
        last = current();  // somebody else may have been at it
        if (last->loaded_all_steps) {
            return last;
        }
        // Made before the load: what the loader remembers is of a catalog that has to be published then.
        const auto published = std::make_shared<catalog>();
        if (auto next = loader_.load(*last, told)) {
            if (next->file_count > last->file_count) {
                last_news_.store(waiter::clock::now().time_since_epoch().count(), std::memory_order_relaxed);
            }
            *published = std::move(*next);
            const std::lock_guard publish{publishing_};
            newest_ = published;
            return published;
        }
        return last;
    }

    /// How long nothing new has come: since this trial last saw a new index file, and before the first since the last
    /// step was written, where the storage knows when that was, which it is asked once.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const {
        using std::chrono::milliseconds;
        const waiter::clock::duration seen{last_news_.load(std::memory_order_relaxed)};
        const auto now = waiter::clock::now();
        if (seen.count() != 0) {
            return std::chrono::duration_cast<milliseconds>(now.time_since_epoch() - seen);
        }
        auto quiet = std::chrono::duration_cast<milliseconds>(now - opened_);
        const std::lock_guard lock{dating_};
        if (!dated_) {  // as long as nothing new has come, the answer is the same
            written_ = last_written(*current());
            dated_ = true;
        }
        if (const auto written = written_) {
            quiet = std::max(quiet, time_between(*written, std::chrono::system_clock::now()));
        }
        return quiet;
    }

    /// What wakes a wait for new steps.  Borrows this.
    [[nodiscard]] signal_source step_signals() const {
        return signals_of(store_, {std::string{locations::index_folder}, std::string{locations::end_of_job}});
    }
    [[nodiscard]] feed_pool& step_feeds() const noexcept { return step_feeds_; }
    /// When a wait that gives up has to look again, though nothing is announced: the job may have been quiet for long
    /// enough then, or have ended for long enough.
    [[nodiscard]] waiter::clock::time_point look_by(std::optional<std::chrono::milliseconds> give_up_after) const {
        auto latest = waiter::clock::time_point::max();
        if (give_up_after && *give_up_after < std::chrono::hours{24 * 365}) {
            latest = waiter::clock::now() + std::max(*give_up_after - quiet_time(), std::chrono::milliseconds{0}) +
                     std::chrono::milliseconds{1};
        }
        const std::lock_guard lock{loading_};
        return std::min(latest, loader_.end_due().value_or(latest));
    }

    [[nodiscard]] bool dynamic_refresh() const noexcept { return dynamic_refresh_.load(std::memory_order_relaxed); }

    /// Begins a setting of refreshing; the newest that has not ended decides, and refreshing is on where there is none.
    [[nodiscard]] std::uint64_t begin_refresh_setting(bool on) const {
        const std::lock_guard lock{setting_};
        settings_.push_back({++last_setting_, on});
        dynamic_refresh_.store(on, std::memory_order_relaxed);
        return last_setting_;
    }
    void end_refresh_setting(std::uint64_t number) const noexcept {
        const std::lock_guard lock{setting_};
        std::erase_if(settings_, [&](const refresh_choice& held) { return held.number == number; });
        dynamic_refresh_.store(settings_.empty() || settings_.back().on, std::memory_order_relaxed);
    }

    [[nodiscard]] std::vector<problem> problems() const {
        const std::lock_guard lock{loading_};
        return loader_.problems();
    }

    /// The key of the event file that an index file names; empty where it names none, or one outside of the run.
    [[nodiscard]] static std::string event_key(const catalog& from, const catalog::file& held) {
        if (held.event_file == catalog::usual_event_file) {
            return locations::event_key(held.step, from.workers[held.worker]);
        }
        const std::string& named = from.event_files[held.event_file];
        return stays_inside(named) ? named : std::string{};
    }
    /// What is wrong with an index file for which there is no such key.
    [[nodiscard]] static lookup_failure names_no_event_file(const catalog& from, const catalog::file& held) {
        const std::string& named = from.event_files[held.event_file];
        return {.why = absence::damaged,
                .where = locations::index_key(held.step, from.workers[held.worker]),
                .note = named.empty() ? "the index file names no event file"
                                      : "the index file names an event file outside of the run, \"" + named + "\""};
    }

    /// A piece of the event file that an index file names.  A running job may be about to write it: it is waited for,
    /// as long as the options say, unless the job has ended or the worker has gone on to a later step.
    [[nodiscard]] lookup<byte_buffer> read_event(const catalog& from, const catalog::file& held,
                                                 byte_range where) const {
        const std::string key = event_key(from, held);
        if (key.empty()) {
            return names_no_event_file(from, held);
        }
        std::optional<waiter> pauses;
        bool last_try = false;
        while (true) {
            try {
                return store_.read(key, record_bound{decoder_, options_.limits.record}(store_, key, where));
            } catch (const not_found&) {
                // Not there, or not there yet: see below.
            } catch (const std::exception&) {
                return failure_at_hand(key, where.offset);
            }
            if (last_try) {
                return lookup_failure{.why = absence::event_file_missing, .where = key};
            }
            if (!pauses) {
                const std::chrono::milliseconds interval = look_interval(store_, options_.poll_interval);
                pauses.emplace(interval, waiter::intervals(interval, loader_.settled().missing_event_file_retry_limit),
                               options_.stop, std::stop_token{},
                               signals_of(store_, {key, std::string{locations::end_of_job}}));
            }
            // It may have come just before whatever says that it will not come any more.
            last_try =
                will_not_come(held, from.workers[held.worker], key) || pauses->pause() != wait_outcome::look_again;
        }
    }

private:
    [[nodiscard]] bool will_not_come(const catalog::file& held, const std::string& worker,
                                     const std::string& missing) const {
        const auto newest = current();
        if (newest->loaded_all_steps || store_.size(locations::end_of_job)) {
            return true;
        }
        const catalog::file* last = nullptr;
        for (auto at = newest->steps.lower_bound(held.step + 1); at != newest->steps.end(); ++at) {
            for (const catalog::file& later : at->files()) {
                last = newest->workers[later.worker] == worker ? &later : last;
            }
        }
        if (last != nullptr && store_.size(event_key(*newest, *last))) {
            return true;
        }
        // A later event file may be there before its index file is.
        const auto wanted = locations::parse_step_file(missing, locations::event_extension);
        if (!wanted) {
            return false;  // a name that says neither step nor worker has no later one
        }
        for (const std::string& key : store_.list(locations::events_folder, missing)) {
            const auto there = locations::parse_step_file(key, locations::event_extension);
            if (there && there->worker_part == wanted->worker_part && there->step > wanted->step) {
                return true;
            }
        }
        return false;
    }

    // When the newest files that the catalog knows were written.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_written(const catalog& from) const {
        std::optional<std::chrono::system_clock::time_point> last;
        if constexpr (dated_storage<Storage>) {
            const auto look_at = [&](const std::string& key) {
                const auto written = store_.modified(key);
                last = written && (!last || *last < *written) ? written : last;
            };
            if (from.steps.empty()) {
                for (const std::string& worker : from.job->collection_workers) {
                    look_at(locations::collections_key(worker));
                }
            } else {
                for (const catalog::file& held : from.steps.back().files()) {
                    look_at(locations::index_key(held.step, from.workers[held.worker]));
                }
            }
        }
        return last;
    }

    Storage store_;
    trial_options options_;
    Decoder decoder_;
    Kernel kernel_;
    mutable std::mutex loading_;  // held by the one refresh
    mutable loader<Storage> loader_;
    mutable std::mutex publishing_;  // held for the exchange of a pointer
    mutable std::shared_ptr<const catalog> newest_;
    waiter::clock::time_point opened_ = waiter::clock::now();
    mutable std::atomic<waiter::clock::rep> last_news_{0};  // when a refresh last found a file; 0: not yet
    mutable std::mutex dating_;
    mutable bool dated_ = false;  // whether written_ was asked for
    mutable std::optional<std::chrono::system_clock::time_point> written_;
    mutable feed_pool step_feeds_;
    struct refresh_choice {
        std::uint64_t number = 0;
        bool on = true;
    };
    mutable std::mutex setting_;
    mutable std::vector<refresh_choice> settings_;  // live ones, oldest first
    mutable std::uint64_t last_setting_ = 0;
    mutable std::atomic<bool> dynamic_refresh_{true};  // what they come to
};

}  // namespace v1
}  // namespace smdebug
