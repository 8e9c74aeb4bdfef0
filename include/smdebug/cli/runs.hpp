// Opening the runs that a command was given, one after another: a run that fails does not lose the others.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/near_runs.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/run_places.hpp>
#include <smdebug/cli/run_problems.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/formats.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/create_trial.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Options of every command that reads runs.
struct run_options {
    output_format format = output_format::table;
    bool skip_damaged = false;
    bool untrusted = false;  ///< size_limits::untrusted(); `storage` says the same of archives
    step_range range = {};
    std::optional<std::size_t> width = {};  ///< of tables, in characters, 0: any; unset: that of the terminal
    storage_options storage = {};
    std::stop_token stop = {};  ///< ends what waits
};

/// Options of the commands that can follow running jobs.
struct follow_options {
    bool on = false;
    std::optional<std::chrono::milliseconds> give_up_after = {};  ///< when nothing new has come for so long
};

/// The tensors that --tensors and --collection name: those that are in both, where both are given.
[[nodiscard]] inline tensor_selection selection_of(const std::optional<std::string>& tensors,
                                                   const std::optional<std::string>& collection) {
    tensor_selection which;
    if (tensors) {
        which.regex = *tensors;
    }
    if (collection) {
        which.collection = *collection;
    }
    return which;
}

/// For a command that reduces what it reads: a compressed archive is then inflated once, by so many threads.
[[nodiscard]] inline run_options reducing(run_options how, unsigned threads = 1) {
    how.storage.archive.threads = threads;
    how.storage.archive.in_passing = reduce_in_passing();
    return how;
}

/// A run's path as it was given, without slashes at its end, but for those of an address (s3://, file:///).
[[nodiscard]] inline std::string plain_path(std::string path) {
    while (path.size() > 1 && path.ends_with('/') && !path.ends_with("://") && !path.ends_with(":///")) {
        path.pop_back();
    }
    return path;
}

/// An error's text, with names of the command line's options, and with the run if it does not name it.
[[nodiscard]] inline std::string error_text(const error& failed, const std::string& run) {
    std::string text = failed.what();
    using replacement = std::pair<std::string_view, std::string_view>;
    for (const auto& [option, flag] : {replacement{"damaged_index = damage_policy::skip", "--skip-damaged"},
                                       replacement{"; give open_timeout more time to wait for them", ""},
                                       replacement{"that trial_options::limits.record allows", "allowed"},
                                       replacement{"that trial_options::limits.index_file allows", "allowed"},
                                       replacement{"that trial_options::limits.collections_file allows", "allowed"},
                                       replacement{"that trial_options::limits.index_files allows", "allowed"},
                                       replacement{"that trial_options::limits.all_index_files allows", "allowed"}}) {
        if (const std::size_t place = text.find(option); place != std::string::npos) {
            text.replace(place, option.size(), flag);
        }
    }
    return with_run(text, run);
}

/// The same for any exception.
[[nodiscard]] inline std::string error_text(const std::exception& failed, const std::string& run) {
    if (const auto* ours = dynamic_cast<const error*>(&failed)) {
        return error_text(*ours, run);
    }
    const bool memory = dynamic_cast<const std::bad_alloc*>(&failed) != nullptr;
    return (memory ? std::string{"not enough memory"} : std::string{failed.what()}) + " [run " + run + "]";
}

/// The text of the error for a failed look-up.
[[nodiscard]] inline std::string failure_text(const lookup_error& failure, const std::string& tensor, step_number step,
                                              mode in, const std::string& run) {
    try {
        throw_failure(failure, tensor, step, in);
    } catch (const std::exception& described) {
        return error_text(described, run);
    }
}

/// The options of a trial for it.
[[nodiscard]] inline trial_options options_for(const run_options& how) {
    return {.range = how.range,
            .damaged_index = how.skip_damaged ? damage_policy::skip : damage_policy::fail,
            .stop = how.stop,
            .limits = how.untrusted ? size_limits::untrusted() : size_limits{}};
}

/// The program's trial type: the path picks the storage, the CPU the kernel.
using program_trial = trial;

/// Opens the run at `path`.  Errors: as create_trial's.
[[nodiscard]] inline program_trial open_trial(const std::string& path, const storage_options& storage,
                                              trial_options options) {
    storage_options with_damage = storage;
    with_damage.archive.skip_damaged = true;  // it is one of the trial's problems
    return program_trial{smdebug::detail::open_storage_of_run(path, with_damage), std::move(options), event_decoder<>{},
                         dispatched_kernel{}};
}

/// What lies at a place, as a run.  Errors: as create_trial's.
[[nodiscard]] inline any_storage storage_of(const run_place& place, const run_options& how) {
    return place.store ? open_data(*place.store, how.storage.formats)
                       : smdebug::detail::open_storage_of_run(place.path, how.storage);
}

