#include <program/show.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/ls.hpp>
#include <program/near_runs.hpp>
#include <program/numbers.hpp>
#include <program/rows.hpp>
#include <program/table.hpp>
#include <program/tensor_text.hpp>
#include <program/text.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// What show prints.
struct tensor_report {
    smdebug::detail::catalog::file file;
    step_number shown_step = 0;
    std::string worker;
    std::vector<std::string> workers;  ///< that have it at this step
    std::optional<tensor_value> value;
    std::string no_value;       ///< why there is none
    std::optional<dtype> type;  ///< of the values, even where they are not held
    std::optional<shape_type> shape;
    std::array<std::optional<double>, 2 * reduction_count> reductions;
    reduction_set saved;
    std::optional<reduction_values> counts;
};

// The global steps to show: one, or with synthetic steps one for each mode.
// Errors: TensorUnavailable with similar names, TensorUnavailableForStep with the existing steps.
std::vector<step_number> steps_to_show(const trial& run, const smdebug::detail::catalog& from,
                                       const show_arguments& args) {
    const auto id = from.find_tensor(args.tensor);
    if (!id) {
        throw not_found(error_code::tensor_unavailable,
                        "Tensor " + args.tensor + " was not saved." + did_you_mean(args.tensor, run.tensor_names()),
                        {.where = run.path(), .tensor = args.tensor});
    }
    const auto steps = from.tensor_steps(*id, args.mode, true);
    const std::string in = args.mode == mode::global ? "" : " of mode " + std::string{name_of(args.mode)};
    if (steps.empty()) {
        throw not_found(error_code::tensor_unavailable_for_step, "Tensor " + args.tensor + " has no steps" + in,
                        {.tensor = args.tensor});
    }
    const step_number asked = args.step.value_or(steps.back());
    const bool any_mode = args.mode == mode::global && args.step && from.steps_are_synthetic;
    std::vector<step_number> found;
    std::string there;
    for (const mode each : any_mode ? std::vector{mode::train, mode::eval, mode::predict} : std::vector{args.mode}) {
        const auto global = from.global_step(each, asked);
        if (global && !from.files_with(*id, *global).empty()) {
            found.push_back(*global);
        }
        if (const auto of_mode = from.tensor_steps(*id, each, true); any_mode && !of_mode.empty()) {
            there += (there.empty() ? "" : "; ") + std::string{name_of(each)} + " " + compact_steps(of_mode);
        }
    }
    if (found.empty()) {
        throw not_found(error_code::tensor_unavailable_for_step,
                        "Tensor " + args.tensor + " is not there at step " + std::to_string(asked) + in +
                            "; its steps" + in + ": " + (any_mode ? there : compact_steps(steps)),
                        {.tensor = args.tensor, .step = asked, .step_mode = args.mode});
    }
    return found;
}

