// Learns from trainings that went well what they have in common: of one run, or of many, in parallel.
// The rule `learned` checks other runs against the result.
#pragma once

#include <smdebug/batch/find_runs.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/learn/look/run_learner.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1 {

/// How to learn.
struct learn_options {
    /// The numbers that are kept: abs_max, abs_mean, l1, l2, max, mean, min, std, zeros.  Of a tensor with one element
    /// that element is kept in any case, as `value`.
    text_list reductions = {"abs_max", "l2", "zeros"};
    /// Threads: for all runs together; for learn() for the one run.
    unsigned threads = 1;
    /// Facts to which the runs are added; these then say which numbers are kept.  For learn_runs().
    learned_facts add_to = {};
    /// Only these global steps count.  For learn_runs().
    step_range steps = {};
    /// How runs are opened.  For learn_runs().
    storage_options storage = {};
    /// Called for what a user should know about a run that is learned from: its job has not ended, or a tensor's name
    /// is no UTF-8.  On any thread, by one at a time.
    std::function<void(const std::string& run, const std::string& note)> on_note = {};
    /// Called with the number of runs that were read or left out.  As on_note.
    std::function<void(std::size_t done)> progress = {};
    std::stop_token stop = {};
};

/// A run from which nothing was learned.
struct left_out_run {
    std::string run = {};
    std::string why = {};
};

namespace detail::learn {

/// The numbers of those names.  Errors: value_error: no such number.
[[nodiscard]] number_set numbers_named(const text_list& names);

/// Learns from the complete steps of a run.
/// Errors: not_found: there is no step; stopped_error; the first error of what cannot be read, the run's problems first.
[[nodiscard]] run_learner learner_of_run(const trial& run, const std::string& name, const number_set& kept,
                                         unsigned threads, const std::stop_token& stop,
                                         const std::function<void(const std::string& note)>& note);

/// Opens a run that was found; its store is open already if it lies in an archive.
using run_opener = std::function<trial(const std::string& path, const std::optional<any_storage>& store)>;
/// Called on any thread, by one at a time.
using run_leaver = std::function<void(const left_out_run&)>;
/// The next run; nothing: there are no more.  Runs from which nothing can be learned are passed to `left_out`.  Called
/// on any thread, by one at a time.
using found_source = std::function<std::optional<run_finder::found>(const run_leaver& left_out)>;

/// The next run of the finder that is wanted and can be learned from; what cannot is passed to `left_out`.
/// `is_asked`: whether a run is looked at; empty: each.
/// Errors: value_error: a run of that name is in options.add_to.
[[nodiscard]] std::optional<run_finder::found> next_to_learn(
    run_finder& runs, const learn_options& options, const run_leaver& left_out,
    const std::function<bool(const std::string& path)>& is_asked = {});

/// Learns from each run of a source, on many threads: the facts before margins are found.  Runs that `next` gives have
/// come from next_to_learn(), here or in another process.
/// Errors: value_error: no such number; stopped_error; what `next` throws.
[[nodiscard]] all_facts learn_each(const found_source& next, const run_opener& open, const learn_options& options,
                                   const run_leaver& left_out);

/// What learn_runs() does, for runs that are found by any means.
[[nodiscard]] learned_facts learn_found(run_finder& runs, const run_opener& open, const learn_options& options,
                                        const run_leaver& left_out,
                                        const std::function<bool(const std::string& path)>& is_asked = {});

}  // namespace detail::learn

/// The facts of one run, under the trial's name.  Only complete steps count.
/// Errors: value_error: no such number in the options; not_found: the run has no complete step; else the first error of
///         what cannot be read, as nothing must be learned of a part.
/// Cost:   a scan of the run: each save is read once; its values are hashed and reduced in one pass.
/// Memory: of each tensor the hash of its newest save by each worker, 9 bytes for each window of a number that is a
///         32-bit float in all saves, else 17, and what the scan needs.
[[nodiscard]] learned_facts learn(const trial& run, const learn_options& options = {});

/// The facts of many runs, under their paths: each path may be a run, a folder with runs in it, a pattern, an archive,
/// or an address in S3, as for run_finder.  A run of which anything cannot be read is left out whole, and passed to
/// `left_out`, on any thread, by one at a time; so is a place that cannot be searched.  In the compiled form this is in
/// the component `archive`, as run_finder is.
/// Errors: value_error: no such number, or a run whose name is in options.add_to already; stopped_error.
/// Memory: the result, and what learn() needs for each thread.
[[nodiscard]] learned_facts learn_runs(const std::vector<std::string>& paths, const learn_options& options = {},
                                       const std::function<void(const left_out_run&)>& left_out = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/impl/learn.ipp>
#include <smdebug/learn/impl/learn_runs.ipp>
#endif
