// The bodies of <smdebug/trial/load/loader.hpp>.
#pragma once

#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/trial/load/loader.hpp>
#include <smdebug/trial/load/opening.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace smdebug::inline v1::detail {

inline constexpr std::size_t most_entries = std::numeric_limits<std::size_t>::max();

SMDEBUG_INLINE std::vector<index_listing::listed> index_listing::next(const catalog& last) {
    std::vector<listed> found;
    const auto take_keys = [&](std::vector<std::string> keys) {
        for (std::string& key : keys) {
            found.push_back({.key = std::move(key)});
        }
    };
    if (store_.abilities().follows) {
        if (!follower_) {
            follower_ = store_.follow(locations::index_folder);
        }
        take_keys(follower_->next());
    } else {
        const std::string after = from_start_ ? std::string{} : first_open_key(last);
        auto entries = store_.entries(locations::index_folder, after, most_entries);
        if (entries) {
            for (object_entry& one : *entries) {
                const std::uint64_t stamp = text_hash{}(one.version + " " + one.written);
                found.push_back({.key = std::move(one.key), .stamp = stamp});
            }
        } else {
            take_keys(store_.list(locations::index_folder, after));
        }
    }
    from_start_ = false;
    return found;
}

SMDEBUG_INLINE void index_listing::forget() {
    from_start_ = true;
    open_from_ = 0;
    if (follower_) {
        follower_->forget();
    }
}

SMDEBUG_INLINE std::string index_listing::first_open_key(const catalog& last) {
    if (last.steps.empty() || last.steps.back().step >= step_with_long_name) {
        return {};
    }
    auto step = last.steps.lower_bound(open_from_);
    while (step != last.steps.end() && step->file_count >= last.job->num_workers) {
        ++step;
    }
    // A worker that has died delays listing by at most the window.
    for (auto beyond = static_cast<std::size_t>(std::distance(step, last.steps.end())); beyond > window_; --beyond) {
        ++step;
    }
    open_from_ = step != last.steps.end() ? step->step : last.steps.back().step + 1;
    const std::string key = locations::index_key(open_from_, {});
    return key.substr(0, key.rfind('_'));
}

SMDEBUG_INLINE std::optional<parsed_index_key> parsed_index_key::parse(std::string&& key) {
    const auto name = locations::parse_index_key(key);
    if (!name) {
        return std::nullopt;
    }
    parsed_index_key made;
    made.step_ = name->step;
    made.worker_begin_ = static_cast<std::size_t>(name->worker_part.data() - key.data());
    made.worker_size_ = name->worker_part.size();
    made.key_ = std::move(key);
    return made;
}

