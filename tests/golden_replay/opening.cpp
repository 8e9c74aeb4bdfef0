// Opens a run in place and checks the trial's description, steps, collections, tensors and queries.
#include "answer.hpp"
#include "conversation.hpp"
#include "open_run.hpp"
#include "sections.hpp"

#include <smdebug/smdebug.hpp>

#include "support/standard.hpp"

namespace golden_replay {

namespace {

using smdebug::trial;

/// The fields of a question, and what came of it.
[[nodiscard]] object repeated(json::value asked, const answer& found) {
    object out;
    for (const char* const key : {"call", "args", "fresh_trial", "step", "mode", "mode_step"}) {
        if (const auto held = asked[key]) {
            out.add(key, echo(*held));
        }
    }
    return found.add_to(out);
}

/// A list of questions that are all the arguments of one call.
[[nodiscard]] fragment answer_each(const trial& run, const std::string& name, json::value asked) {
    return list_of(questions_of(asked), [&](json::value question) {
        const auto args = look(question, "args");
        return repeated(question, ask([&] { return call(run, name, arguments{args ? args : question}); })).done();
    });
}

[[nodiscard]] fragment steps_json(const trial& run) {
    object out;
    for (const auto which :
         {smdebug::mode::global, smdebug::mode::train, smdebug::mode::eval, smdebug::mode::predict}) {
        out.add(name_of(which),
                object{}
                    .add("complete", list_of_whole(run.steps({.mode = which})))
                    .add("all", list_of_whole(run.steps({.mode = which, .show_incomplete_steps = true})))
                    .done());
    }
    return out.done();
}

[[nodiscard]] fragment global_steps_json(const trial& run) {
    return list_of(run.steps({.show_incomplete_steps = true}), [&](smdebug::step_number step) {
        const auto which = run.mode(step);
        const auto mode_step = run.mode_step(step);
        return object{}
            .add("step", whole(step))
            .add("mode", which ? in_quotes(name_of(*which)) : null())
            .add("mode_step", mode_step ? whole(*mode_step) : null())
            .add("workers", list_of_texts(run.workers(step)))
            .done();
    });
}

[[nodiscard]] fragment collections_json(const trial& run) {
    object out{true};
    for (const auto& [name, group] : run.collections()) {
        out.add(name, collection_json(group));
    }
    return out.done();
}

[[nodiscard]] fragment state_json(const trial& run) {
    return object{}
        .add("loaded_all_steps", truth(run.loaded_all_steps()))
        .add("last_complete_step", whole(run.last_complete_step()))
        .done();
}

/// One call of "queries".  A waiting one uses a trial of its own, and also checks whether that still refreshes.
[[nodiscard]] fragment answer_query(conversation& shared, const std::function<trial()>& open_fresh, json::value asked) {
    const auto fresh = look(asked, "fresh_trial");
    std::optional<conversation> own;
    const answer found = ask([&] {
        if (fresh && truth_of(*fresh)) {
            own.emplace(open_fresh());
        }
        return (own ? *own : shared).make(text_of(need(asked, "call")), arguments{look(asked, "args")});
    });
    object out = repeated(asked, found);
    if (asked["dynamic_refresh_after"]) {
        out.add("dynamic_refresh_after", truth((own ? *own : shared).run().dynamic_refresh()));
    }
    return out.done();
}

}  // namespace

fragment collection_json(const smdebug::collection& group) {
    object out;
    out.add("name", in_quotes(group.name))
        .add("include_regex", list_of_texts(group.include_regex))
        .add("tensor_names", list_of_texts(group.tensor_names))
        .add("save_histogram", truth(group.save_histogram));
    if (!group.save_config) {
        out.add("save_config", null());
    } else {
        object modes;
        const auto step_or_null = [](const auto& step) { return step ? whole(*step) : null(); };
        for (const auto& [which, config] : *group.save_config) {
            modes.add(name_of(which), object{}
                                          .add("save_interval", whole(config.save_interval))
                                          .add("save_steps", list_of_whole(config.save_steps))
                                          .add("start_step", step_or_null(config.start_step))
                                          .add("end_step", step_or_null(config.end_step))
                                          .done());
        }
        out.add("save_config", modes.done());
    }
    if (!group.reduction_config) {
        return out.add("reduction_config", null()).done();
    }
    std::string reductions;
    for (const std::string& name : group.reduction_config->reductions) {
        reductions.append(reductions.empty() ? "" : ",").append(name);
    }
    return out
        .add("reduction_config", object{}
                                     .add("reductions", in_quotes(reductions))
                                     .add("save_raw_tensor", truth(group.reduction_config->save_raw_tensor))
                                     .add("save_shape", truth(group.reduction_config->save_shape))
                                     .done())
        .done();
}

fragment answer_opening(const std::string& place, json::value asked) {
    const auto env = look(asked, "env");
    const auto range_asked = look(asked, "range_steps");
    const smdebug::step_range range = range_of(range_asked);
    const scoped_environment environment{env};
    const auto open = [&] { return open_run(place, range); };

    object out{true};
    out.add("range_steps", range_asked ? echo(*range_asked) : null());
    out.add("env", env ? echo(*env) : object{}.done());
    std::optional<trial> run;
    const answer opened = ask([&] {
        run.emplace(open());
        return in_quotes("opened");
    });
    object how;
    out.add("open", opened.add_to(how).done());
    if (!run) {
        return out.done();
    }

    const auto add = [&](std::string_view key, const auto& question) { out.add(key, ask(question).in_place()); };
    const arguments none;
    add("on_open", [&] { return state_json(*run); });
    add("refresh_trace", [&] {
        return list_of(items_in(asked, "refresh_trace"), [&](json::value /*of the question, only its place*/) {
            run->refresh();
            return whole(run->last_complete_step());
        });
    });
    for (const std::string_view key :
         {"workers", "num_workers", "loaded_all_steps", "last_complete_step", "modes", "tensor_names"}) {
        add(key, [&] { return call(*run, std::string{"trial."}.append(key), none); });
    }
    add("steps", [&] { return steps_json(*run); });
    add("global_steps", [&] { return global_steps_json(*run); });
    for (const std::string_view key : {"global_step", "has_passed_step"}) {
        if (const auto questions = look(asked, key)) {
            out.add(key, answer_each(*run, std::string{"trial."}.append(key), *questions));
        }
    }
    if (look(asked, "collections")) {
        add("collections", [&] { return collections_json(*run); });
    }
    if (const auto questions = look(asked, "tensors")) {
        out.add("tensors", answer_tensors(*run, *questions));
    }
    if (const auto questions = look(asked, "tensor_name_queries")) {
        out.add("tensor_name_queries", answer_each(*run, "trial.tensor_names", *questions));
    }
    if (const auto questions = look(asked, "queries")) {
        conversation shared{*run};
        out.add("queries", list_of(questions_of(*questions),
                                   [&](json::value query) { return answer_query(shared, open, query); }));
    }
    return out.done();
}

}  // namespace golden_replay
