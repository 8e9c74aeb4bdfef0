#include <program/runs.hpp>

#include <program/near_runs.hpp>
#include <program/run_problems.hpp>
#include <program/text.hpp>
#include <smdebug/formats.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace smdebug::inline v1::cli::detail {

tensor_selection selection_of(const std::optional<std::string>& tensors, const std::optional<std::string>& collection) {
    tensor_selection which;
    if (tensors) {
        which.regex = *tensors;
    }
    if (collection) {
        which.collection = *collection;
    }
    return which;
}

run_options reducing(run_options how, unsigned threads) {
    how.storage.archive.threads = threads;
    how.storage.archive.in_passing = reduce_in_passing();
    return how;
}

std::string plain_path(std::string path) {
    while (path.size() > 1 && path.ends_with('/') && !path.ends_with("://") && !path.ends_with(":///")) {
        path.pop_back();
    }
    return path;
}

std::string error_text(const error& failed, const std::string& run) {
    std::string text = std::string{failed.python_name()}.append(": ").append(failed.message());
    if (failed.remedy() == error_remedy::skip_damaged || failed.remedy() == error_remedy::skip_large) {
        text += " (--skip-damaged goes on without the file)";
    }
    return with_run(text, run);
}

std::string error_text(const std::exception& failed, const std::string& run) {
    if (const auto* ours = dynamic_cast<const error*>(&failed)) {
        return error_text(*ours, run);
    }
    const bool memory = dynamic_cast<const std::bad_alloc*>(&failed) != nullptr;
    return (memory ? std::string{"not enough memory"} : std::string{failed.what()}) + " [run " + run + "]";
}

std::string failure_text(const lookup_error& failure, const std::string& tensor, step_number step, mode in,
                         const std::string& run) {
    try {
        throw_failure(failure, tensor, step, in);
    } catch (const std::exception& described) {
        return error_text(described, run);
    }
}

trial_options options_for(const run_options& how) {
    const size_limits limits = how.untrusted ? size_limits::untrusted() : size_limits{};
    return {.range = how.range,
            .damaged_index = how.skip_damaged ? damage_policy::skip : damage_policy::fail,
            .stop = how.stop,
            .limits = how.memory ? limits.within(*how.memory) : limits};
}

trial open_trial(const std::string& path, const storage_options& storage, trial_options options) {
    storage_options with_damage = storage;
    with_damage.archive.skip_damaged = true;  // it is one of the trial's problems
    return trial{smdebug::detail::open_storage_of_run(path, with_damage), std::move(options), event_decoder<>{},
                 dispatched_kernel{}};
}

any_storage storage_of(const run_place& place, const run_options& how) {
    return place.store ? open_data(*place.store, how.storage.formats)
                       : smdebug::detail::open_storage_of_run(place.path, how.storage);
}

namespace {

// The kind that --as names; if empty, a run, as without it.
constexpr std::string_view sought_by(data_format as) noexcept {
    switch (as) {
        case data_format::event_files:
            return "no event file of a step below events/";
        case data_format::tensorboard:
            return "no log of TensorBoard (a file with \"tfevents\" in its name)";
        case data_format::checkpoints:
            return "no checkpoint (a file .safetensors, .pt, .bin, .ckpt, .npz or .npy)";
        case data_format::detect:
        case data_format::smdebug:
            break;
    }
    return {};
}

}  // namespace

not_found described(const not_found& missing, const std::string& path, const run_options& how) {
    std::string text{missing.message()};
    const std::string_view sought = sought_by(how.storage.formats.as);
    if (!sought.empty() && missing.code() == error_code::no_training_run) {
        text = path + " has " + std::string{sought};
    }
    const std::string hint = run_hint(missing, path);
    return not_found(missing.code(), text + (hint.empty() ? "" : ".") + hint, {.where = missing.where()});
}

namespace {

// Calls opening(); if there is no run, the error includes a suggestion.
template <class Opening>
auto with_hint(const std::string& path, const run_options& how, Opening&& opening) {
    try {
        return opening();
    } catch (const not_found& missing) {
        if (missing.code() == error_code::missing_collection_files) {
            throw;  // there is a run
        }
        throw described(missing, path, how);
    }
}

}  // namespace

trial open_run(any_storage store, const std::string& path, const run_options& how) {
    trial_options options = options_for(how);
    options.missing_event_file_retry_limit = 0;
    return with_hint(path, how, [&] {
        try {
            return trial{store, std::move(options), event_decoder<>{}, dispatched_kernel{}};
        } catch (const not_found& missing) {
            if (missing.code() != error_code::missing_collection_files ||
                has_any(store, {smdebug::detail::locations::index_folder, smdebug::detail::locations::events_folder})) {
                throw;
            }
            throw not_found(error_code::missing_collection_files,
                            std::string{nothing_saved} + ": " + path + " has ended, and holds no run", {.where = path});
        }
    });
}

bool has_any(const any_storage& store, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view each) { return !smdebug::detail::some_keys(store, each, 1).empty(); });
}

void check_saved(const trial& run, const std::string& path) {
    if (run.loaded_all_steps() && run.steps({.show_incomplete_steps = true}).empty()) {
        throw not_found(std::string{nothing_saved} + ": " + path + " has ended without a step", {.where = path});
    }
}

trial open_run(const run_place& place, const run_options& how) {
    return open_run(with_hint(place.path, how, [&] { return storage_of(place, how); }), place.path, how);
}

trial open_run(const std::string& path, const run_options& how) { return open_run(run_place{.path = path}, how); }

trial open_one_run(const std::string& path, const run_options& how, std::string_view done) {
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

std::string shown_steps(const smdebug::detail::catalog& from, bool show_incomplete) {
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

std::optional<std::string> try_on_run(const std::string& path, console& to, function_ref<void()> work) {
    try {
        work();
        return std::nullopt;
    } catch (const usage_error&) {
        throw;
    } catch (const output_error&) {
        throw;
    } catch (const stopped_error&) {
        throw;
    } catch (const std::exception& wrong) {
        const std::string text = error_text(wrong, path);
        to.error(text);
        return text;
    }
}

void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, run_command command,
                  run_failure failed) {
    const auto attempt = [&](const std::string& path, function_ref<void()> doing) {
        if (const auto text = try_on_run(path, to, doing)) {
            failed(path, *text);
        }
    };
    for (const std::string& as_written : paths) {
        const std::string path = plain_path(as_written);
        attempt(path, [&] {
            const run_places places = places_of(path, how.storage);
            for (const run_place& place : places.runs) {
                attempt(place.path, [&] {
                    const trial run = open_run(place, how);
                    attempt(place.path, [&] { command(place.path, run); });
                    tell_problems(run, place.path, how.skip_damaged, to);
                });
            }
        });
    }
}

void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, run_command command) {
    for_each_run(paths, how, to, command, [](const std::string&, const std::string&) {});
}

}  // namespace smdebug::inline v1::cli::detail
