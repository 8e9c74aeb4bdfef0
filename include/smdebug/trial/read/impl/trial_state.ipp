// The bodies of <smdebug/trial/read/trial_state.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/load/loader.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE bool missing_files::is_known(std::string_view key) const { return asked_.lock()->contains(key); }

SMDEBUG_INLINE bool missing_files::asked_within(std::string_view key, std::chrono::milliseconds interval) const {
    if (count() == 0 || interval.count() <= 0) {
        return false;
    }
    const auto known = asked_.lock();
    const auto last = known->find(key);
    return last != known->end() && clock::now() - last->second < interval;
}

SMDEBUG_INLINE void missing_files::note(const std::string& key) {
    const auto known = asked_.lock();
    if (known->size() < most || known->contains(key)) {
        known->insert_or_assign(key, clock::now());
        count_.store(known->size(), std::memory_order_relaxed);
    }
}

SMDEBUG_INLINE void missing_files::forget(const std::string& key) {
    const auto known = asked_.lock();
    known->erase(key);
    count_.store(known->size(), std::memory_order_relaxed);
}

SMDEBUG_INLINE trial_state::trial_state(any_storage store, trial_options options, any_decoder decoder,
                                        any_kernel kernel)
    : store_(std::move(store)),
      options_(std::move(options)),
      decoder_(std::move(decoder)),
      kernel_(std::move(kernel)),
      loader_(std::make_unique<loader>(store_, options_)),
      missing_event_file_retry_limit_((*loader_.lock())->settled().missing_event_file_retry_limit),
      newest_(std::make_shared<const catalog>((*loader_.lock())->open())) {}

SMDEBUG_INLINE trial_state::~trial_state() = default;

SMDEBUG_INLINE std::shared_ptr<const cached_reductions> trial_state::notes_of(const std::string& key) const {
    std::shared_ptr<const opened_object> object = store_.abilities().opens_small ? store_.open(key) : nullptr;
    const auto* const notes = object != nullptr ? dynamic_cast<const cached_reductions*>(object->notes()) : nullptr;
    return {std::move(object), notes};
}

SMDEBUG_INLINE std::shared_ptr<const catalog> trial_state::current() const { return *newest_.lock(); }

SMDEBUG_INLINE std::shared_ptr<const catalog> trial_state::refreshed(
    const std::vector<std::string>* changed_keys) const {
    auto last = current();
    if (last->loaded_all_steps) {
        return last;
    }
    const auto loading = loader_.lock();
    last = current();  // another thread may have loaded one
    if (last->loaded_all_steps) {
        return last;
    }
    // Allocated before the load: once the loader has stored the new catalog, publishing it must not fail.
    const auto published = std::make_shared<catalog>();
    if (auto next = (*loading)->load(*last, changed_keys)) {
        if (next->load != last->load) {
            last_news_.store(waiter::clock::now(), std::memory_order_relaxed);
        }
        *published = std::move(*next);
        *newest_.lock() = published;
        return published;
    }
    return last;
}

SMDEBUG_INLINE std::shared_ptr<const catalog> trial_state::rechecked() const {
    if (!current()->loaded_all_steps) {
        (*loader_.lock())->doubt();  // also for a later refresh
    }
    return fresh();
}

SMDEBUG_INLINE std::chrono::milliseconds trial_state::watched_quiet_time() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(waiter::clock::now() -
                                                                 last_news_.load(std::memory_order_relaxed));
}

SMDEBUG_INLINE std::chrono::milliseconds trial_state::quiet_time() const {
    auto quiet = watched_quiet_time();
    if (last_news_.load(std::memory_order_relaxed) != opened_) {
        return quiet;
    }
    const auto dating = dating_.lock();
    if (!dating->is_done) {  // as long as nothing new has come, the answer is the same
        dating->last_written = last_written(*current());
        dating->is_done = true;
    }
    if (const auto written = dating->last_written) {
        quiet = std::max(quiet, time_between(*written, std::chrono::system_clock::now()));
    }
    return quiet;
}

