// Every call of the README, by its recorded name: the Python spelling on the left, the library's on the right.
#include "answer.hpp"
#include "number_text.hpp"
#include "open_run.hpp"
#include "sections.hpp"
#include "value_json.hpp"

#include <smdebug/smdebug.hpp>

#include "support/standard.hpp"

namespace golden_replay {

namespace {

using tensor_type = smdebug::trial::tensor_type;

[[nodiscard]] fragment whole_or_null(std::optional<smdebug::step_number> step) { return step ? whole(*step) : null(); }

[[nodiscard]] fragment modes_json(const std::vector<smdebug::mode>& modes) {
    std::vector<std::string> names;
    for (const auto which : modes) {
        names.emplace_back(name_of(which));
    }
    std::sort(names.begin(), names.end());
    return list_of_texts(names);
}

[[nodiscard]] fragment collection_names(const smdebug::trial& run) {
    return list_of(run.collections(), [](const auto& held) { return in_quotes(held.first); });
}

/// The collection of that name, even if the run does not have it.
[[nodiscard]] smdebug::collection collection_object(const smdebug::trial& run, const std::string& name) {
    try {
        return run.collection(name);
    } catch (const smdebug::not_found& caught) {
        if (caught.code() != smdebug::error_code::collection_unavailable) {
            throw;
        }
        return {.name = name};
    }
}

[[nodiscard]] fragment tensor_names(const smdebug::trial& run, const arguments& args) {
    smdebug::tensor_names_options which{.step = args.find_step(), .mode = args.mode()};
    if (const auto regex = args.find("regex")) {
        which.regex = texts_of(*regex);
    }
    if (const auto group = args.find("collection")) {
        which.collection = text_of(*group);
    }
    if (const auto group = args.find("collection_object")) {
        which.collection = collection_object(run, text_of(*group));
    }
    return list_of_texts(run.tensor_names(which));
}

[[nodiscard]] fragment workers(const smdebug::trial& run, const arguments& args) {
    const auto step = args.find_step();
    return list_of_texts(step ? run.workers(*step) : run.workers());
}

[[nodiscard]] fragment wait_for_steps(const smdebug::trial& run, const arguments& args) {
    run.wait_for_steps(steps_of(args.get("steps")), {.mode = args.mode(), .timeout = patience});
    return in_quotes("returned");
}

[[nodiscard]] fragment mode_json(const smdebug::trial& run, const arguments& args) {
    const auto found = run.mode(args.step());
    return found ? in_quotes(name_of(*found)) : null();
}

[[nodiscard]] fragment values_json(const tensor_type& tensor, const arguments& args) {
    object out;
    for (const auto& [step, value] : tensor.values(args.values())) {
        out.add(std::to_string(step), value_json(value));
    }
    return out.done();
}

[[nodiscard]] fragment reduction_values(const tensor_type& tensor, const arguments& args) {
    object out;
    for (const auto& [key, value] : tensor.saved_reduction_values(args.step(), args.read())) {
        out.add(key.name(), scalar_json(value));
    }
    return out.done();
}

using trial_call = std::function<fragment(const smdebug::trial&, const arguments&)>;
using tensor_call = std::function<fragment(const tensor_type&, const arguments&)>;
using smdebug::trial;

const std::map<std::string_view, trial_call> trial_calls{
    {"trial.steps", [](const trial& t, const arguments& a) { return list_of_whole(t.steps(a.steps())); }},
    {"trial.workers", workers},
    {"trial.num_workers", [](const trial& t, const arguments&) { return whole(t.num_workers()); }},
    {"trial.loaded_all_steps", [](const trial& t, const arguments&) { return truth(t.loaded_all_steps()); }},
    {"trial.last_complete_step", [](const trial& t, const arguments&) { return whole(t.last_complete_step()); }},
    {"trial.dynamic_refresh", [](const trial& t, const arguments&) { return truth(t.dynamic_refresh()); }},
    {"trial.modes", [](const trial& t, const arguments&) { return modes_json(t.modes()); }},
    {"trial.mode", mode_json},
    {"trial.mode_step", [](const trial& t, const arguments& a) { return whole_or_null(t.mode_step(a.step())); }},
    {"trial.global_step",
     [](const trial& t, const arguments& a) {
         return whole_or_null(t.global_step(a.mode(), whole_of(a.get("mode_step"))));
     }},
    {"trial.has_passed_step",
     [](const trial& t, const arguments& a) { return in_quotes(name_of(t.has_passed_step(a.step(), a.mode()))); }},
    {"trial.wait_for_steps", wait_for_steps},
    {"trial.collections", [](const trial& t, const arguments&) { return collection_names(t); }},
    {"trial.collection", [](const trial& t, const arguments& a) { return collection_json(t.collection(a.name())); }},
    {"trial.tensor_names", tensor_names},
    {"trial.has_tensor", [](const trial& t, const arguments& a) { return truth(t.has_tensor(a.name())); }},
    {"trial.tensor", [](const trial& t, const arguments& a) { return in_quotes(t.tensor(a.name()).name()); }},
    {"trial.inputs",
     [](const trial& t, const arguments& a) { return list_of(t.inputs(a.step(), a.read()), value_json); }},
    {"trial.labels",
     [](const trial& t, const arguments& a) { return list_of(t.labels(a.step(), a.read()), value_json); }},
    {"trial.predictions",
     [](const trial& t, const arguments& a) { return list_of(t.predictions(a.step(), a.read()), value_json); }},
    // Removed from the Python package, and never in this library: the README says what to write.
    {"tensor.step",
     [](const trial&, const arguments&) -> fragment {
         throw removed_call("there is no tensor.step; use tensor.value or tensor.reduction_value");
     }},
};

const std::map<std::string_view, tensor_call> tensor_calls{
    {"tensor.steps", [](const tensor_type& t, const arguments& a) { return list_of_whole(t.steps(a.steps())); }},
    {"tensor.prev_steps",
     [](const tensor_type& t, const arguments& a) { return list_of_whole(t.prev_steps(a.step(), a.prev_steps())); }},
    {"tensor.workers",
     [](const tensor_type& t, const arguments& a) { return list_of_texts(t.workers(a.step(), a.read())); }},
    {"tensor.value", [](const tensor_type& t, const arguments& a) { return value_json(t.value(a.step(), a.value())); }},
    {"tensor.shape", [](const tensor_type& t, const arguments& a) { return shape_json(t.shape(a.step(), a.read())); }},
    {"tensor.values", values_json},
    {"tensor.reduction_value",
     [](const tensor_type& t, const arguments& a) {
         const std::string name = text_of(a.get("reduction"));
         if (name.starts_with("abs_")) {  // N10: an error of the package, a name of this library
             throw smdebug::value_error("Invalid reduction type " + name);
         }
         return scalar_json(t.reduction_value(a.step(), name, a.reduction()));
     }},
    {"tensor.reduction_values", reduction_values},
};

}  // namespace

fragment call(const trial& run, const std::string& name, const arguments& args) {
    if (const auto found = trial_calls.find(name); found != trial_calls.end()) {
        return found->second(run, args);
    }
    if (const auto found = tensor_calls.find(name); found != tensor_calls.end()) {
        return found->second(run.tensor(args.name()), args);
    }
    throw bad_question("no call is named " + name);
}

}  // namespace golden_replay
