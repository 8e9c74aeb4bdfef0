// Trains a small network and saves the run with a hook: weights, biases, gradients, activations, losses, scalars.
// Rules check it while it trains: one slows it down, one stops it.
// Usage: train_mlp OUT_DIR [LEARNING_RATE] [--relu] [--zero-weights] [--seed N] [--fail NAME]
//   OUT_DIR         a folder, or s3://bucket/prefix
//   LEARNING_RATE   0.05 does well; 1.4 is slowed down (else: infinite losses, an accuracy of 0.91); 10 is stopped
//   --relu          ReLUs in place of tanh; with a rate of 10, the first updates leave all of them dead
//   --zero-weights  begins with zeros, and learns nothing
//   --seed N        a number, 42 if not given: other data, other weights to begin with
//   --fail NAME     half as many epochs, which fail in the way that the rule NAME finds: see failures.hpp
// Exit status: 0 it has learned, 3 a rule has stopped it, 1 it has not learned, or an error, 2 wrong usage.
// The network and its data are in mlp.hpp; this file shows what a training loop does for smdebug.
#include "failures.hpp"
#include "mlp.hpp"

#include <smdebug/smdebug.hpp>
#include <smdebug/watch/watch.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace smd = smdebug;

constexpr std::size_t epochs = 10;
constexpr std::size_t steps_an_epoch = 200;
constexpr std::size_t batch_size = 64;
constexpr std::size_t hidden_units = 64;

// What is saved, and when.  Every option has a default.
smd::hook_options options_for(const std::string& folder) {
    const smd::save_config every_40th{
        .save_interval = 40,                                  // the training steps that it divides
        .modes = {{smd::mode::eval, {.save_interval = 1}}}};  // every step of an evaluation
    smd::collection relus{.name = "relus", .include_regex = {"relu_output"}};
    smd::collection tanhs{.name = "tanhs", .include_regex = {"tanh_output"}};
    tanhs.save_config = smd::save_config{.save_interval = 400};                          // less often, and
    tanhs.reduction_config = {.reductions = {"min", "max", "mean", "abs_mean", "std"}};  // no values
    return {.out_dir = folder,
            .save_config = every_40th,
            .collections = {relus, tanhs},
            .include_collections = {"weights", "biases", "gradients", "relus", "tanhs"},  // losses always are
            .export_tensorboard = true};  // scalars and histograms, in OUT_DIR/tensorboard
}

// A rule is anything that can be called with a trial and a step: this one would run on recorded runs as well.
struct steep_gradient {
    double limit = 2;
    [[nodiscard]] static constexpr std::string_view name() { return "steep_gradient"; }
    [[nodiscard]] smd::finding operator()(const smd::readable_trial auto& run, smd::step_number step) const {
        for (const std::string& tensor : run.tensor_names({.collection = "gradients", .step = step})) {
            const double norm = run.tensor(tensor).reduction_value(step, smd::reduction::l2);
            if (norm > limit) {
                return {.met = true, .tensor = tensor, .value = norm, .threshold = limit};
            }
        }
        return {};
    }
};

// What rules see while it trains: gradients and losses, when they are due for the disk, but three numbers of each.
smd::watch_options options_for_rules() {
    return {.save_config = {.save_interval = 40},
            .include_regex = {"^gradient", "Loss"},
            .reduction_config = smd::reduction_config{.reductions = {"min", "max"}, .norms = {"l2"}}};
}

// Saves one layer in place: nothing is copied, and nothing happens at steps that are not saved.
void save_layer(smd::hook& hook, const std::string& name, const mlp::linear& layer) {
    hook.save_tensor(name + ".weight", layer.weight, {layer.outputs, layer.inputs});
    hook.save_tensor(name + ".bias", layer.bias);
    hook.save_tensor("gradient/" + name + ".weight", layer.weight_gradient, {layer.outputs, layer.inputs});
    hook.save_tensor("gradient/" + name + ".bias", layer.bias_gradient);
}

void train_step(smd::hook& hook, mlp::network& net, mlp::points batch, float learning_rate,
                failures::failure& failure) {
    hook.set_mode(smd::mode::train);
    failure.before_forward(hook, net, batch, learning_rate);
    net.forward(batch);
    net.backward(batch);
    failure.after_backward(hook, net, batch, learning_rate);
    save_layer(hook, "fc1", net.fc1);
    save_layer(hook, "fc2", net.fc2);
    hook.save_tensor(net.kind == mlp::activation::relu ? "relu_output_0" : "tanh_output_0", net.activations,
                     {batch.size(), hidden_units});
    hook.save_tensor("CrossEntropyLoss_output_0", std::vector{net.loss});
    if (hook.should_save("CrossEntropyLoss_output_0")) {  // scalars are saved whenever they are given
        hook.save_scalar("learning_rate", learning_rate);
        hook.save_scalar("accuracy", net.accuracy);
    }
    net.descend(learning_rate);
    hook.end_step();
}

