// What a trial and its handles ask while rules look at them, so that a trial that no rule looks at knows nothing of it.
#pragma once

#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/any_measure.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct sharing_options;

namespace detail {

struct catalog;
class read_log;
class trial_state;

/// One tensor of a trial that rules share, as the view keeps it.
struct shared_tensor;

/// What rules see of a trial, and the log of what they looked up: see trial::share_with_rules().  Steps are global ones.
/// Threads: calls may run at once; begin_step() and the log's begin() and end() not beside them.
class rule_view : public std::enable_shared_from_this<rule_view> {
public:
    rule_view() = default;
    rule_view(const rule_view&) = delete;
    rule_view& operator=(const rule_view&) = delete;
    virtual ~rule_view() = default;

    /// Of the rule that is being called.
    [[nodiscard]] virtual read_log& log() noexcept = 0;

    /// Whether the event files of the next steps are fetched from here.
    [[nodiscard]] virtual bool fetches_files() const noexcept = 0;

    /// Says that rules are about to look at a step that is there, and will not look at `end` or later ones.
    virtual void begin_step(const catalog& from, step_number step, std::optional<step_number> end) = 0;

    /// Names of tensors, by ask(): those of the current step are not worked out again while steps hold the same tensors.
    [[nodiscard]] virtual std::vector<std::string> tensor_names(const tensor_names_options& which,
                                                                function_ref<std::vector<std::string>()> ask) = 0;

    /// What make() says of the tensors of some collections and regexes at the current step, kept like tensor_names(); null
    /// for other steps, and where nothing is shared.  Errors: those of make().
    [[nodiscard]] virtual std::shared_ptr<const void> kept_of_step(
        step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
        function_ref<std::shared_ptr<const void>()> make) = 0;

    /// Drops what kept_of_step() keeps: called when no trial uses this any more.  What is kept may hold handles, which hold
    /// this.
    virtual void forget() noexcept = 0;

    /// A tensor by its name.  It stays where it is as long as this.  Null where nothing is shared.
    [[nodiscard]] virtual shared_tensor* share_of(const std::string& name) = 0;

    /// Notes that a tensor will be read, in whatever way.
    virtual void expect(shared_tensor& of) = 0;

    /// A tensor's reductions, read now if they are not known; nothing where it cannot be read.
    [[nodiscard]] virtual std::optional<reduction_values> reductions(shared_tensor& of, step_number step,
                                                                     const std::string& worker) = 0;

    /// What a measure answers, or a comparison with the save at `earlier`; compute() gives it where it is not known.
    [[nodiscard]] virtual lookup<any_measure::answer> answer(shared_tensor& of, step_number step,
                                                             const std::string& worker, step_number earlier,
                                                             const any_measure& measure,
                                                             function_ref<lookup<any_measure::answer>()> compute) = 0;

    /// Values that are kept, else those that read() gives.
    [[nodiscard]] virtual lookup<tensor_value> value(shared_tensor& of, step_number step, const std::string& worker,
                                                     function_ref<lookup<tensor_value>()> read) = 0;

    /// The last `n` steps of a mode up to `step` that have a tensor: of a run that has ended out of all, which steps()
    /// gives once; else as slowly() gives them.
    [[nodiscard]] virtual std::vector<step_number> last_steps(shared_tensor& of, step_number step, std::size_t n,
                                                              mode in, function_ref<std::vector<step_number>()> steps,
                                                              function_ref<std::vector<step_number>()> slowly) = 0;
};

/// Makes one of a trial.  `sharing`: null for one rule alone, which shares with no other.
/// Defined in <smdebug/trial/shared/step_cache.hpp>.
[[nodiscard]] std::shared_ptr<rule_view> view_for_rules(const std::shared_ptr<const trial_state>& state,
                                                        const sharing_options* sharing);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
