// The bodies of <smdebug/learn/learn.hpp>.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace smdebug::inline v1 {
namespace detail::learn {

SMDEBUG_INLINE number_set numbers_named(const text_list& names) {
    number_set kept;
    for (const std::string& name : names.texts()) {
        const auto which = number_named(name);
        if (!which || *which == number::value) {
            std::vector<std::string> known;
            for (const std::string_view each : number_names) {
                if (each != name_of(number::value)) {
                    known.emplace_back(each);
                }
            }
            throw value_error("there is no number \"" + printable(name) + "\" to learn." + near_or_all(name, known));
        }
        kept.insert(*which);
    }
    return kept;
}

/// A save that a thread has looked at.
struct looked_save {
    step_number step = 0;
    std::string tensor = {};
    std::string worker = {};
    save_look save = {};
    shape_type shape = {};
    std::optional<lookup_error> failure = {};
};

/// What a thread has looked at; its memory is reused.
class looked_saves {
public:
    void look(const scanned_tensor& tensor, const number_set& kept, reduction_set wanted, const any_kernel& kernel) {
        if (size_ == all_.size()) {
            all_.emplace_back();
        }
        looked_save& to = all_[size_++];
        to.step = tensor.step;
        to.tensor.assign(tensor.name);
        to.worker.assign(tensor.worker);
        to.failure.reset();
        if (!tensor.saved_failures.empty()) {
            to.failure = tensor.saved_failures.front().why;
            return;
        }
        reduce_into(tensor, wanted, kernel, reduced_);
        if (!reduced_) {
            to.failure = reduced_.error();
            return;
        }
        const decoded_tensor* const decoded = tensor.values();
        const auto values = decoded != nullptr ? std::optional{values_measure{}(decoded->view())} : std::nullopt;
        save_parts parts{.name = tensor.name,
                         .saved = tensor.saved,
                         .saved_value = tensor.saved_value,
                         .values = values ? &*values : nullptr,
                         .computed = values ? &reduced_.reductions : nullptr,
                         .shape = tensor.shape()};
        to.save = look_at(parts, kept);
        if (parts.shape != nullptr) {
            to.shape = *parts.shape;
        }
    }

    [[nodiscard]] const looked_save* begin() const noexcept { return all_.data(); }
    [[nodiscard]] const looked_save* end() const noexcept { return all_.data() + size_; }
    void clear() noexcept { size_ = 0; }

private:
    std::vector<looked_save> all_;
    std::size_t size_ = 0;
    reduced_tensor reduced_;
};

[[nodiscard]] inline not_found no_steps(const std::string& run) {
    return not_found("there is no complete step in " + printable(run), {.where = run});
}

SMDEBUG_INLINE all_facts facts_of_run(const trial& run, const std::string& name, const number_set& kept,
                                      unsigned threads, const std::stop_token& stop,
                                      const std::function<void(const std::string& note)>& note) {
    if (const std::vector<problem> problems = run.problems(); !problems.empty()) {
        throw corrupt_data(text_of(problems.front()), {.where = name});
    }
    const auto from = run.snapshot();
    const std::vector<step_number> steps = from->steps_of(mode::global, false);
    if (steps.empty()) {
        throw no_steps(name);
    }
    run_learner learner{kept};
    const any_kernel& kernel = run.state()->kernel();
    const reduction_set wanted = reductions_for(kept);
    part_stream<looked_saves> parts(
        run.state(),
        {.which = {.digests = true},
         .how = {.threads = std::max(threads, 1U), .stop = stop},
         .defer_checks = true,
         .in_place = true},
        {}, [&](looked_saves& to, const scanned_tensor& tensor) { to.look(tensor, kept, wanted, kernel); });
    std::set<std::string> not_text;
    std::size_t next = 0;
    const auto begin_steps_up_to = [&](step_number step) {
        while (next < steps.size() && steps[next] <= step) {
            const auto* const entry = from->find_step(steps[next++]);
            learner.begin_step(entry->step, entry->mode, entry->mode_step);
        }
        return next > 0 && steps[next - 1] == step;
    };
    while (looked_saves* const part = parts.next()) {
        for (const looked_save& each : *part) {
            if (!begin_steps_up_to(each.step)) {
                continue;  // not complete
            }
            if (each.failure) {
                throw_failure(*each.failure, each.tensor, each.step, mode::global);
            }
            if (!is_utf8(each.tensor)) {
                not_text.insert(each.tensor);
                continue;
            }
            learner.take(each.tensor, each.worker, each.save, each.save.has_shape ? &each.shape : nullptr);
        }
        part->clear();
    }
    if (!parts.is_complete()) {
        throw stopped("learning was stopped", {.where = name});
    }
    begin_steps_up_to(steps.back());
    if (!not_text.empty() && note) {
        note(std::to_string(not_text.size()) + " of its tensors " +
             (not_text.size() == 1 ? "has a name" : "have names") +
             " that cannot stand in the file, as it is not UTF-8: left out, first " + printable(*not_text.begin()));
    }
    if (!from->loaded_all_steps && note) {
        note("its job has not ended: learned from what is there now");
    }
    return learner.finish(name);
}

/// Joins the facts of runs as they end.
class facts_gatherer {
public:
    facts_gatherer(const learn_options& options, const std::function<void(const left_out_run&)>& left_out)
        : options_(options), left_out_(left_out), kept_(numbers_named(options.reductions)) {
        if (!options.add_to.runs().empty()) {
            facts_ = options.add_to.data();
            kept_ = facts_.reductions;
        }
        facts_.reductions = kept_;
    }

