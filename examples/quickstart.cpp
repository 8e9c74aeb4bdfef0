// A first look at a training run: open it, ask what is in it, read values and reductions, run a rule over its steps.
// Usage: quickstart RUN
#include <smdebug/smdebug.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace smd = smdebug;

// Opening reads the index files; from then on all queries except those for values are answered from memory.
void describe(const smd::local_trial& trial) {
    std::cout << "run " << smd::printable(trial.name()) << ", written by " << trial.num_workers() << " worker(s)\n";
    for (const smd::mode mode : trial.modes()) {
        std::cout << "  " << smd::name_of(mode) << " steps:";
        for (const smd::step_number step : trial.steps({.mode = mode})) {
            std::cout << ' ' << step;
        }
        std::cout << '\n';
    }
}

// The gradients of the last step that has some, with a reduction of each.
void list_gradients(const smd::local_trial& trial) {
    for (const std::string& name : trial.tensor_names({.collection = "gradients"})) {
        const auto tensor = trial.tensor(name);  // cheap: a name and a share of the trial
        if (tensor.steps().empty()) {
            continue;
        }
        const smd::step_number last = tensor.steps().back();
        std::cout << "  " << smd::printable(name) << " at step " << last << ": shape "
                  << smd::shape_text(tensor.shape(last)) << ", mean of |x| "
                  << tensor.reduction_value(last, smd::reduction::mean, {.abs = true}) << '\n';
    }
}

// A value is an xtensor expression, so that everything in xtensor works on it.
void show_losses(const smd::local_trial& trial) {
    for (const std::string& name : trial.tensor_names({.collection = "losses"})) {
        for (const smd::step_number step : trial.tensor(name).steps()) {
            const auto loss = trial.tensor(name).value<float>(step);
            std::cout << "  " << smd::printable(name) << " at step " << step << ": " << xt::mean(loss)() << '\n';
        }
    }
}

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: quickstart RUN\n";
        return 2;
    }
    try {
        const smd::local_trial trial{arguments[1]};
        describe(trial);
        std::cout << "gradients:\n";
        list_gradients(trial);
        std::cout << "losses:\n";
        show_losses(trial);

        // A rule is anything that can be called with a trial and a step and answers with a finding.
        const auto large_gradient = [](const smd::readable_trial auto& run, smd::step_number step) -> smd::finding {
            for (const std::string& name : run.tensor_names({.collection = "gradients", .step = step})) {
                const double largest = run.tensor(name).reduction_value(step, smd::reduction::max, {.abs = true});
                if (largest > 0.1) {
                    return {.met = true, .tensor = name, .value = largest, .threshold = 0.1};
                }
            }
            return {};
        };
        const smd::rule_outcome outcome = smd::invoke_rule(large_gradient, trial);
        std::cout << "rule \"a gradient above 0.1\": looked at " << outcome.evaluated << " steps, met at "
                  << outcome.met_at.size() << '\n';
        for (std::size_t i = 0; i < outcome.findings.size(); ++i) {
            std::cout << "  step " << outcome.findings[i].step << ": " << smd::printable(outcome.findings[i].tensor)
                      << " has " << outcome.findings[i].value << '\n';
        }
        return outcome.evaluated == trial.steps().size() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const smd::error& failed) {  // every error of the library; what() names file, tensor and step
        std::cerr << failed.what() << '\n';
        return EXIT_FAILURE;
    }
}
