// The bodies of <smdebug/trial/read/steps_ahead.hpp>.
#pragma once

#include <smdebug/trial/read/steps_ahead.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/selection.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void steps_ahead::begin_step(step_number step, std::optional<step_number> end) {
    ++turn_;
    if (!brings()) {
        return;
    }
    files_.go_to(step);
    const bool is_brought = brought_.is_asked_for(step) && step >= brought_for_fewer_;
    std::vector<std::string> names = lately(read_);
    for (std::string& name : lately(reduced_)) {
        names.push_back(std::move(name));
    }
    if (names.empty() || (is_brought && !files_.wants_more())) {
        return;
    }
    const auto from = state_->current();
    const selected_tensors which{{.names = std::move(names)}, *from};
    files_.bring(*from, which);
    brought_.pass(step);
    if (files_.wants_more()) {
        brought_.advance(steps_after(brought_.end() - 1, end, most_at_once),
                         [&](step_number next) { return files_.plan_ahead(*from, next, which); });
        files_.bring_planned();
    }
}

SMDEBUG_INLINE std::vector<step_number> steps_ahead::steps_to_reduce(step_number step, std::optional<step_number> end,
                                                                     std::size_t most) const {
    std::vector<step_number> steps = steps_after(step, end, most);
    if (brings()) {
        std::erase_if(steps, [&](step_number each) { return !brought_.is_asked_for(each); });
    }
    return steps;
}

SMDEBUG_INLINE bool steps_ahead::is_known(const turn_by_name& asked, const std::string& name) const {
    const auto last = asked.find(name);
    return last != asked.end() && last->second + remembered_turns >= turn_;
}

SMDEBUG_INLINE std::vector<std::string> steps_ahead::lately(const turn_by_name& asked) const {
    std::vector<std::string> names;
    for (const auto& [name, last_turn] : asked) {
        if (last_turn + remembered_turns >= turn_) {
            names.push_back(name);
        }
    }
    return names;
}

SMDEBUG_INLINE void steps_ahead::note(turn_by_name& asked, const std::string& name) {
    const bool is_new = brings() && !is_known(reduced_, name) && !is_known(read_, name);
    asked[name] = turn_;
    if (is_new) {
        brought_for_fewer_ = brought_.end();
        const auto from = state_->current();
        files_.bring_wholes(*from, selected_tensors{{.names = std::vector{name}}, *from});
    }
}

SMDEBUG_INLINE std::vector<step_number> steps_ahead::steps_after(step_number step, std::optional<step_number> end,
                                                                 std::size_t most) const {
    const auto from = state_->current();
    std::vector<step_number> coming;
    for (auto next = from->steps.lower_bound(step + 1);
         next != from->steps.end() && from->complete(*next) && (!end || next->step < *end) && coming.size() < most;
         ++next) {
        coming.push_back(next->step);
    }
    return coming;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
