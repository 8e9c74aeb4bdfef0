// The bodies of <smdebug/trial/read/steps_ahead.hpp> that are templates.
#pragma once

#include <smdebug/trial/read/steps_ahead.hpp>
#include <smdebug/trial/selection.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial>
void steps_ahead<Trial>::begin_step(step_number step, std::optional<step_number> end) {
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
    const auto from = run_.snapshot();
    const selected_tensors which{{.names = std::move(names)}, *from};
    files_.bring(*from, which);
    brought_.pass(step);
    if (files_.wants_more()) {
        brought_.advance(steps_after(brought_.end() - 1, end, most_at_once),
                         [&](step_number next) { return files_.plan_ahead(*from, next, which); });
        files_.bring_planned();
    }
}

template <class Trial>
std::vector<step_number> steps_ahead<Trial>::steps_to_reduce(step_number step, std::optional<step_number> end,
                                                             std::size_t most) const {
    std::vector<step_number> steps = steps_after(step, end, most);
    if (brings()) {
        std::erase_if(steps, [&](step_number each) { return !brought_.is_asked_for(each); });
    }
    return steps;
}

template <class Trial>
bool steps_ahead<Trial>::is_known(const turn_by_name& asked, const std::string& name) const {
    const auto last = asked.find(name);
    return last != asked.end() && last->second + remembered_turns >= turn_;
}

template <class Trial>
std::vector<std::string> steps_ahead<Trial>::lately(const turn_by_name& asked) const {
    std::vector<std::string> names;
    for (const auto& [name, last_turn] : asked) {
        if (last_turn + remembered_turns >= turn_) {
            names.push_back(name);
        }
    }
    return names;
}

template <class Trial>
void steps_ahead<Trial>::note(turn_by_name& asked, const std::string& name) {
    const bool is_new = brings() && !is_known(reduced_, name) && !is_known(read_, name);
    asked[name] = turn_;
    if (is_new) {
        brought_for_fewer_ = brought_.end();
        const auto from = run_.snapshot();
        files_.bring_wholes(*from, selected_tensors{{.names = std::vector{name}}, *from});
    }
}

template <class Trial>
std::vector<step_number> steps_ahead<Trial>::steps_after(step_number step, std::optional<step_number> end,
                                                         std::size_t most) const {
    const auto from = run_.snapshot();
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