// Everything about the tensor at a global step.  What is damaged is noted and left out.
tensor_report look_at(const trial& run, const smdebug::detail::catalog& from, step_number step,
                      const show_arguments& args, console& to) {
    const auto tensor = run.tensor(args.tensor);
    const auto files = from.files_with(*from.find_tensor(args.tensor), step);
    tensor_report about;
    const smdebug::detail::catalog::file* chosen = nullptr;
    for (const smdebug::detail::catalog::file* file : files) {
        about.workers.push_back(from.workers[file->worker]);
        if (chosen == nullptr && (!args.worker || about.workers.back() == *args.worker)) {
            chosen = file;
        }
    }
    if (chosen == nullptr) {
        throw not_found(error_code::invalid_worker,
                        "Worker " + *args.worker + " did not save tensor " + args.tensor + " at step " +
                            std::to_string(from.shown_step_of(step)) + "; these did: " + joined(about.workers, ", "),
                        {.tensor = args.tensor, .step = step, .worker = *args.worker});
    }
    about.file = *chosen;
    about.shown_step = from.shown_step(*chosen);
    about.worker = from.workers[chosen->worker];
    const read_options where{.worker = about.worker};
    const auto report = [&](const lookup_error& why) {
        const mode in = about.shown_step == step ? mode::global : about.file.mode;
        to.damage(failure_text(why, args.tensor, about.shown_step, in, args.run));
    };

    const auto value = tensor.find_value(step, {.worker = about.worker});
    // Of these values: the file may have been replaced since.
    std::optional<reduction_values> computed;
    if (value) {
        if (auto reduced = smdebug::detail::state_of(run)->kernel().reduce(value->view(), reduction_set::all());
            reduced.ok()) {
            computed = *std::move(reduced);
        }
        about.value = *value;
        about.type = value->type();
        about.shape = value->shape();
    } else {
        const bool not_saved = value.error().why == lookup_failure_kind::tensor_not_saved;
        about.no_value = not_saved ? "not saved" : "cannot be read";
        if (!not_saved) {
            // Values that are too large to be held together are reduced in pieces, as by stats.
            const tensor_selection this_one{
                .names = {{args.tensor}}, .range = {step, step + 1}, .worker = about.worker};
            static_cast<void>(for_each_tensor(run, this_one, reduction_set::all(), [&](const reduced_tensor& found) {
                if (found.failure == nullptr && found.type != dtype::invalid) {
                    computed = found.reductions;
                    about.type = found.type;
                    about.no_value = "too large to be shown";
                }
            }));
            if (!about.type) {
                report(value.error());
            }
        }
        if (const auto shape = tensor.find_shape(step, where)) {
            about.shape = *shape;
        }
    }
    if (computed && computed->computed.has_counts()) {
        about.counts = *computed;
    }
    about.saved = from.layout_of(*chosen).saved_reductions(*from.find_tensor(args.tensor));
    for (std::size_t i = 0; i < about.reductions.size(); ++i) {
        const auto key = reduction_key::from_index(i);
        if (!about.saved.contains(key)) {
            if (computed && computed->computed.contains(key)) {
                about.reductions[i] = computed->value[i];
            }
            continue;
        }
        const auto read = tensor.find_reduction(step, key.what, {.worker = about.worker, .abs = key.abs});
        if (read) {
            about.reductions[i] = *read;
        } else if (about.no_value != "cannot be read" || read.error().why == lookup_failure_kind::damaged) {
            report(read.error());
        }
    }
    return about;
}

std::optional<std::size_t> count_of(const tensor_report& about) {
    return about.shape ? element_count(*about.shape) : std::nullopt;
}

// The reductions, those of x beside those of |x|.
std::string reductions_table(const tensor_report& about) {
    const std::vector<column> columns{{"reduction "}, {"of x"}, {"of |x|"}};
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < reduction_count; ++i) {
        if (!about.reductions[i] && !about.reductions[i + reduction_count]) {
            continue;
        }
        cells.emplace_back(reduction_names[i]);
        for (const std::size_t place : {i, i + reduction_count}) {
            const bool saved = about.saved.contains(reduction_key::from_index(place));
            const auto value = about.reductions[place];
            cells.push_back(value ? number_text(*value, output_format::table) + (saved ? " (saved)" : "") : "-");
        }
    }
    return cells.empty() ? "reductions  none\n" : table_text(columns, cells);
}

// For people: a field a line.
std::string show_table(const tensor_report& about, const show_arguments& args) {
    std::string out;
    const auto line = [&](std::string_view name, const std::string& value) {
        out.append(name).append(name.size() < 12 ? 12 - name.size() : 1, ' ').append(value).append("\n");
    };
    const smdebug::detail::catalog::file& file = about.file;
    line("tensor", printable(args.tensor));
    line("run", printable(args.run));
    line("step", std::to_string(about.shown_step) +
                     (file.mode == mode::global
                          ? ""
                          : " (" + std::string{name_of(file.mode)} + " " + std::to_string(file.mode_step) + ")"));
    line("worker", printable(about.worker) +
                       (about.workers.size() == 1 ? "" : " (saved by " + printable(joined(about.workers, ", ")) + ")"));
    line("dtype", about.type ? std::string{name_of(*about.type)} : "unknown: the values are not there");
    line("shape", about.shape ? shape_for_people(*about.shape) : "not saved");
    if (const auto count = count_of(about)) {
        line("count", std::to_string(*count));
    }
    out += reductions_table(about);
    if (about.counts) {
        line("nan", std::to_string(about.counts->nan));
        line("pos_inf", std::to_string(about.counts->pos_inf));
        line("neg_inf", std::to_string(about.counts->neg_inf));
        line("zeros", std::to_string(about.counts->zeros));
    }
    if (!about.value) {
        line("values", about.no_value);
        return out;
    }
    const auto values = first_values(*about.value, args.values, output_format::table);
    const std::size_t rest = about.value->size() - values.size();
    line("values", joined(values, ", ") +
                       (rest == 0 ? "" : (values.empty() ? "" : ", ... ") + ("(" + std::to_string(rest) + " more)")));
    return out;
}

