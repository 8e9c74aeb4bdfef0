// A rule over a run: step by step, and the whole loop.
// Source: tests/data/golden/README.md, "Rules".
#include "answer.hpp"
#include "open_run.hpp"
#include "sections.hpp"

#include <smdebug/smdebug.hpp>

#include "support/standard.hpp"

namespace golden_replay {

namespace {

using smdebug::step_number;
using smdebug::trial;

/// Met when a required tensor's mean absolute value is above the threshold.  Keeps what it saw.
class mean_above {
public:
    explicit mean_above(json::value params) : threshold_(number_of(need(params, "threshold"))) {
        if (const auto names = look(params, "names")) {
            names_ = texts_of(*names);
        } else {
            regex_ = texts_of(need(params, "regex"));
        }
    }

    [[nodiscard]] static std::string_view name() noexcept { return "MeanAbove"; }

    void require(const trial& /*run*/, step_number step, smdebug::required_tensors<trial>& required) {
        if (names_) {
            for (const std::string& name : *names_) {
                required.add(name, {step});
            }
        } else {
            required.add_matching(regex_, step);
        }
        required_ = required.names();
    }

    [[nodiscard]] smdebug::finding operator()(const trial& run, step_number step) {
        bool met = false;
        for (const std::string& name : required_) {
            met |= run.tensor(name).reduction_value(step, smdebug::reduction::mean, {.abs = true}) > threshold_;
        }
        seen_.push_back({step, required_, met});
        return {.met = met};
    }

    /// [step, required names, met] of each call since the last look.
    [[nodiscard]] fragment take_seen() {
        const fragment out = list_of(seen_, [](const sight& held) {
            return fragment{"[" + whole(held.step).json() + ", " + list_of_texts(held.names).json() + ", " +
                            truth(held.met).json() + "]"};
        });
        seen_.clear();
        return out;
    }

private:
    struct sight {
        step_number step = 0;
        std::vector<std::string> names;
        bool met = false;
    };

    double threshold_;
    std::optional<std::vector<std::string>> names_;
    smdebug::text_list regex_;
    std::vector<std::string> required_;
    std::vector<sight> seen_;
};

static_assert(smdebug::rule<mean_above, trial> && smdebug::requires_tensors<mean_above, trial>);

/// One trial and one rule, step after step.
[[nodiscard]] fragment answer_invoke(const std::string& place, json::value params, json::value asked) {
    mean_above rule{params};
    std::optional<trial> run;
    return list_of(questions_of(asked), [&](json::value question) {
        const step_number step = whole_of(need(question, "step"));
        const answer found = ask([&] {
            if (!run) {
                run.emplace(open_run(place));
            }
            for (const smdebug::finding& one :
                 smdebug::detail::held_rule<mean_above&, trial>{rule}.evaluate(*run, step, {.timeout = patience})) {
                if (one.met) {  // the Python package says so by an exception, the library by the finding
                    throw smdebug::rule_evaluation_condition_met(std::string{mean_above::name()}, step);
                }
            }
            return in_quotes("not met");
        });
        object out;
        found.add_to(out.add("step", whole(step)));
        out.add("seen", rule.take_seen());
        return out.add("dynamic_refresh_after", run ? truth(run->dynamic_refresh()) : null()).done();
    });
}

/// The whole loop, on a trial of its own.
[[nodiscard]] fragment answer_invoke_rule(const std::string& place, json::value params, json::value question) {
    const arguments args{question};
    mean_above rule{params};
    smdebug::invoke_options how;
    how.start_step = args.find_whole("start_step").value_or(0);
    how.end_step = args.find_whole("end_step");
    how.raise_eval_cond = args.flag("raise_eval_cond");
    how.timeout = patience;
    const answer found = ask([&] {
        const trial run = open_run(place);
        const smdebug::rule_outcome outcome = smdebug::invoke_rule(rule, run, how);
        switch (outcome.end) {
            case smdebug::invoke_end::end_of_run:  // no exception for our users; written down as one (decisions.md D29)
                throw smdebug::no_more_data(outcome.next_step, smdebug::mode::global, outcome.next_step - 1);
            case smdebug::invoke_end::stalled:
            case smdebug::invoke_end::timed_out:
                throw smdebug::unavailable(smdebug::error_code::timed_out, "no new step came");
            case smdebug::invoke_end::end_step:
            case smdebug::invoke_end::first_finding:
            case smdebug::invoke_end::stopped:
            case smdebug::invoke_end::failed:
                break;
        }
        return in_quotes(outcome.end == smdebug::invoke_end::end_step ? "returned" : "ended early");
    });
    object out;
    for (const char* const key : {"start_step", "end_step", "raise_eval_cond"}) {
        if (const auto held = question[key]) {
            out.add(key, echo(*held));
        }
    }
    return found.add_to(out).add("seen", rule.take_seen()).done();
}

}  // namespace

fragment answer_rule(const std::string& place, json::value asked) {
    const json::value name = need(asked, "rule");
    if (text_of(name) != "mean_above") {
        wrong("expected the rule mean_above", name);
    }
    const scoped_environment environment{look(asked, "env")};
    const json::value params = need(asked, "params");
    object out{true};
    out.add("rule", echo(name)).add("params", echo(params));
    if (const auto questions = look(asked, "invoke")) {
        out.add("invoke", answer_invoke(place, params, *questions));
    }
    if (const auto questions = look(asked, "invoke_rule")) {
        out.add("invoke_rule", list_of(questions_of(*questions), [&](json::value question) {
                    return answer_invoke_rule(place, params, question);
                }));
    }
    return out.done();
}

}  // namespace golden_replay
