// The bodies of <smdebug/hook/hook_options.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail::known_collections {

SMDEBUG_INLINE std::vector<std::string> regexes_of(std::string_view name) {
    const auto* const place = std::find_if(list.begin(), list.end(), [&](const known& k) { return k.name == name; });
    return place == list.end() || place->include_regex.empty() ? std::vector<std::string>{}
                                                               : std::vector{std::string{place->include_regex}};
}

SMDEBUG_INLINE std::vector<std::string> names() {
    std::vector<std::string> all{of_frameworks.begin(), of_frameworks.end()};
    for (const known& each : list) {
        all.emplace_back(each.name);
    }
    return all;
}

}  // namespace detail::known_collections

SMDEBUG_INLINE save_config_mode& mode_settings::operator[](mode which) {
    const auto place = std::find_if(list_.begin(), list_.end(), [&](const auto& one) { return one.first == which; });
    return place != list_.end() ? place->second : list_.emplace_back(which, save_config_mode{}).second;
}

SMDEBUG_INLINE const save_config_mode* mode_settings::find(mode which) const noexcept {
    const auto place = std::find_if(list_.begin(), list_.end(), [&](const auto& one) { return one.first == which; });
    return place != list_.end() ? &place->second : nullptr;
}

SMDEBUG_INLINE save_config_mode save_config::in(mode which) const {
    const save_config_mode* const own = modes.find(which);
    return own != nullptr ? *own
                          : save_config_mode{.save_interval = save_interval,
                                             .save_steps = save_steps,
                                             .start_step = start_step,
                                             .end_step = end_step};
}

SMDEBUG_INLINE save_config::operator std::map<mode, save_config_mode>() const {  // NOLINT: implicit
    std::map<mode, save_config_mode> all;
    for (const mode which : all_modes) {
        all.emplace(which, in(which));
    }
    return all;
}

SMDEBUG_INLINE bool is_due(const save_config_mode& when, step_number mode_step) {
    return (when.save_interval > 0 && mode_step >= when.start_step.value_or(0) &&
            (!when.end_step || mode_step < *when.end_step) && mode_step % when.save_interval == 0) ||
           std::find(when.save_steps.begin(), when.save_steps.end(), mode_step) != when.save_steps.end();
}

SMDEBUG_INLINE void check(const save_config_mode& when, const std::string& where) {
    const auto refuse = [&](const std::string& field, step_number value, const std::string& why) {
        throw value_error(where + "." + field + " is " + std::to_string(value) + ": " + why);
    };
    if (when.save_interval < 1) {
        refuse("save_interval", when.save_interval, "it must be 1 or more");
    }
    for (const step_number step : when.save_steps) {
        if (step < 0) {
            refuse("save_steps", step, "steps are counted from 0");
        }
    }
    if (when.start_step && *when.start_step < 0) {
        refuse("start_step", *when.start_step, "steps are counted from 0");
    }
    if (when.end_step && *when.end_step < 0) {
        refuse("end_step", *when.end_step, "steps are counted from 0; leave it out to go on to the end");
    }
}

SMDEBUG_INLINE void check(const std::map<mode, save_config_mode>& config, const std::string& where) {
    for (const auto& [which, when] : config) {
        check(when, where + "[" + std::string{name_of(which)} + "]");
    }
}

SMDEBUG_INLINE void check(const save_config& config, const std::string& where) {
    check(save_config_mode{.save_interval = config.save_interval,
                           .save_steps = config.save_steps,
                           .start_step = config.start_step,
                           .end_step = config.end_step},
          where);
    for (const auto& [which, when] : config.modes) {
        check(when, where + ".modes[" + std::string{name_of(which)} + "]");
    }
}