void evaluate(smd::hook& hook, mlp::network& net, const mlp::points& unseen) {
    hook.set_mode(smd::mode::eval);
    net.forward(unseen);
    hook.save_tensor("CrossEntropyLoss_output_0", std::vector{net.loss});
    hook.save_scalar("accuracy", net.accuracy);
    hook.end_step();
}

struct settings {
    std::string folder;
    float learning_rate = 0.05F;
    mlp::activation activation = mlp::activation::tanh;
    bool zero_weights = false;
    std::uint64_t seed = 42;
    std::string fail = {};
};

std::optional<settings> settings_from(const std::vector<std::string>& arguments) {
    settings given;
    std::size_t positional = 0;
    for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
        const bool has_value = argument + 1 != arguments.end();
        if (*argument == "--relu") {
            given.activation = mlp::activation::relu;
        } else if (*argument == "--zero-weights") {
            given.zero_weights = true;
        } else if (*argument == "--seed" && has_value) {
            const std::string& number = *++argument;
            const char* end = number.data() + number.size();
            if (std::from_chars(number.data(), end, given.seed) != std::from_chars_result{end, std::errc{}}) {
                return std::nullopt;
            }
        } else if (*argument == "--fail" && has_value) {
            given.fail = *++argument;
        } else if (argument->starts_with("--") || ++positional > 2) {
            return std::nullopt;
        } else if (positional == 1) {
            given.folder = *argument;
        } else {
            given.learning_rate = std::strtof(argument->c_str(), nullptr);
        }
    }
    return positional > 0 ? std::optional{given} : std::nullopt;
}

int main(int count, char** arguments) {
    const auto given = settings_from({arguments + 1, arguments + count});
    if (!given) {
        std::cerr << "usage: train_mlp OUT_DIR [LEARNING_RATE] [--relu] [--zero-weights] [--seed N] [--fail NAME]\n";
        return 2;
    }
    const bool fails = !given->fail.empty();
    if (fails && !failures::is_known(given->fail)) {
        std::cerr << "train_mlp: --fail " << given->fail << ": the names are " << failures::names() << '\n';
        return 2;
    }
    try {
        mlp::random_numbers random{given->seed};
        const std::vector<mlp::points> batches =
            mlp::batches_of(mlp::two_spirals(steps_an_epoch * batch_size, random), batch_size);
        const mlp::points unseen = mlp::two_spirals(1024, random);
        mlp::network net{hidden_units, given->activation, random};
        if (given->zero_weights) {
            net.fc1.zero();
            net.fc2.zero();
        }
        float learning_rate = given->learning_rate;

        failures::failure failure = fails ? failures::failure{given->fail} : failures::failure{};
        smd::hook hook{failure.adapted(options_for(given->folder))};
        bool stop = false;
        smd::watch(
            hook, options_for_rules(),
            [&](const smd::watched_finding& found) {
                std::cout << "step " << found.step << ": " << found.rule << ": " << found.what.tensor << " has "
                          << found.what.value << '\n';
                if (found.rule == steep_gradient::name()) {
                    learning_rate /= 4;  // slows down from the next step on
                } else {
                    stop = true;                       // NaN or infinite values:
                    hook.save_everything_next_step();  // keep one whole step of them
                }
            },
            steep_gradient{}, smd::rules::exploding_tensor{});

        for (std::size_t epoch = 0; epoch < (fails ? epochs / 2 : epochs) && !stop; ++epoch) {
            for (std::size_t step = 0; step < steps_an_epoch && !stop; ++step) {
                train_step(hook, net, batches[step], learning_rate, failure);
            }
            if (stop) {
                train_step(hook, net, batches.front(), learning_rate, failure);
            }
            evaluate(hook, net, unseen);
            std::printf("epoch %2zu  loss %.4f  accuracy %.3f\n", epoch + 1, static_cast<double>(net.loss),
                        static_cast<double>(net.accuracy));
        }
        hook.close();  // the destructor would do it, but keep errors to itself
        std::printf("saved %llu steps, %llu tensors\n", static_cast<unsigned long long>(hook.counters().steps),
                    static_cast<unsigned long long>(hook.counters().tensors));
        if (stop) {
            std::cout << "stopped by a rule\n";
            return 3;
        }
        return net.accuracy > 0.9F ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
        return EXIT_FAILURE;
    }
}