// One object, or two columns `field,value` with the same fields.
std::string show_fields(const tensor_report& about, const show_arguments& args, bool on_terminal) {
    const bool json = args.how.format == output_format::json;
    std::string out = json ? "{" : "field,value\n";
    const auto raw = [&](std::string_view name, const std::string& value) {
        if (json) {
            out += out.size() == 1 ? "" : ",";
            append_json_string(out, name);
            out.append(":").append(value.empty() ? "null" : value);
        } else {
            append_csv_field(out, name);
            out += ',';
            append_csv_field(out, on_terminal ? printable(value) : value);
            out += '\n';
        }
    };
    const auto text = [&](std::string_view name, const std::string& value) {
        std::string quoted;
        append_json_string(quoted, value);
        raw(name, json ? quoted : value);
    };
    const auto list = [&](const std::vector<std::string>& parts) {
        return json ? "[" + joined(parts, ",") + "]" : joined(parts, ";");
    };
    text("run", args.run);
    text("tensor", args.tensor);
    text("worker", about.worker);
    raw("step", std::to_string(about.shown_step));
    text("mode", std::string{name_of(about.file.mode)});
    raw("mode_step", std::to_string(about.file.mode_step));
    about.type ? text("dtype", std::string{name_of(*about.type)}) : raw("dtype", "");
    about.shape ? text("shape", shape_text(*about.shape)) : raw("shape", "");
    const auto count = count_of(about);
    raw("count", count ? std::to_string(*count) : "");
    for (std::size_t i = 0; i < about.reductions.size(); ++i) {
        const auto value = about.reductions[i];
        raw(reduction_key::from_index(i).name(), value ? real_text(*value, args.how.format) : "");
    }
    const auto counted_values = [&](std::string_view name, auto member) {
        raw(name, about.counts ? std::to_string((*about.counts).*member) : "");
    };
    counted_values("nan", &reduction_values::nan);
    counted_values("pos_inf", &reduction_values::pos_inf);
    counted_values("neg_inf", &reduction_values::neg_inf);
    counted_values("zeros", &reduction_values::zeros);
    std::vector<std::string> saved = names_of(about.saved);
    for (std::string& name : saved) {
        name = json ? "\"" + name + "\"" : name;
    }
    raw("saved", list(saved));
    raw("values", about.value ? list(first_values(*about.value, args.values, args.how.format)) : "");
    return json ? out + "}\n" : out;
}

}  // namespace

int show(const show_arguments& args, console& to) {
    if (detail::looks_like_run(args.tensor) && !detail::looks_like_run(args.run)) {
        throw usage_error("show takes RUN TENSOR, in this order: smdebug show " + args.tensor + " " + args.run);
    }
    for_each_run({args.run}, args.how, to, [&](const std::string& /*path*/, const auto& run) {
        const no_refresh as_it_is{run};
        const auto from = smdebug::detail::catalog_of(run);
        const bool table = args.how.format == output_format::table;
        bool first = true;
        for (const step_number step : detail::steps_to_show(run, *from, args)) {
            const tensor_report about = detail::look_at(run, *from, step, args, to);
            if (table && !first) {
                to.print("\n");
            }
            to.print(table ? detail::show_table(about, args)
                           : detail::show_fields(about, args, to.results_on_terminal()));
            first = false;
        }
    });
    return to.status();
}

void declare_show(command_line& line) {
    const auto args = std::make_shared<show_arguments>();
    CLI::App& app = line.add(
        "show", "one tensor at one step: shape, dtype, reductions, first values", args, [](const show_arguments&) {},
        [](const show_arguments& given, const run_context& with) { return show(given, with.to); });
    add_argument(app, "RUN", args->run, "a training run: a folder, or s3://bucket/prefix");
    add_argument(app, "TENSOR", args->tensor, "name of a tensor");
    add_parsed(app, "--step", args->step, "S", "the step, in --mode; default: the last one that has the tensor",
               [](const std::string& text) { return whole_number<step_number>("--step", text, 0); });
    add_text(app, "--worker", args->worker, "W", "the worker; default: the first by name that saved it");
    add_mode(app, args->mode, "GLOBAL (default), TRAIN, EVAL or PREDICT: what --step counts");
    add_parsed(app, "--values", args->values, "N", "how many values to show; default: 10",
               [](const std::string& text) { return whole_number<std::size_t>("--values", text, 0); });
    add_how(app, args->how);
}

}  // namespace smdebug::inline v1::cli::detail