    [[nodiscard]] const number_set& kept() const noexcept { return kept_; }

    /// Errors: value_error: a run of that name is among those that are added to.
    void expect(const std::string& run) const {
        const auto& runs = options_.add_to.runs();
        if (std::binary_search(runs.begin(), runs.end(), run)) {
            throw value_error("the run " + printable(run) +
                              " has been learned from already: each run counts once.  Leave it out");
        }
    }
    void note(const std::string& run, const std::string& text) {
        const std::lock_guard lock{guard_};
        if (options_.on_note) {
            options_.on_note(run, text);
        }
    }
    void leave_out(const std::string& run, const std::string& why) {
        const std::lock_guard lock{guard_};
        if (left_out_) {
            left_out_({run, why});
        }
    }
    void take(all_facts&& facts) {
        const std::lock_guard lock{guard_};
        facts_.join(std::move(facts));
    }
    void count_one() {
        const std::lock_guard lock{guard_};
        ++done_;
        if (options_.progress) {
            options_.progress(done_);
        }
    }
    [[nodiscard]] learned_facts finish() {
        facts_.settle();
        return learned_facts::of(std::move(facts_));
    }

private:
    const learn_options& options_;
    const std::function<void(const left_out_run&)>& left_out_;
    number_set kept_;
    std::mutex guard_;
    all_facts facts_ = {};
    std::size_t done_ = 0;
};

SMDEBUG_INLINE learned_facts learn_found(run_finder& runs, const run_opener& open, const learn_options& options,
                                         const std::function<void(const left_out_run&)>& left_out,
                                         const std::function<bool(const std::string& path)>& is_asked) {
    facts_gatherer gathered{options, left_out};
    std::mutex guard;
    std::map<std::uint64_t, any_storage> stores;  // of runs in archives, until they are begun
    const auto next = [&]() -> std::optional<batch_run> {
        while (auto found = runs.next()) {
            if (!found->run.error.empty()) {
                gathered.leave_out(found->run.path, found->run.error);
                continue;
            }
            if (!is_utf8(found->run.path)) {
                gathered.leave_out(found->run.path, "its name cannot stand in the file, as it is not UTF-8");
                continue;
            }
            if (is_asked && !is_asked(found->run.path)) {
                continue;
            }
            gathered.expect(found->run.path);
            if (found->store) {
                const std::lock_guard lock{guard};
                stores.emplace(found->run.place, *std::move(found->store));
            }
            return std::move(found->run);
        }
        return std::nullopt;
    };
    const auto work = [&](const batch_run& one, const run_scope& scope) -> run_result {
        std::optional<any_storage> store;
        {
            const std::lock_guard lock{guard};
            if (const auto found = stores.find(one.place); found != stores.end()) {
                store = std::move(found->second);
                stores.erase(found);
            }
        }
        try {
            gathered.take(facts_of_run(open(one.path, store), one.path, gathered.kept(), 1, scope.stop,
                                       [&](const std::string& text) { gathered.note(one.path, text); }));
        } catch (const stopped&) {
            return {.run = one, .state = run_state::undone};
        } catch (const std::exception& wrong) {
            gathered.leave_out(one.path, wrong.what());
        }
        gathered.count_one();
        return {.run = one};
    };
    const bool is_complete =
        run_batch({.threads = std::max(options.threads, 1U), .in_order = false, .stop = options.stop}, next, work,
                  [](run_result&&) {});
    if (!is_complete) {
        throw stopped("learning was stopped");
    }
    return gathered.finish();
}

}  // namespace detail::learn

SMDEBUG_INLINE learned_facts learn_runs(const std::vector<std::string>& paths, const learn_options& options,
                                        const std::function<void(const left_out_run&)>& left_out) {
    run_finder runs{paths, run_finder::settings{.storage = options.storage}};
    const auto open = [&](const std::string& path, const std::optional<any_storage>& store) {
        trial_options how{.range = options.steps, .missing_event_file_retry_limit = 0, .stop = options.stop};
        if (!store) {
            return create_trial(path, std::move(how), options.storage);
        }
        try {
            return trial{*store, how};
        } catch (const not_found&) {
            return create_trial(path, std::move(how), options.storage);  // logs and checkpoints, for one
        }
    };
    return detail::learn::learn_found(runs, open, options, left_out);
}

}  // namespace smdebug::inline v1
