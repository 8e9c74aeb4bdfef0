// A rule of your own as a program: settings, the tensors that it cannot do without, a verdict, an exit status.
// Usage: custom_rule RUN [MOST]      Exit status: 0 not met, 3 met, 1 error, 2 wrong usage.
#include <smdebug/smdebug.hpp>

#include <charconv>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace smd = smdebug;

/// Met when one weight's update is large beside the weight itself: mean|gradient| / mean|weight| > most.
struct large_update {
    double most = 1.0;  ///< settings are plain members, with defaults

    // Reports use this name.
    [[nodiscard]] static constexpr std::string_view name() noexcept { return "large_update"; }

    // Optional.  A step at which one of these tensors is missing is skipped, and the rule is not called.
    // Evaluation steps have no gradients: nothing is required of them, and the rule finds nothing in them.
    template <class Trial>
    void require(const Trial& trial, smd::step_number step, smd::required_tensors<Trial>& required) const {
        for (const std::string& gradient : gradients_of(trial, step)) {
            required.add(weight_of(gradient), {step});
        }
    }

    // The verdict: one finding, or a vector with one for each tensor.  Any trial will do, also a fake one in a test.
    [[nodiscard]] std::vector<smd::finding> operator()(const smd::readable_trial auto& trial,
                                                       smd::step_number step) const {
        std::vector<smd::finding> found;
        for (const std::string& gradient : gradients_of(trial, step)) {
            const double update = trial.tensor(gradient).reduction_value(step, smd::reduction::mean, {.abs = true});
            const double weight =
                trial.tensor(weight_of(gradient)).reduction_value(step, smd::reduction::mean, {.abs = true});
            if (update > most * weight) {
                found.push_back({.met = true, .tensor = gradient, .value = update / weight, .threshold = most});
            }
        }
        return found;
    }

private:
    [[nodiscard]] static std::vector<std::string> gradients_of(const auto& trial, smd::step_number step) {
        return trial.tensor_names({.regex = "^gradient/", .step = step});
    }
    // PyTorch's hook saves the gradient of "layer.weight" as "gradient/layer.weight".
    [[nodiscard]] static std::string weight_of(std::string_view gradient) {
        return std::string{gradient.substr(std::string_view{"gradient/"}.size())};
    }
};
static_assert(smd::rule<large_update, smd::trial>);  // if it is no rule, the compiler says here what is missing

int main(int count, char** arguments) {
    if (count != 2 && count != 3) {
        std::cerr << "usage: custom_rule RUN [MOST]\n";
        return 2;
    }
    large_update rule;
    if (count == 3) {
        const std::string_view text = arguments[2];
        const auto read = std::from_chars(text.data(), text.data() + text.size(), rule.most);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
            std::cerr << "custom_rule: MOST must be a number, not \"" << text << "\"\n";
            return 2;
        }
    }
    try {
        // create_trial picks the storage by the path.  On a run that is still growing, invoke_rule waits for new steps
        // until the job ends.
        const smd::trial trial = smd::create_trial(arguments[1]);
        const smd::rule_outcome outcome = smd::invoke_rule(
            rule, trial, {.on_finding = [](smd::step_number step, const smd::finding& one) {
                std::cout << "step " << step << ": " << one.tensor << " is " << one.value << " times its weight\n";
            }});
        std::cout << rule.name() << ": " << outcome.evaluated << " steps looked at, met at " << outcome.met_at.size()
                  << '\n';
        return outcome.met_at.empty() ? 0 : 3;
    } catch (const smd::error& failed) {
        std::cerr << "custom_rule: " << failed.what() << '\n';
        return 1;
    }
}