/// What --as looks for; empty: for a run, as without it.
[[nodiscard]] constexpr std::string_view sought_by(data_format as) noexcept {
    switch (as) {
        case data_format::event_files:
            return "no event file of a step below events/";
        case data_format::tensorboard:
            return "no log of TensorBoard (a file with \"tfevents\" in its name)";
        case data_format::checkpoints:
            return "no checkpoint (a file .safetensors, .npz or .npy)";
        case data_format::detect:
        case data_format::smdebug:
            break;
    }
    return {};
}

/// The error that there is no run, with what --as has looked for, and with what the user may have meant.
[[nodiscard]] inline not_found described(const not_found& missing, const std::string& path, const run_options& how) {
    std::string text{missing.message()};
    const std::string_view sought = sought_by(how.storage.formats.as);
    if (!sought.empty() && text.starts_with("there is no training run")) {
        text = path + " has " + std::string{sought};
    }
    const std::string hint = run_hint(missing, path);
    return not_found(text + (hint.empty() ? "" : ".") + hint, {.where = missing.where()});
}

/// Calls opening(); where there is no run, the error says what the user may have meant, too.
template <class Opening>
[[nodiscard]] auto with_hint(const std::string& path, const run_options& how, Opening&& opening) {
    try {
        return opening();
    } catch (const missing_collection_files&) {
        throw;  // there is one
    } catch (const not_found& missing) {
        throw described(missing, path, how);
    }
}

/// Opens a run as the commands do: what is there now, without waiting for anything.  `store` is what storage_of() gave.
/// Errors: as create_trial's; where there is no run, with what the user may have meant; value_error: an empty path.
[[nodiscard]] inline program_trial open_run(any_storage store, const std::string& path, const run_options& how) {
    trial_options options = options_for(how);
    options.missing_event_file_retry_limit = 0;
    return with_hint(path, how, [&] {
        return program_trial{std::move(store), std::move(options), event_decoder<>{}, dispatched_kernel{}};
    });
}
[[nodiscard]] inline program_trial open_run(const run_place& place, const run_options& how) {
    return open_run(with_hint(place.path, how, [&] { return storage_of(place, how); }), place.path, how);
}
[[nodiscard]] inline program_trial open_run(const std::string& path, const run_options& how) {
    return open_run(run_place{.path = path}, how);
}

/// The one run that a path stands for; `done`: what is done with it, for messages.
/// Errors: those of open_run(); value_error for an archive of several.
[[nodiscard]] inline program_trial open_one_run(const std::string& path, const run_options& how,
                                                std::string_view done) {
    const run_places places = places_of(path, how.storage);
    if (places.runs.size() != 1) {
        std::string message =
            path + " holds " + counted(places.runs.size(), "run") + ", and one is " + std::string{done};
        for (std::size_t i = 0; i < std::min<std::size_t>(places.runs.size(), 5); ++i) {
            message += (i == 0 ? ": " : ", ") + places.runs[i].path;
        }
        throw value_error(message + (places.runs.size() > 5 ? ", ..." : ""), {.where = path});
    }
    return open_run(places.runs.front(), how);
}

/// The steps of a run as ranges; by mode where global steps are synthetic: "TRAIN 0-20 by 10; EVAL 0, 20".
[[nodiscard]] inline std::string shown_steps(const smdebug::detail::catalog& from, bool show_incomplete) {
    if (!from.steps_are_synthetic) {
        return compact_steps(from.steps_of(mode::global, show_incomplete));
    }
    std::string text;
    for (const mode each : {mode::train, mode::eval, mode::predict}) {
        if (const auto steps = from.steps_of(each, show_incomplete); !steps.empty()) {
            text += (text.empty() ? "" : "; ") + std::string{name_of(each)} + " " + compact_steps(steps);
        }
    }
    return text;
}

/// Calls command(path, trial) for each run, and says what of the run was not looked at.  Where a run cannot be opened, or the
/// command throws, the error is printed and passed to failed(path, text), and the next run follows; usage_error and
/// output_error are rethrown.
/// An archive stands for all runs in it.
template <class Command, class Failed>
void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, Command&& command,
                  Failed&& failed) {
    const auto attempt = [&](const std::string& path, auto&& doing) {
        try {
            doing();
        } catch (const usage_error&) {
            throw;
        } catch (const output_error&) {
            throw;
        } catch (const std::exception& wrong) {
            const std::string text = error_text(wrong, path);
            to.error(text);
            failed(path, text);
        }
    };
    for (const std::string& as_written : paths) {
        const std::string path = plain_path(as_written);
        attempt(path, [&] {
            const run_places places = places_of(path, how.storage);
            for (const run_place& place : places.runs) {
                attempt(place.path, [&] {
                    const program_trial run = open_run(place, how);
                    attempt(place.path, [&] { command(place.path, run); });
                    tell_problems(run, place.path, how.skip_damaged, to);
                });
            }
        });
    }
}
template <class Command>
void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, Command&& command) {
    for_each_run(paths, how, to, command, [](const std::string&, const std::string&) {});
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
