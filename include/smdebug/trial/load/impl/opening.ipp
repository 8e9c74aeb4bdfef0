// The bodies of <smdebug/trial/load/opening.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/load/opening.hpp>
#include <smdebug/trial/load/wait.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE catalog::job_description collections_wait::wait(bool& seen_running) {
    waiter pauses{look_interval(store_, options_.poll_interval),
                  options_.open_timeout,
                  options_.stop,
                  {},
                  source_ != nullptr ? signal_source{}
                                     : signals_of(store_, {std::string{locations::collections_folder},
                                                           std::string{locations::end_of_job}})};
    while (true) {
        if (auto job = source_ != nullptr ? ask_source(seen_running) : look(seen_running)) {
            return *std::move(job);
        }
        switch (pauses.pause()) {
            case wait_outcome::look_again:
                break;
            case wait_outcome::timed_out:
                give_up();
            case wait_outcome::stopped:
                throw stopped_error("opening " + place() + " was stopped", {.where = place()});
        }
    }
}

SMDEBUG_INLINE catalog::job_description collections_wait::job_of(const run_contents& contents) {
    catalog::job_description job;
    job.collections = contents.collections();
    job.num_workers = contents.num_workers();
    std::set<std::string> workers;
    for (std::uint32_t i = 0; i < contents_access::workers(contents).size(); ++i) {
        workers.insert(contents_access::workers(contents)[i]);
    }
    for (std::size_t i = 0; workers.size() < job.num_workers; ++i) {
        workers.insert("worker_" + std::to_string(i));
    }
    job.collection_workers.assign(workers.begin(), workers.end());
    return job;
}

