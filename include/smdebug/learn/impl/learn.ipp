// The bodies of <smdebug/learn/learn.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
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

SMDEBUG_INLINE run_learner learner_of_run(const trial& run, const std::string& name, const number_set& kept,
                                          unsigned threads, const std::stop_token& stop,
                                          const std::function<void(const std::string& note)>& note) {
    if (const std::vector<problem> problems = run.problems(); !problems.empty()) {
        throw corrupt_data(text_of(problems.front()), {.where = name});
    }
    const auto from = detail::catalog_of(run);
    const std::vector<step_number> steps = from->steps_of(mode::global, false);
    if (steps.empty()) {
        throw no_steps(name);
    }
    run_learner learner{kept};
    const any_kernel& kernel = detail::state_of(run)->kernel();
    const reduction_set wanted = reductions_for(kept);
    part_stream<looked_saves> parts(
        detail::state_of(run),
        {.which = {.digests = true},
         .how = {.threads = std::max(threads, 1U), .stop = stop},
         .reading = {.in_place = true, .defer_checks = true}},
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
        throw stopped_error("learning was stopped", {.where = name});
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
    return learner;
}

}  // namespace detail::learn

SMDEBUG_INLINE learned_facts learn(const trial& run, const learn_options& options) {
    const std::string name{run.name()};
    const auto note = [&](const std::string& text) {
        if (options.on_note) {
            options.on_note(name, text);
        }
    };
    const detail::learn::number_set kept = detail::learn::numbers_named(options.reductions);
    return detail::learn::facts_access::made_of(
        detail::learn::learner_of_run(run, name, kept, options.threads, options.stop, note).finish(name));
}

}  // namespace smdebug::inline v1
