// The tensors that a rule cannot do without at a step, of its trial and of others.
// Source: the Python package's RequiredTensors.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A list of (tensor, steps) that must be there before a rule is called.
template <class Trial>
class required_tensors {
public:
    explicit required_tensors(const Trial& base) : base_(base) {}

    /// Requires a tensor of the rule's own trial at some steps.  Errors: tensor_unavailable, at once.
    void add(std::string_view name, std::vector<step_number> steps);

    /// Requires every tensor whose name matches at `step`; none is no error.
    void add_matching(const text_list& regex, step_number step);

    /// Requires a tensor of another trial.  The trial must outlive the call of the rule.
    template <class Other>
    void add(std::string_view name, std::vector<step_number> steps, const Other& other) {
        if (!other.has_tensor(name)) {
            static_cast<void>(other.tensor(name));  // throws, and says which names are near
        }
        others_.push_back([&other, name = std::string{name}, steps = std::move(steps)](const wait_options& how) {
            fetch_one(other, name, steps, how);
        });
    }

    /// The names required of the rule's own trial, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Waits for the steps, then makes sure that each tensor can be read at each.
    /// Errors: what wait_for_steps throws, tensor_unavailable_for_step, corrupt_record.
    void fetch(const wait_options& how = {}) const;

private:
    void merge(std::string_view name, std::vector<step_number> steps);

    template <class From>
    static void fetch_one(const From& from, const std::string& name, const std::vector<step_number>& steps,
                          const wait_options& how) {
        if constexpr (requires { from.wait_for_steps(steps, how); }) {
            from.wait_for_steps(steps, how);
        }
        const auto tensor = from.tensor(name);
        for (const step_number step : steps) {
            if constexpr (requires { tensor.value(step); }) {
                static_cast<void>(tensor.value(step));
            } else {  // a trial that only reduces: the step is all that can be asked for
                const std::vector<step_number> saved = tensor.steps(steps_options{});
                if (!std::binary_search(saved.begin(), saved.end(), step)) {
                    throw tensor_unavailable_for_step(name, step, mode::global);
                }
            }
        }
    }

    const Trial& base_;
    std::vector<std::pair<std::string, std::vector<step_number>>> wanted_;
    std::vector<std::function<void(const wait_options&)>> others_;
};

}  // namespace v1
}  // namespace smdebug

#include <smdebug/rules/impl/required_tensors.tpp>