SMDEBUG_INLINE std::optional<catalog::job_description> collections_wait::ask_source(bool& seen_running) {
    static_cast<void>(source_->update(contents_));
    seen_running = seen_running || !contents_.ended();
    return contents_.has_found() ? std::optional{job_of(contents_)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<catalog::job_description> collections_wait::look(bool& seen_running) {
    const bool ended = store_.size(locations::end_of_job).has_value();
    seen_running = seen_running || !ended;
    cut_.clear();
    catalog::job_description job;
    std::string first_key;
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        if (auto worker = locations::worker_of_collections_file(key)) {
            first_key = job.collection_workers.empty() ? key : first_key;
            job.collection_workers.push_back(std::move(*worker));
        }
    }
    // Two names can stand for one worker ("collections.json" is worker_0's).
    auto& workers = job.collection_workers;
    std::sort(workers.begin(), workers.end());
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
    if (!first_key.empty() && !read(first_key, ended, job)) {
        return std::nullopt;
    }
    const std::size_t wanted = std::max<std::size_t>(job.num_workers, 1);
    if (workers.size() >= wanted) {
        return job;
    }
    missing_ = std::to_string(workers.size()) + " of " + std::to_string(wanted) +
               " collections files (collections/*/*_collections.json) are there";
    if (ended) {
        throw not_found(
            error_code::missing_collection_files,
            "Training job has ended. All the collection files could not be loaded: in " + place() + ", " + missing_,
            {.where = place()});
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool collections_wait::read(const std::string& key, bool ended, catalog::job_description& job) {
    byte_buffer bytes;
    try {
        bytes = read_within_limit(key);
    } catch (const not_found&) {  // removed after the listing
        if (ended) {
            throw;
        }
        missing_ = "its collections file " + key + " is gone again";
        return false;
    }
    collections_file parsed;
    if (const auto wrong = parse_collections_file(bytes.view(), parser_, parsed)) {
        cut_key_ = key;
        cut_ = key + ": " + *wrong;
        if (ended || parser_.parse(bytes.view())) {
            throw corrupt_data(error_code::corrupt_collections_file, cut_, {.where = key});
        }
        return false;
    }
    job.num_workers = static_cast<std::size_t>(parsed.num_workers);
    job.collections = std::move(parsed.collections);
    return true;
}

SMDEBUG_INLINE byte_buffer collections_wait::read_within_limit(const std::string& key) const {
    // On a disk a sparse file may look like terabytes without occupying them, and memory is allocated by its size.
    if (store_.abilities().follows) {
        check_size(key, store_.size(key).value_or(0));
    }
    byte_buffer bytes = store_.read(key);
    check_size(key, bytes.size());
    return bytes;
}

SMDEBUG_INLINE void collections_wait::check_size(const std::string& key, std::uint64_t size) const {
    const std::uint64_t most = options_.limits.collections_file;
    if (size > most) {
        throw corrupt_data(
            error_code::corrupt_collections_file,
            key + ": the file has " + std::to_string(size) + " bytes, more than the " + std::to_string(most) +
                " allowed",
            {.where = key, .remedy = error_remedy::raise_limit, .advice = " (trial_options::limits.collections_file)"});
    }
}

SMDEBUG_INLINE void collections_wait::give_up() const {
    if (!cut_.empty()) {
        throw corrupt_data(error_code::corrupt_collections_file, cut_, {.where = cut_key_});
    }
    const error_context context{.where = place()};
    const bool anything = !store_.list(locations::index_folder, "").empty() ||
                          !store_.list(locations::events_folder, "").empty() ||
                          !store_.list(locations::collections_folder, "").empty();
    if (anything) {
        throw unavailable(error_code::timed_out,
                          "the run in " + place() + " is not complete yet: " + missing_ + ", and the job has not ended",
                          {.where = place(),
                           .remedy = error_remedy::wait_longer,
                           .advice = "; give open_timeout more time to wait for them"});
    }
    const std::string looked_for =
        "a run has the folders collections/, index/ and events/, and training_job_end.ts when the job has ended";
    const place_kind kind = store_.place();
    if (kind == place_kind::file) {
        throw not_found(place() + " is a file, not the folder of a run (" + looked_for + ")", context);
    }
    if (kind == place_kind::missing) {
        throw not_found("there is no folder " + place() + " (" + looked_for + ")", context);
    }
    throw not_found(error_code::no_training_run,
                    "there is no training run in " + place() + ": " + looked_for + ", and none of these is there",
                    context);
}

}  // namespace detail

namespace environment {

SMDEBUG_INLINE int number(const std::optional<int>& option, const char* name, int otherwise, int least) {
    int value = option.value_or(otherwise);
    std::string seen = std::to_string(value);
    bool good = true;
    // Read once, at opening; the library never writes the environment.
    if (const char* text = option ? nullptr : std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
        seen = text;
        const auto read = detail::number_of_text<int>(seen);
        good = read.has_value();
        value = read.value_or(0);
    }
    if (!good || value < least) {
        throw value_error(std::string{name} + " must be a whole number, " + std::to_string(least) +
                          " or more; it is \"" + seen + "\"");
    }
    return value;
}

SMDEBUG_INLINE std::chrono::milliseconds delay(const std::optional<std::chrono::milliseconds>& option,
                                               const char* name) {
    constexpr double longest = 1e9;  // seconds
    double seconds = 0;
    std::string seen;
    if (option) {
        seconds = std::chrono::duration<double>(*option).count();
        seen = std::to_string(seconds);
    } else if (const char* text = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
        seen = text;
        seconds = detail::number_of_text<double>(seen).value_or(-1);
    }
    if (!(seconds >= 0 && seconds <= longest)) {
        throw value_error(std::string{name} + " must be a number of seconds, 0 or more; it is \"" + seen + "\"");
    }
    return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace environment

SMDEBUG_INLINE detail::settled_options::settled_options(const trial_options& options)
    : incomplete_step_wait_window(
          environment::number(options.incomplete_step_wait_window, environment::incomplete_step_wait_window, 1000, 2)),
      missing_event_file_retry_limit(environment::number(options.missing_event_file_retry_limit,
                                                         environment::missing_event_file_retry_limit, 10, 0)),
      training_end_delay_refresh(
          environment::delay(options.training_end_delay_refresh, environment::training_end_delay_refresh)) {
    if (!options.range.valid()) {
        throw value_error(
            "range_steps should be of the form (begin, end) where begin is less than end, and neither is negative");
    }
}

}  // namespace smdebug::inline v1