namespace detail {

SMDEBUG_INLINE void check_worker(const std::string& worker) {
    const auto refuse = [&](const std::string& why) { throw value_error("worker is \"" + worker + "\": " + why); };
    if (!is_utf8(worker)) {
        refuse("the name is not UTF-8");
    }
    if (worker.find('\0') != std::string::npos) {
        throw value_error("worker has a byte 0 in its name, at which the names of files end");
    }
    const std::string part = locations::file_part_from_worker(worker);
    if (part.size() > longest_worker) {
        throw value_error("worker is \"" + worker.substr(0, 20) + "...\", a name of " + std::to_string(worker.size()) +
                          " bytes: files are named after it, so it may have " + std::to_string(longest_worker));
    }
    if (part.find('/') != std::string::npos) {
        refuse("only the name of a TensorFlow device, \"/job:.../replica:...\", may hold a '/'");
    }
    if (!stays_inside(part)) {
        refuse("no file or folder can have that name");
    }
    if (const std::string back = locations::worker_from_file_part(part); back != worker) {
        refuse("in file names it would be taken for \"" + back + "\"");
    }
}

SMDEBUG_INLINE void check_patterns(const std::vector<std::string>& patterns, const std::string& where) {
    for (const std::string& pattern : patterns) {
        try {
            static_cast<void>(regex{pattern});
        } catch (const value_error& thrown) {
            throw value_error(where + ": " + std::string{thrown.message()});
        }
    }
}

SMDEBUG_INLINE void check_name(const std::string& name, const std::string& where) {
    if (name.empty()) {
        throw value_error(where + " has an empty name");
    }
    if (!is_utf8(name)) {
        throw value_error(where + " has the name \"" + name + "\", which is not UTF-8");
    }
}

// A name in an option `where` that is spelt nearly as one that there is.  One that begins with that ("weights_2") was
// meant to be another.
SMDEBUG_INLINE void check_spelling(const std::string& where, const std::string& name, const hook_options& options) {
    std::vector<std::string> names = known_collections::names();
    for (const collection& own : options.collections) {
        names.push_back(own.name);
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        return;
    }
    std::erase_if(names, [&](const std::string& other) {
        return name.starts_with(other) ||
               edit_distance(name, other) > std::max<std::size_t>(1, std::max(name.size(), other.size()) / 3);
    });
    if (const std::string meant = did_you_mean(name, names, 3); !meant.empty()) {
        throw value_error(where + ": there is no collection \"" + name + "\"." + meant +
                          " One of your own goes into `collections`, too");
    }
}

SMDEBUG_INLINE hook_options with_rank(hook_options options) {
    if (!options.worker.empty()) {
        return options;
    }
    const auto number = [](const char* variable) -> std::optional<std::int64_t> {
        const char* const set = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
        return detail::number_of_text<std::int64_t>(set != nullptr ? set : "");
    };
    options.worker = "worker_0";
    for (const auto& [rank_variable, size_variable] :
         {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"},
          std::pair{"SLURM_PROCID", "SLURM_NTASKS"}, std::pair{"RANK", "WORLD_SIZE"}}) {
        const auto rank = number(rank_variable);
        const auto size = number(size_variable);
        if (rank && size && *rank >= 0 && *rank < *size) {
            options.worker = "worker_" + std::to_string(*rank);
            options.num_workers = options.num_workers == 1 ? *size : options.num_workers;
            if (*size > 1) {
                options.notes.push_back("this process is " + options.worker + " of " +
                                        std::to_string(options.num_workers) + ", as " + rank_variable +
                                        " says; hook_options::worker sets another name");
            }
            break;
        }
    }
    return options;
}

}  // namespace detail

SMDEBUG_INLINE void check(const hook_options& options) {
    if (!options.worker.empty()) {
        detail::check_worker(options.worker);
    }
    const bool is_numbered =
        options.worker.empty() ||
        (options.worker.starts_with("worker_") &&
         options.worker.find_first_not_of("0123456789", std::string_view{"worker_"}.size()) == std::string::npos);
    if (options.include_workers == include_workers::one && options.num_workers > 1 && !is_numbered) {
        throw value_error("worker is \"" + options.worker +
                          "\" and include_workers is one: of several workers worker_0 writes, so name them worker_0, "
                          "worker_1, ..., or include all");
    }
    if (options.existing == existing_run::resume && options.num_workers > 1 && !options.init_step) {
        throw value_error(
            "existing is resume and init_step is not set: of several workers each has come to another "
            "step, so say at which one all go on");
    }
    if (options.num_workers < 1) {
        throw value_error("num_workers is " + std::to_string(options.num_workers) + ": a job has 1 or more");
    }
    if (options.init_step && (*options.init_step < 0 || *options.init_step > largest_step)) {
        throw value_error("init_step is " + std::to_string(*options.init_step) + ": steps are counted from 0 up to " +
                          std::to_string(largest_step));
    }
    if (options.tensorboard_interval < std::chrono::milliseconds::zero()) {
        throw value_error("tensorboard_interval is " + std::to_string(options.tensorboard_interval.count()) +
                          " ms: it must not be negative");
    }
    check(options.save_config, "save_config");
    if (options.reduction_config) {
        static_cast<void>(detail::make_reduction_plan(*options.reduction_config));
    }
    detail::check_patterns(options.include_regex, "include_regex");
    detail::check_patterns(options.loss_regex, "loss_regex");
    for (const std::string& name : options.include_collections) {
        detail::check_name(name, "a collection in include_collections");
        detail::check_spelling("include_collections", name, options);
    }
    for (const std::string& name : options.digests) {
        detail::check_name(name, "a collection in digests");
        detail::check_spelling("digests", name, options);
        if (name == digests_collection) {
            throw value_error("digests: the collection \"digests\" is where digests are saved; they have none");
        }
    }
    for (auto group = options.collections.begin(); group != options.collections.end(); ++group) {
        detail::check_name(group->name, "a collection in collections");
        const std::string where = "collection \"" + group->name + "\"";
        if (std::any_of(options.collections.begin(), group,
                        [&](const collection& other) { return other.name == group->name; })) {
            throw value_error(where + " is configured twice");
        }
        detail::check_patterns(group->include_regex, where + ": include_regex");
        for (const std::string& tensor : group->tensor_names) {
            detail::check_name(tensor, where + ": a tensor in tensor_names");
        }
        if (group->reduction_config) {
            static_cast<void>(detail::make_reduction_plan(*group->reduction_config, where + ": reduction_config"));
        }
        if (group->save_config) {
            check(*group->save_config, where + ": save_config");
        }
    }
}

}  // namespace smdebug::inline v1