SMDEBUG_INLINE const catalog::file* known_files::find(const parsed_index_key& key) {
    if (at_ == nullptr || at_->step != key.step()) {
        at_ = of_.find_step(key.step());
        place_ = 0;
    }
    if (at_ == nullptr) {
        return nullptr;
    }
    const auto files = at_->files();
    for (std::size_t tried = 0; tried < files.size(); ++tried) {
        place_ = place_ < files.size() ? place_ : 0;
        if (const catalog::file& one = files[place_++]; is_worker(of_.workers[one.worker], key.worker_part())) {
            return &one;
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void put_in_order(std::vector<parsed_index_key>& keys) {
    sort_stably(keys, [](const parsed_index_key& a, const parsed_index_key& b) { return a < b; });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

SMDEBUG_INLINE bool has_later_step(const std::vector<parsed_index_key>& keys, const parsed_index_key& key) {
    const auto none_later = std::find_if(keys.rbegin(), keys.rend(),
                                         [&](const parsed_index_key& other) { return other.step() <= key.step(); });
    return std::any_of(keys.rbegin(), none_later,
                       [&](const parsed_index_key& other) { return other.worker_part() == key.worker_part(); });
}

SMDEBUG_INLINE loader::loader(const any_storage& store, const trial_options& options)
    : store_(store),
      options_(options),
      settled_(options),
      source_(store.source() != nullptr ? store.source()->make() : nullptr),
      listing_(store, static_cast<std::size_t>(settled_.incomplete_step_wait_window)) {}

SMDEBUG_INLINE catalog loader::open() {
    catalog first;
    first.job = std::make_shared<const catalog::job_description>(
        collections_wait{store_, options_, cache_.parser, source_.get(), contents_}.wait(seen_running_));
    first.has_index = source_ == nullptr;
    is_asked_ = source_ != nullptr;
    opens_ = !options_.stop.stop_requested();  // otherwise a stop only means not to wait, as for watchers
    collections_stamp_ = stamp_of_collections(*first.job);
    auto loaded = load(first);
    opens_ = false;
    return loaded ? std::move(*loaded) : first;
}

SMDEBUG_INLINE std::optional<catalog> loader::load(const catalog& last, const std::vector<std::string>* changed_keys) {
    // The mark is looked up first: everything written before it is in the listing that follows.
    const bool ended = source_ == nullptr && has_ended();
    // After a load that failed or held files back, changed_keys are not sufficient: a listing has to find the rest.
    const auto taken = std::pair{files_taken_, bytes_taken_};
    const bool everything = std::exchange(needs_listing_, false) || ended || changed_keys == nullptr;
    try {
        return is_due()             ? load_anew(last, ended)
               : source_ != nullptr ? load_found(last)
                                    : load_new(last, ended, everything ? nullptr : changed_keys);
    } catch (...) {
        cache_.forget();  // its indices belong to the catalog that was not finished
        listing_.forget();
        left_over_.clear();
        needs_listing_ = true;
        std::tie(files_taken_, bytes_taken_) = taken;
        throw;
    }
}

SMDEBUG_INLINE std::vector<problem> loader::problems() const {
    std::vector<problem> all;
    for (const auto& [where, what] : problems_) {
        all.push_back({.kind = problem_kind::damaged, .where = where, .what = what});
    }
    const std::vector<problem> found = contents_.problems();
    all.insert(all.end(), found.begin(), found.end());
    for (const auto& [where, count] : late_) {
        all.push_back({.kind = problem_kind::replaced,
                       .where = where,
                       .what = std::to_string(count) + (count == 1 ? " value" : " values") +
                               " came to steps that already have values of the same names: the earlier ones stay",
                       .topic = "late"});
    }
    const std::vector<problem> more = store_.problems();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

SMDEBUG_INLINE bool loader::has_ended() {
    if (source_ != nullptr ? !contents_.ended() : !store_.size(locations::end_of_job)) {
        seen_running_ = true;
        end_seen_.reset();
        return false;
    }
    // A job that had ended before the run was opened needs no further delay.
    if (!seen_running_ || settled_.training_end_delay_refresh.count() == 0) {
        return true;
    }
    const auto now = waiter::clock::now();
    end_seen_ = end_seen_.value_or(now);
    return now - *end_seen_ >= settled_.training_end_delay_refresh;
}

SMDEBUG_INLINE std::optional<catalog> loader::load_found(const catalog& last) {
    if (!std::exchange(is_asked_, false) && !contents_.ended()) {
        static_cast<void>(source_->update(contents_));
    }
    const bool ended = has_ended();
    outdated_ = outdated_ || contents_.outdated() != run_contents::outdated_in::nothing;
    if (contents_.outdated() == run_contents::outdated_in::all) {
        anew_from_ = {};
    }
    // What was wrong with data that were being written may have been put right since.
    if (!is_anew_ && (is_due() || (ended && seen_running_ && (outdated_ || !contents_.problems().empty())))) {
        return load_anew(last, ended);
    }
    if (contents_access::stretches(contents_).empty() && !ended) {
        return std::nullopt;
    }
    constexpr std::uint64_t bytes_of_entry = 100;  // typical size of an entry in an index file
    const auto entries = std::uint64_t{contents_access::entry_count(contents_)};
    check_in_all(contents_access::stretches(contents_).size(), entries * bytes_of_entry);
    catalog_builder builder{last, cache_};
    if (!source_->own_steps()) {
        builder.select_mode_steps(options_.range);
    }
    for (const auto& [object, count] : builder.add(contents_, options_.range)) {
        if (last.steps.empty()) {
            late_[contents_.key_of(object)] += count;
        } else {
            outdated_ = true;
        }
    }
    if (outdated_ && !is_anew_ && (is_due() || ended)) {
        return load_anew(last, ended);
    }
    builder.set_job(collections_wait::job_of(contents_));
    catalog next = std::move(builder).finish(settled_.incomplete_step_wait_window, ended);
    files_taken_ += contents_access::stretches(contents_).size();
    bytes_taken_ += entries * bytes_of_entry;
    contents_access::forget_found(contents_);
    return next;
}

SMDEBUG_INLINE std::optional<catalog> loader::load_new(const catalog& last, bool ended,
                                                       const std::vector<std::string>* changed_keys) {
    const auto began = waiter::clock::now();
    if (ended || (changed_keys == nullptr && began >= check_from_)) {
        listing_.forget();  // lists everything once more, including late and unordered files, and those written again
    }
    const bool checks = changed_keys == nullptr && listing_.lists_everything();
    std::vector<parsed_index_key> keys = std::exchange(left_over_, {});
    known_files known{last};  // a worker may have written the step under another name since
    std::erase_if(keys, [&](const parsed_index_key& key) { return known.find(key) != nullptr; });
    std::vector<index_listing::listed> found;
    if (changed_keys != nullptr) {
        for (const std::string& key : *changed_keys) {
            found.push_back({.key = key});
        }
    } else {
        found = listing_.next(last);
    }
    add_new(keys, std::move(found), last, checks);
    if ((checks || (!keys.empty() && store_.abilities().follows)) && !is_anew_ &&
        stamp_of_collections(*last.job) != collections_stamp_) {
        outdated_ = true;
    }
    if (checks) {
        const auto took = waiter::clock::now() - began;
        const std::chrono::milliseconds pause = look_interval(store_, options_.poll_interval);
        check_from_ = began + std::max<waiter::clock::duration>({std::chrono::seconds{1}, 20 * pause, 50 * took});
        doubt_from_ = began + 3 * took;
    }
    if (!is_anew_ && (is_due() || (ended && outdated_))) {
        return load_anew(last, ended);
    }
    if (!ended && changed_keys == nullptr) {  // changed keys come in the order of writing
        list_until_quiet(keys, last);
    }
    if (keys.empty() && !ended) {
        return std::nullopt;
    }
    catalog_builder builder{last, cache_};
    read(keys, ended, builder);
    if (!builder.changed() && !ended) {
        cache_.workers.clear();  // their numbers belong to the dropped builder
        return std::nullopt;
    }
    catalog next = std::move(builder).finish(settled_.incomplete_step_wait_window, ended);
    // Where looking costs a request, collections are compared when a name is new.
    if (!is_anew_ && !store_.abilities().follows && next.names != last.names &&
        stamp_of_collections(*last.job) != collections_stamp_) {
        outdated_ = true;
        return is_due() ? load_anew(last, ended) : std::move(next);
    }
    return next;
}

SMDEBUG_INLINE catalog loader::load_anew(const catalog& last, bool ended) {
    const auto began = waiter::clock::now();
    catalog first;
    first.names = last.names->without_tensors();  // names and workers keep their numbers
    first.workers = last.workers;
    first.job = last.job;
    first.has_index = last.has_index;
    first.load = last.load;
    cache_.forget();
    listing_.forget();
    left_over_.clear();
    problems_.clear();
    late_.clear();
    files_taken_ = bytes_taken_ = 0;
    const auto in_progress = [&](bool now) {
        is_anew_ = now;
        outdated_ = !now;
    };
    in_progress(true);
    try {
        if (source_ != nullptr) {
            source_ = store_.source()->make();
            contents_ = run_contents{};
        } else if (const std::uint64_t stamp = stamp_of_collections(*last.job); stamp != collections_stamp_) {
            if (auto job = collections_wait{store_, options_, cache_.parser, nullptr, contents_}.look(seen_running_)) {
                first.job = std::make_shared<const catalog::job_description>(*std::move(job));
                collections_stamp_ = stamp;
            }
        }
        auto loaded = source_ != nullptr ? load_found(first) : load_new(first, ended, nullptr);
        catalog next = loaded ? *std::move(loaded) : std::move(first);
        next.load = last.load + 1;
        growth::carry_over_loads(next, last, [&](const catalog::file& now, const catalog::file& known) {
            // Touched, and not written: only its time has moved on.  An event file is written before its index file.
            const auto written = store_.modified(last.event_file_of(known));
            return store_.abilities().follows && now.stamp > known.stamp && written && stamp_of(written) <= known.stamp;
        });
        const auto changed = std::find_if(next.steps.begin(), next.steps.end(),
                                          [&](const catalog::step_entry& one) { return one.load == next.load; });
        if (changed != next.steps.end() && next.has_index && !store_.abilities().follows) {
            // A cache learns the versions of event files from listings.
            const std::string key = locations::event_key(changed->step, {});
            static_cast<void>(store_.list(locations::events_folder, key.substr(0, key.rfind('/'))));
        }
        anew_from_ = waiter::clock::now() + 4 * (waiter::clock::now() - began);
        is_anew_ = false;
        return next;
    } catch (...) {
        in_progress(false);
        throw;
    }
}

SMDEBUG_INLINE std::uint64_t loader::stamp_of(std::optional<std::chrono::system_clock::time_point> written) noexcept {
    return written ? static_cast<std::uint64_t>(written->time_since_epoch().count()) : catalog::no_stamp;
}

SMDEBUG_INLINE std::uint64_t loader::stamp_of_collections(const catalog::job_description& job) const {
    std::uint64_t all = 0;
    if (source_ != nullptr) {
        return all;
    }
    if (store_.abilities().follows) {
        for (const std::string& worker : job.collection_workers) {
            all = 31 * all + stamp_of(store_.modified(locations::collections_key(worker)));
        }
    } else if (const auto entries = store_.entries(locations::collections_folder, "", most_entries)) {
        for (const object_entry& one : *entries) {
            all = 31 * all + text_hash{}(one.key + " " + one.version + " " + one.written);
        }
    }
    return all;
}

SMDEBUG_INLINE void loader::doubt() {
    const auto now = waiter::clock::now();
    if (now >= doubt_from_) {
        check_from_ = anew_from_ = now;
    }
}

SMDEBUG_INLINE void loader::add_new(std::vector<parsed_index_key>& keys, std::vector<index_listing::listed> found,
                                    const catalog& last, bool is_everything) {
    known_files known{last};
    if (last.steps.empty()) {
        keys.reserve(keys.size() + found.size());
    }
    std::vector<const catalog::file*> there;
    for (auto& [text, stamp] : found) {
        if (!locations::is_index_file(text) || !text.starts_with(locations::index_folder)) {
            continue;
        }
        auto key = parsed_index_key::parse(std::move(text));
        if (!key) {
            damaged(text, nullptr, "the name is not of the form <step>_<worker>.json");
        } else if (const catalog::file* const file = known.find(*key)) {
            const std::uint64_t now = stamp == catalog::no_stamp && store_.abilities().follows
                                          ? stamp_of(store_.modified(key->text()))
                                          : stamp;
            outdated_ =
                outdated_ || (now != catalog::no_stamp && file->stamp != catalog::no_stamp && now != file->stamp);
            there.push_back(file);
        } else if (options_.range.contains(key->step())) {
            key->stamp = stamp;
            keys.push_back(*std::move(key));
        }
    }
    put_in_order(keys);
    if (is_everything && !there.empty()) {  // with nothing at all the run is gone
        std::sort(there.begin(), there.end());
        there.erase(std::unique(there.begin(), there.end()), there.end());
        outdated_ = outdated_ || there.size() < last.file_count;
    }
}

SMDEBUG_INLINE void loader::list_until_quiet(std::vector<parsed_index_key>& keys, const catalog& last) {
    constexpr int most = 4;  // does not wait for a job that writes faster than it can be listed
    for (int pass = 1; pass <= most && !keys.empty(); ++pass) {
        std::vector<parsed_index_key> later;
        add_new(later, listing_.next(last), last, false);
        std::erase_if(later,
                      [&](const parsed_index_key& key) { return std::binary_search(keys.begin(), keys.end(), key); });
        if (later.empty()) {
            return;
        }
        if (pass == most) {
            // The last file of each worker is held back: an earlier one may still be hidden.
            const auto held_back = std::partition(
                later.begin(), later.end(), [&](const parsed_index_key& key) { return has_later_step(keys, key); });
            needs_listing_ = held_back != later.end();
            std::move(held_back, later.end(), std::back_inserter(left_over_));
            later.erase(held_back, later.end());
        }
        std::move(later.begin(), later.end(), std::back_inserter(keys));
        put_in_order(keys);
    }
}

SMDEBUG_INLINE void loader::read(const std::vector<parsed_index_key>& files, bool ended, catalog_builder& builder) {
    check_in_all(files.size(), 0);
    std::vector<std::string> keys;
    keys.reserve(files.size());
    for (const parsed_index_key& file : files) {
        keys.push_back(file.text());
    }
    // A remote storage has all requests in flight together anyway.
    const bool is_near = !store_.abilities().batches_ranges;
    if (is_near && keys.size() >= worth_threads && std::thread::hardware_concurrency() > 1 &&
        read_on_threads(files, keys, ended, builder)) {
        return;
    }
    read_each_past_errors(
        store_, keys,
        [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
            take(files[i], bytes, version, ended, builder);
        },
        [&](std::size_t i, const error& failed) { take_failed(files[i], failed, ended, builder); });
}

SMDEBUG_INLINE bool loader::read_on_threads(const std::vector<parsed_index_key>& files,
                                            const std::vector<std::string>& keys, bool ended,
                                            catalog_builder& builder) {
    std::size_t next = 0;
    const auto share_at = [&](std::size_t begin) {
        return std::span{keys}.subspan(begin, std::min(files_in_share, keys.size() - begin));
    };
    std::optional<ordered_thread_pool<std::size_t, read_files>> crew;
    try {
        crew.emplace(
            2U, read_files{},
            [&]() -> std::optional<std::size_t> {
                const std::size_t begin = std::exchange(next, next + files_in_share);
                return begin < keys.size() ? std::optional{begin} : std::nullopt;
            },
            [&](std::size_t, std::size_t begin, read_files& part) {
                read_each_past_errors(
                    store_, share_at(begin),
                    [&](std::size_t, std::optional<byte_view> bytes, const object_version& version) {
                        part.keep(bytes, version);
                    },
                    [&](std::size_t, const error&) { part.files.push_back({.failed = std::current_exception()}); });
            });
    } catch (const std::system_error&) {
        return false;  // the system provides no threads
    }
    while (const auto read = crew->next()) {
        for (std::size_t i = 0; i < read->part.files.size(); ++i) {
            take_read(files[read->task + i], read->part, i, ended, builder);
        }
        read->part.clear();
    }
    return true;
}

SMDEBUG_INLINE void loader::read_files::keep(std::optional<byte_view> file, const object_version& version) {
    constexpr std::size_t most = std::size_t{8} << 20U;
    one& kept = files.emplace_back(
        one{.begin = bytes.size(), .end = bytes.size(), .version = version, .is_there = file.has_value()});
    if (!file) {
        return;
    }
    kept.is_left_out = file->size() > most - bytes.size();
    if (!kept.is_left_out) {
        bytes.insert(bytes.end(), file->begin(), file->end());
        kept.end = bytes.size();
    }
}

SMDEBUG_INLINE void loader::take_read(const parsed_index_key& key, const read_files& part, std::size_t i, bool ended,
                                      catalog_builder& builder) {
    const typename read_files::one& file = part.files[i];
    if (file.failed) {
        try {
            std::rethrow_exception(file.failed);
        } catch (const error& failed) {
            take_failed(key, failed, ended, builder);
        }
    } else if (file.is_left_out) {
        read_each_past_errors(
            store_, std::span{&key.text(), 1},
            [&](std::size_t, std::optional<byte_view> bytes, const object_version& version) {
                take(key, bytes, version, ended, builder);
            },
            [&](std::size_t, const error& failed) { take_failed(key, failed, ended, builder); });
    } else {
        const byte_view bytes = byte_view{part.bytes}.subspan(file.begin, file.end - file.begin);
        take(key, file.is_there ? std::optional{bytes} : std::nullopt, file.version, ended, builder);
    }
}

SMDEBUG_INLINE void loader::take_failed(const parsed_index_key& key, const error& failed, bool ended,
                                        catalog_builder& builder) {
    // Too large to be read with others: it is read separately, if its size is allowed.
    if (dynamic_cast<const unsupported*>(&failed) != nullptr) {
        take_large(key, ended, builder);
        return;
    }
    // With damage_policy::skip unreadable files are skipped like damaged ones; otherwise the storage's error
    // propagates.
    // corrupt_data (a pipe or device in place of the file) counts as damage.
    if (dynamic_cast<const corrupt_data*>(&failed) == nullptr && options_.damaged_index == damage_policy::fail) {
        throw;
    }
    damaged(key.text(), &key, std::string{failed.message()});
    left_over_.push_back(key);
}

SMDEBUG_INLINE void loader::take_large(const parsed_index_key& key, bool ended, catalog_builder& builder) {
    const auto size = store_.size(key.text());
    if (size && *size > options_.limits.index_file) {
        too_large(key, *size);
        return;
    }
    std::optional<byte_buffer> bytes;
    try {
        bytes = store_.read(key.text());
    } catch (const not_found&) {
        bytes.reset();
    } catch (const unsupported& refused) {  // for another reason than its size: a sparse member of an archive
        damaged(key.text(), &key, std::string{refused.message()});
        left_over_.push_back(key);
        return;
    }
    take(key, bytes ? std::optional{bytes->view()} : std::nullopt, {}, ended, builder);
}

SMDEBUG_INLINE void loader::too_large(const parsed_index_key& key, std::uint64_t size) {
    damaged(key.text(), &key,
            "the file has " + std::to_string(size) + " bytes, more than the " +
                std::to_string(options_.limits.index_file) + " allowed",
            error_remedy::skip_large);
    left_over_.push_back(key);
}

SMDEBUG_INLINE void loader::check_in_all(std::uint64_t files, std::uint64_t bytes) const {
    const auto refuse = [&](const std::string& what, std::uint64_t most, const std::string& limit) {
        throw corrupt_data(
            error_code::corrupt_index,
            std::string{store_.name()} + " has more " + what + " than the " + std::to_string(most) + " allowed",
            {.where = std::string{store_.name()},
             .remedy = error_remedy::raise_limit,
             .advice = " (trial_options::limits." + limit + ")"});
    };
    if (files > options_.limits.index_files - std::min(files_taken_, options_.limits.index_files)) {
        refuse("index files", options_.limits.index_files, "index_files");
    }
    if (bytes > options_.limits.all_index_files - std::min(bytes_taken_, options_.limits.all_index_files)) {
        refuse("bytes of index files", options_.limits.all_index_files, "all_index_files");
    }
}

SMDEBUG_INLINE void loader::take(const parsed_index_key& key, std::optional<byte_view> bytes,
                                 const object_version& version, bool ended, catalog_builder& builder) {
    if (opens_ && options_.stop.stop_requested()) {
        throw stopped_error("opening " + std::string{store_.name()} + " was stopped", {.where = key.text()});
    }
    if (!bytes) {
        problems_.erase(key.text());
        const std::vector<std::string> listed = store_.list(key.text(), "");
        if (!listed.empty() && listed.front() == key.text()) {  // otherwise it was removed after the listing
            // This is not the whole run's failure: a server may list a removed object for a moment longer.
            problems_.insert_or_assign(
                key.text(), "it is listed, and not there: a link to a file that is missing, or removed a moment ago");
            left_over_.push_back(key);
        }
        return;
    }
    if (bytes->size() > options_.limits.index_file) {
        too_large(key, bytes->size());
        return;
    }
    check_in_all(1, bytes->size());
    std::optional<index_file::damage> wrong;
    try {
        std::uint64_t stamp = key.stamp;
        if (store_.abilities().follows) {
            stamp = stamp_of(version.modified ? version.modified : store_.modified(key.text()));
        }
        wrong = builder.add(key.step(), key.worker_part(), *bytes, stamp);
    } catch (const std::bad_alloc&) {
        throw unavailable("not enough memory for what the index file " + key.text() + " names", {.where = key.text()});
    }
    if (!wrong) {
        problems_.erase(key.text());
        ++files_taken_;
        bytes_taken_ += bytes->size();
        return;
    }
    // A running job may be writing this very file: it is read again at the next refresh.
    const bool half_written = wrong->not_json && !ended;
    if (!half_written) {
        damaged(key.text(), &key, wrong->what);
    }
    left_over_.push_back(key);
}

SMDEBUG_INLINE void loader::damaged(const std::string& key, const parsed_index_key* parsed, const std::string& what,
                                    error_remedy remedy) {
    if (options_.damaged_index == damage_policy::fail) {
        error_context context{
            .where = key,
            .remedy = remedy,
            .advice =
                (remedy == error_remedy::skip_large ? std::string{" (trial_options::limits.index_file; "} : " (") +
                "damaged_index = damage_policy::skip goes on without the file)"};
        if (parsed != nullptr) {
            context.step = parsed->step();
            context.step_mode = mode::global;
            context.worker = locations::worker_from_file_part(parsed->worker_part());
        }
        throw corrupt_data(error_code::corrupt_index, key + ": " + what, std::move(context));
    }
    problems_.insert_or_assign(key, what);
}

}  // namespace smdebug::inline v1::detail
