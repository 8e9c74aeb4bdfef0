// The built-in rule nan_origin: where NaN or infinity came from.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires once for each worker, at the first step at which it saved a tensor with NaN or an infinity (with only_nan:
/// NaN), and names the one that it saved first, by its place in the event file: what is first there was computed first.
/// With rearm_after it fires again after so many steps of the worker, in any mode, without one.
/// Values decide.  Without them a saved min, max, abs_min or abs_max that is not finite does; other reductions prove
/// nothing, as float32 overflows.  None of these four: a note.
/// Edge cases: if a trial knows no places in files, the first tensor by name is taken.  Text, complex numbers and empty
/// tensors are skipped.  An unreadable save is a note; a step of which nothing could be read counts neither way.
/// It begins with the first step that it is called with: use a new rule for a new walk.  Cost: one read and pass of
/// each tensor; at a finding one more, of the tensor's previous save.
struct nan_origin {
    text_list collection_names = {};  ///< with tensor_regex the union; without either all tensors
    text_list tensor_regex = {};
    text_list exclude_regex = {};  ///< these are left out in any case
    bool only_nan = false;
    std::int64_t rearm_after = 0;  ///< with 0 it fires once
    bool all_workers = true;

    /// What was seen of one worker.
    class history {
        friend nan_origin;
        struct state {
            bool armed = true;
            std::int64_t clean = 0;
        };
        std::map<std::string, state, std::less<>> by_worker_;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "nan_origin"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the first tensor that holds NaN or an infinity";
    }
    template <class Rule = nan_origin>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: all tensors"},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"exclude_regex", &Rule::exclude_regex,
                    "regular expressions for names of tensors to leave out, as masks that hold -inf",
                    setting_kind::regexes},
            setting{"only_nan", &Rule::only_nan, "look for NaN only, not for infinities"},
            setting{"rearm_after", &Rule::rearm_after, "fires again after so many clean steps of a worker; 0: never"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        std::map<std::string, seen_saves, std::less<>> seen;
        std::vector<finding> findings = look_at_all(run, step, seen);
        for (auto& [worker, saves] : seen) {
            if (const bad_save* first = judge(worker, saves)) {
                const auto handle = run.tensor(first->tensor);
                const detail::saved_tensor now{handle, first->tensor, step, first->worker};
                findings.push_back(now.met(first->share, 0, first->what + "; before: " + text_before(now)));
            }
        }
        return findings;
    }

private:
    struct bad_save {
        std::string tensor = {};
        std::string worker = {};
        std::optional<std::uint64_t> place = {};
        double share = 0;  ///< the part of the elements that is bad; NaN if unknown
        std::string what = {};
    };
    /// What one worker, or all together, saved at a step: there is one if any save could be judged.
    struct seen_saves {
        std::vector<bad_save> bad = {};
    };

    /// Returns the notes.
    [[nodiscard]] std::vector<finding> look_at_all(const auto& run, step_number step, auto& seen) const {
        const auto is_left_out = detail::left_out(run, step, exclude_regex);
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                  [&](const auto& tensor) -> std::optional<finding> {
                                      if (is_left_out(tensor)) {
                                          return finding{};
                                      }
                                      const detail::save_facts facts = detail::facts_of(tensor);
                                      if (facts.what == detail::save_facts::kind::not_a_save) {
                                          return std::nullopt;
                                      }
                                      if (facts.what == detail::save_facts::kind::unreadable) {
                                          return tensor.note(facts.failure);
                                      }
                                      finding note;
                                      std::optional<bad_save> bad = facts.what == detail::save_facts::kind::values
                                                                        ? by_counts(facts.computed)
                                                                        : by_reductions(tensor, note);
                                      if (!note.message.empty()) {
                                          return note;
                                      }
                                      seen_saves& of = seen[all_workers ? tensor.worker() : std::string{}];
                                      if (bad) {
                                          bad->tensor = tensor.name();
                                          bad->worker = tensor.worker();
                                          bad->place = tensor.handle().record_offset(
                                              step, read_options{.worker = tensor.worker()});
                                          of.bad.push_back(*std::move(bad));
                                      }
                                      return note;
                                  });
    }

    /// The largest magnitude at the tensor's previous save by this worker.
    [[nodiscard]] static std::string text_before(const auto& now) {
        std::string text = "none";
        detail::visit_steps_back(now.handle(), now.step() - 1, mode::global, [&](step_number earlier) {
            const std::vector<std::string> workers = now.handle().workers(earlier, read_options{});
            if (std::find(workers.begin(), workers.end(), now.worker()) == workers.end()) {
                return true;
            }
            const auto save = now.at(earlier);
            const detail::save_facts facts = detail::facts_of(save, detail::abs_max_reductions);
            if (facts.what == detail::save_facts::kind::not_a_save) {
                return true;
            }
            const auto largest = facts.what == detail::save_facts::kind::unreadable ? lookup<double>{facts.failure}
                                                                                    : detail::abs_max_of(save, facts);
            text = "largest magnitude " + text_of_largest(largest) + " at " + save.step_words();
            return false;
        });
        return text;
    }

    [[nodiscard]] std::optional<bad_save> by_counts(const reduction_values& counts) const;
    [[nodiscard]] bool is_bad(double extremum) const noexcept;
    [[nodiscard]] static std::string text_of_largest(const lookup<double>& largest);
    /// Updates the state of a worker; the save to report, or null.
    [[nodiscard]] const bad_save* judge(const std::string& worker, const seen_saves& saves);

    /// `note`: receives what could not be read, or that nothing was saved that decides.
    [[nodiscard]] std::optional<bad_save> by_reductions(const auto& tensor, finding& note) const {
        bool is_known = false;
        for (const reduction_key key : {reduction_key{reduction::max, true}, reduction_key{reduction::max, false},
                                        reduction_key{reduction::min, false}, reduction_key{reduction::min, true}}) {
            const auto extremum = tensor.reduction_value(key.what, key.abs);
            if (extremum && is_bad(*extremum)) {
                note = {};
                return bad_extremum(key, *extremum);
            }
            if (!extremum && is_lost(extremum.error())) {
                note = tensor.note(extremum.error());
            }
            is_known = is_known || extremum;
        }
        if (!is_known && !note.damaged) {
            note = tensor.note("neither its values nor min, max or their abs forms were saved: others prove nothing");
        }
        return std::nullopt;
    }
    [[nodiscard]] static bad_save bad_extremum(reduction_key key, double extremum);
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/nan_origin.ipp>
#endif
