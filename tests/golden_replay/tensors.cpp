// The tensors of an opening: their steps, and each worker's value, shape and reductions at each step.
// Names, steps and workers come from the library; the question says only how far to look.
#include "answer.hpp"
#include "number_text.hpp"
#include "sections.hpp"
#include "value_json.hpp"

#include <smdebug/smdebug.hpp>

#include "support/standard.hpp"

namespace golden_replay {

namespace {

using smdebug::step_number;
using tensor_type = smdebug::trial::tensor_type;

[[nodiscard]] std::optional<json::value> look(std::optional<json::value> in, std::string_view key) {
    return in ? golden_replay::look(*in, key) : std::nullopt;
}

[[nodiscard]] fragment steps_json(const tensor_type& tensor) {
    object out;
    for (const auto which :
         {smdebug::mode::global, smdebug::mode::train, smdebug::mode::eval, smdebug::mode::predict}) {
        const auto complete = tensor.steps({.mode = which});
        const auto all = tensor.steps({.mode = which, .show_incomplete_steps = true});
        if (!complete.empty() || !all.empty()) {
            out.add(name_of(which),
                    object{}.add("complete", list_of_whole(complete)).add("all", list_of_whole(all)).done());
        }
    }
    return out.done();
}

/// One worker's reading of a tensor at a global step; without a worker, the default one's.
class reading {
public:
    reading(const tensor_type& tensor, step_number step, std::optional<std::string> worker)
        : tensor_(tensor), step_(step), worker_(std::move(worker)) {}

    [[nodiscard]] fragment read(std::optional<json::value> asked) const {
        object out;
        out.add("value", ask([&] { return value_json(tensor_.value(step_, {.worker = worker_})); }).in_place());
        out.add("shape", ask([&] { return shape_json(tensor_.shape(step_, {.worker = worker_})); }).in_place());
        out.add("saved_reductions", ask([&] { return saved(); }).in_place());
        add_reductions(asked, out);
        return out.done();
    }

private:
    [[nodiscard]] answer reduction(smdebug::reduction_key key) const {
        return ask([&] {
            return scalar_json(tensor_.reduction_value(step_, name_of(key.what), {.worker = worker_, .abs = key.abs}));
        });
    }

    /// The names of the saved ones.  Their values stand only once in the answers, so they have to be the same.
    [[nodiscard]] fragment saved() const {
        std::vector<std::string> names;
        for (const auto& [key, value] : tensor_.saved_reduction_values(step_, {.worker = worker_})) {
            const bool same = reduction(key).in_place().json() == scalar_json(value).json();
            names.push_back(key.name() + (same ? "" : ": reduction_value says otherwise"));
        }
        std::sort(names.begin(), names.end());
        return list_of_texts(names);
    }

    /// Reads all 18.  If the question names only some, one error must hold for all others.
    void add_reductions(std::optional<json::value> asked, object& out) const {
        const auto named = look(asked, "reductions");
        const bool in_part = look(asked, "other_reductions").has_value();
        object listed;
        object others;
        std::vector<answer> failed;
        for (std::size_t i = 0; i < 2 * smdebug::reduction_count; ++i) {
            const auto key = smdebug::reduction_key::from_index(i);
            const answer found = reduction(key);
            if (in_part && !look(named, key.name())) {
                others.add(key.name(), found.in_place());
                failed.push_back(found);
            } else {
                listed.add(key.name(), found.in_place());
            }
        }
        out.add("reductions", listed.done());
        if (!failed.empty()) {
            const bool one_error = std::all_of(failed.begin(), failed.end(), [&](const answer& held) {
                return !held.is_result() && held.error_class() == failed.front().error_class();
            });
            out.add("other_reductions", one_error ? failed.front().in_place() : others.done());
        }
    }

    const tensor_type& tensor_;
    step_number step_;
    std::optional<std::string> worker_;
};

[[nodiscard]] fragment at_json(const smdebug::trial& run, const tensor_type& tensor, step_number step,
                               std::optional<json::value> asked) {
    const auto which = run.mode(step);
    const auto mode_step = run.mode_step(step);
    const auto workers = tensor.workers(step);
    object by_worker;
    // The worker that is read by default is found by its values: the first worker with the same ones.
    const auto first_asked = look(look(asked, "by_worker"), workers.empty() ? "" : workers.front());
    const fragment unnamed = reading{tensor, step, std::nullopt}.read(first_asked);
    std::optional<std::string> default_worker;
    for (const std::string& worker : workers) {
        const fragment named = reading{tensor, step, worker}.read(look(look(asked, "by_worker"), worker));
        if (!default_worker && named.json() == unnamed.json()) {
            default_worker = worker;
        }
        by_worker.add(worker, named);
    }
    return object{}
        .add("step", whole(step))
        .add("mode", which ? in_quotes(name_of(*which)) : null())
        .add("mode_step", mode_step ? whole(*mode_step) : null())
        .add("workers", list_of_texts(workers))
        .add("default_worker", default_worker ? in_quotes(*default_worker) : null())
        .add("by_worker", by_worker.done())
        .done();
}

[[nodiscard]] fragment tensor_json(const smdebug::trial& run, const std::string& name,
                                   std::optional<json::value> asked) {
    const tensor_type tensor = run.tensor(name);
    object out{true};
    if (const auto original = tensor.original_name()) {
        out.add("original_name", in_quotes(*original));
    }
    out.add("steps", steps_json(tensor));
    if (const auto questions = look(asked, "prev_steps")) {
        out.add("prev_steps", list_of(questions_of(*questions), [&](json::value question) {
                    const arguments args{question};
                    object pair;
                    for (const auto& [key, held] : fields_of(question)) {
                        if (key == "step" || key == "n" || key == "mode") {
                            pair.add(key, echo(held));
                        }
                    }
                    const answer found =
                        ask([&] { return list_of_whole(tensor.prev_steps(args.step(), args.prev_steps())); });
                    return found.add_to(pair).done();
                }));
    }
    if (const auto asked_at = look(asked, "at")) {
        const auto places = items_of(*asked_at);
        auto steps = tensor.steps({.show_incomplete_steps = true});
        steps.resize(std::min(steps.size(), places.size()));
        std::size_t i = 0;
        out.add("at", list_of(steps, [&](step_number step) { return at_json(run, tensor, step, places[i++]); }));
    }
    return out.done();
}

}  // namespace

fragment answer_tensors(const smdebug::trial& run, json::value asked) {
    object out{true};
    for (const std::string& name : run.tensor_names()) {
        out.add(name, ask([&] { return tensor_json(run, name, golden_replay::look(asked, name)); }).in_place());
    }
    return out.done();
}

}  // namespace golden_replay