SMDEBUG_INLINE waiter::clock::time_point trial_state::look_by(
    std::optional<std::chrono::milliseconds> give_up_after) const {
    auto latest = waiter::clock::time_point::max();
    if (give_up_after && *give_up_after < std::chrono::hours{24 * 365}) {
        latest = waiter::clock::now() + std::max(*give_up_after - watched_quiet_time(), std::chrono::milliseconds{0}) +
                 std::chrono::milliseconds{1};
    }
    return std::min(latest, (*loader_.lock())->end_due().value_or(latest));
}

SMDEBUG_INLINE std::uint64_t trial_state::begin_refresh_setting(bool on) const {
    const auto settings = settings_.lock();
    settings->live.push_back({++settings->last_number, on});
    dynamic_refresh_.store(on, std::memory_order_relaxed);
    return settings->last_number;
}

SMDEBUG_INLINE void trial_state::end_refresh_setting(std::uint64_t number) const noexcept {
    const auto settings = settings_.lock();
    std::erase_if(settings->live, [&](const auto& choice) { return choice.number == number; });
    dynamic_refresh_.store(settings->live.empty() || settings->live.back().on, std::memory_order_relaxed);
}

SMDEBUG_INLINE std::vector<problem> trial_state::problems() const { return (*loader_.lock())->problems(); }

SMDEBUG_INLINE std::string trial_state::names_near(std::string_view wanted) const {
    const auto hints = hints_.lock();
    const auto known = hints->find(wanted);
    if (known != hints->end() || hints->size() == most_hints) {
        return known != hints->end() ? known->second : std::string{};
    }
    return hints->emplace(wanted, did_you_mean(wanted, current()->tensor_names(mode::global), 3)).first->second;
}

SMDEBUG_INLINE std::string trial_state::event_key(const catalog& from, const catalog::file& file) {
    std::string named = from.event_file_of(file);
    return !from.has_index || stays_inside(named) ? named : std::string{};
}

SMDEBUG_INLINE lookup_error trial_state::names_no_event_file(const catalog& from, const catalog::file& file) {
    const std::string& named = from.event_files[file.event_file];
    return {.why = lookup_failure_kind::damaged,
            .where = locations::index_key(file.step, from.workers[file.worker]),
            .note = named.empty() ? "the index file names no event file"
                                  : "the index file names an event file outside of the run, \"" + named + "\""};
}

SMDEBUG_INLINE byte_range trial_state::part_to_read(const std::string& key, const layout::entry& entry) const {
    if (entry.stored_as() == storage_form::record) {
        return record_bound{decoder_, options_.limits.record}(store_, key, entry.record);
    }
    if (entry.record.length > options_.limits.record) {
        throw unavailable(key + ": the tensor at byte " + std::to_string(entry.record.offset) + " has " +
                              std::to_string(entry.record.length) + " bytes, more than the " +
                              std::to_string(options_.limits.record) +
                              " allowed in memory at once; its reductions are computed in pieces",
                          {.where = key,
                           .offset = entry.record.offset,
                           .remedy = error_remedy::raise_limit,
                           .advice = " (trial_options::limits.record)"});
    }
    return entry.record;
}

SMDEBUG_INLINE lookup<byte_buffer> trial_state::read_event(const catalog& from, const catalog::file& file,
                                                           const layout::entry& entry) const {
    const byte_range where = entry.record;
    if (!entry.is_in_object()) {
        return byte_buffer{};
    }
    const std::string key = event_key(from, file);
    if (key.empty()) {
        return names_no_event_file(from, file);
    }
    if (const auto notes = notes_of(key)) {
        if (const byte_view known = notes->bytes(where); !known.empty()) {
            return byte_buffer{notes, known};
        }
    }
    const bool ended = current()->loaded_all_steps;  // a file that is missing now will not come
    bool was_missing = missing_.contains(key);
    if (was_missing && ended && missing_.asked_within(key, look_interval(store_, std::chrono::milliseconds{0}))) {
        return lookup_error{.why = lookup_failure_kind::event_file_missing, .where = key};
    }
    std::optional<waiter> pauses;
    bool last_try = ended;
    while (true) {
        try {
            // For a file that is probably missing, querying its size is cheaper than an exception.
            if (!was_missing || store_.size(key)) {
                byte_buffer bytes = store_.read(key, part_to_read(key, entry));
                if (was_missing) {
                    missing_.forget(key);
                }
                return bytes;
            }
        } catch (const not_found&) {
            // Missing, or not there yet: see below.
        } catch (const std::exception&) {
            return failure_from_current_exception(key, where.offset);
        }
        missing_.note(key);
        was_missing = true;
        if (last_try) {
            return lookup_error{.why = lookup_failure_kind::event_file_missing, .where = key};
        }
        if (!pauses) {
            const std::chrono::milliseconds interval = look_interval(store_, options_.poll_interval);
            pauses.emplace(interval, waiter::intervals(interval, missing_event_file_retry_limit_), options_.stop,
                           std::stop_token{}, signals_of(store_, {key, std::string{locations::end_of_job}}));
        }
        // One more try after a sign that it will not come: it may have come just before the sign.
        last_try = will_not_come(file, from.workers[file.worker], key) || pauses->pause() != wait_outcome::look_again;
    }
}

