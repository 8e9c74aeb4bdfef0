// What the next steps of a walk will be asked for, as far as the last ones tell, and the one place that has the event
// files of a run far away brought for it.
// Used by: rules/shared_trial.hpp.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/trial/held_steps.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Threads: one at a time.
template <class Trial>
class steps_ahead {
public:
    /// `file_bytes`: see held_steps.
    steps_ahead(Trial run, std::uint64_t file_bytes) : run_(std::move(run)), files_(run_.state(), file_bytes) {}

    /// Whether event files are brought at all: whoever reads them ahead beside this would fetch them twice.
    [[nodiscard]] bool brings() const noexcept { return files_.holds(); }

    /// Begins to bring the event files of a step, and of those after it that are there, below `end`.
    void begin_step(step_number step, std::optional<step_number> end) {
        ++turn_;
        if (!brings()) {
            return;
        }
        files_.go_to(step);
        const bool is_brought = step < not_brought_ && step >= brought_for_fewer_;
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
        not_brought_ = std::max(not_brought_, step + 1);
        if (files_.wants_more()) {
            for (const step_number next : steps_after(not_brought_ - 1, end, most_at_once)) {
                if (!files_.plan_ahead(*from, next, which)) {
                    break;
                }
                not_brought_ = next + 1;
            }
            files_.bring_planned();
        }
    }

    /// Is told that a tensor's reductions, or its values, are asked for at this step.
    void note_reduced(const std::string& name) { note(reduced_, name); }
    void note_read(const std::string& name) { note(read_, name); }

    /// The tensors whose reductions were asked for lately.
    [[nodiscard]] std::vector<std::string> reduced_lately() const { return lately(reduced_); }

    /// The next steps after `step`, below `end`, that may be read by now, as far as they are there: those on their way
    /// alone, where event files are brought.
    [[nodiscard]] std::vector<step_number> steps_to_reduce(step_number step, std::optional<step_number> end,
                                                           std::size_t most) const {
        std::vector<step_number> found = steps_after(step, end, most);
        if (brings()) {
            std::erase_if(found, [&](step_number each) { return each >= not_brought_; });
        }
        return found;
    }

private:
    using turn_by_name = std::unordered_map<std::string, std::uint64_t>;

    // A tensor that nobody has asked for during so many steps is not wanted any more.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::size_t most_at_once = 256;

    [[nodiscard]] bool is_known(const turn_by_name& asked, const std::string& name) const {
        const auto last = asked.find(name);
        return last != asked.end() && last->second + remembered_turns >= turn_;
    }
    [[nodiscard]] std::vector<std::string> lately(const turn_by_name& asked) const {
        std::vector<std::string> names;
        for (const auto& [name, last_turn] : asked) {
            if (last_turn + remembered_turns >= turn_) {
                names.push_back(name);
            }
        }
        return names;
    }

    void note(turn_by_name& asked, const std::string& name) {
        const bool is_new = brings() && !is_known(reduced_, name) && !is_known(read_, name);
        asked[name] = turn_;
        if (is_new) {
            brought_for_fewer_ = not_brought_;
            const auto from = run_.snapshot();
            files_.bring_wholes(*from, selected_tensors{{.names = std::vector{name}}, *from});
        }
    }

    [[nodiscard]] std::vector<step_number> steps_after(step_number step, std::optional<step_number> end,
                                                       std::size_t most) const {
        const auto from = run_.snapshot();
        std::vector<step_number> found;
        for (auto next = from->steps.lower_bound(step + 1);
             next != from->steps.end() && from->complete(*next) && (!end || next->step < *end) && found.size() < most;
             ++next) {
            found.push_back(next->step);
        }
        return found;
    }

    Trial run_;  // a share of the trial's state
    held_steps<typename Trial::state_type> files_;
    turn_by_name reduced_;  // the turn in which a tensor's reductions were last asked for
    turn_by_name read_;     // and its values
    std::uint64_t turn_ = 0;
    step_number not_brought_ = 0;        // the event files of this step and of later ones were not asked for
    step_number brought_for_fewer_ = 0;  // those of steps before it were, when fewer tensors were wanted
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