SMDEBUG_INLINE std::optional<early_reductions> trial_state::reduced_early(const catalog& from,
                                                                          const catalog::file& file, byte_range record,
                                                                          std::string_view name) const {
    const auto notes = takes_early_reductions(decoder_, kernel_) ? notes_of(event_key(from, file)) : nullptr;
    const early_reductions* const known = notes != nullptr ? notes->tensor(record, name) : nullptr;
    return known != nullptr && !known->reductions.computed.empty() ? std::optional{*known} : std::nullopt;
}

SMDEBUG_INLINE bool trial_state::will_not_come(const catalog::file& file, const std::string& worker,
                                               const std::string& missing) const {
    const auto newest = current();
    if (newest->loaded_all_steps || !newest->has_index || store_.size(locations::end_of_job)) {
        return true;
    }
    const catalog::file* last = nullptr;
    for (auto step = newest->steps.lower_bound(file.step + 1); step != newest->steps.end(); ++step) {
        for (const catalog::file& later : step->files()) {
            last = newest->workers[later.worker] == worker ? &later : last;
        }
    }
    if (last != nullptr && store_.size(event_key(*newest, *last))) {
        return true;
    }
    // A later event file may appear before its index file.
    const auto wanted = locations::parse_step_file(missing, locations::event_extension);
    if (!wanted) {
        return false;  // a name without step and worker has no later one
    }
    for (const std::string& key : store_.list(locations::events_folder, missing)) {
        const auto other = locations::parse_step_file(key, locations::event_extension);
        if (other && other->worker_part == wanted->worker_part && other->step > wanted->step) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> trial_state::last_written(
    const catalog& from) const {
    std::optional<std::chrono::system_clock::time_point> last;
    const auto look_at = [&](const std::string& key) {
        const auto written = store_.modified(key);
        last = written && (!last || *last < *written) ? written : last;
    };
    if (from.steps.empty()) {
        for (const std::string& worker : from.has_index ? from.job->collection_workers : std::vector<std::string>{}) {
            look_at(locations::collections_key(worker));
        }
    } else {
        for (const catalog::file& file : from.steps.back().files()) {
            look_at(from.has_index ? locations::index_key(file.step, from.workers[file.worker])
                                   : event_key(from, file));
        }
    }
    return last;
}

SMDEBUG_INLINE step_wait::step_wait(const trial_state& state, const wait_options& how)
    : state_(state),
      give_up_after_(how.give_up_after),
      pauses_(look_interval(state.store(), state.options().poll_interval), how.timeout, how.stop, state.options().stop,
              state.step_signals(), &state.step_feeds()) {}

SMDEBUG_INLINE std::shared_ptr<const catalog> step_wait::look() {
    auto newest = state_.refreshed(pauses_.begin_look());
    pauses_.end_look();
    return newest;
}

SMDEBUG_INLINE bool step_wait::given_up() const {
    return give_up_after_ && state_.watched_quiet_time() >= *give_up_after_;
}

SMDEBUG_INLINE wait_outcome step_wait::pause() { return pauses_.pause(state_.look_by(give_up_after_)); }

}  // namespace smdebug::inline v1::detail
