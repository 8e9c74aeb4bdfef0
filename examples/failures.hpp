// Trainings that fail, each in the way that the built-in rule of its name finds: `train_mlp OUT_DIR --fail NAME`.
// A failure spoils something between the calls of the training loop; the hook saves what comes of it.
#pragma once

#include "mlp.hpp"

#include <smdebug/smdebug.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace failures {

namespace smd = smdebug;

/// The training step where it begins to fail: one that is saved, after 15 others.
inline constexpr smd::step_number first_bad_step = 600;

/// A second worker of the run: a copy of the network that learns from the same batches, and saves digests of its weights.
class replica {
public:
    replica(mlp::network copy, const smd::hook& first) : net(std::move(copy)), hook_(options_for(first)) {}

    void train(const smd::hook& first, const mlp::points& batch, float learning_rate) {
        hook_.set_mode(smd::mode::train);
        hook_.set_step(first.step(), first.mode_step());
        net.forward(batch);
        net.backward(batch);
        hook_.save_tensor("fc1.weight", net.fc1.weight, {net.fc1.outputs, net.fc1.inputs});
        hook_.save_tensor("fc2.weight", net.fc2.weight, {net.fc2.outputs, net.fc2.inputs});
        net.descend(learning_rate);
        hook_.end_step();
    }

    mlp::network net;

private:
    static smd::hook_options options_for(const smd::hook& first) {
        smd::hook_options options = first.options();
        options.worker = "worker_1";
        options.include_collections = {};  // no values
        options.export_tensorboard = false;
        return options;
    }

    smd::hook hook_;
};

/// A training step: what a failure sees and spoils.
struct training_step {
    smd::hook& hook;
    mlp::network& net;
    mlp::points& batch;
    float learning_rate;
    std::unique_ptr<replica>& second;

    [[nodiscard]] bool is_first_bad() const { return hook.mode_step() == first_bad_step; }
    [[nodiscard]] bool is_bad() const { return hook.mode_step() >= first_bad_step; }
};

/// Somebody has mixed up the labels of a batch.
inline void loss_spike(training_step& now) {
    if (now.is_first_bad()) {
        for (std::size_t& label : now.batch.classes) {
            label = 1 - label;
        }
    }
}

/// Gradients are summed over the batch, not averaged.
inline void gradient_spike(training_step& now) {
    if (now.is_first_bad()) {
        for (mlp::linear* layer : {&now.net.fc1, &now.net.fc2}) {
            for (mlp::numbers* gradient : {&layer->weight_gradient, &layer->bias_gradient}) {
                std::for_each(gradient->begin(), gradient->end(),
                              [&](float& x) { x *= static_cast<float>(now.batch.size()); });
            }
        }
    }
}

/// One gradient overflows; with the next update the infinity is in the weights, then everywhere.
inline void nan_origin(training_step& now) {
    if (now.is_first_bad()) {
        now.net.fc1.weight_gradient[3] = std::numeric_limits<float>::infinity();
    }
}

/// A bit flips in the memory of the second worker: silent corruption, after which the two drift apart.
inline void replica_mismatch(training_step& now) {
    if (!now.second) {
        now.second = std::make_unique<replica>(now.net, now.hook);
    }
    if (now.is_first_bad()) {
        float& weight = now.second->net.fc1.weight[3];
        weight = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) ^ (1U << 12U));
    }
    now.second->train(now.hook, now.batch, now.learning_rate);
}

/// A unit's weights have grown far too large, and a point that is far away meets it: of all the sums before the
/// activations, one dwarfs the others.
inline void activation_outliers(training_step& now) {
    if (now.is_first_bad()) {
        now.net.fc1.weight[6] *= 1000;
        now.net.fc1.weight[7] *= 1000;
    }
    if (now.is_bad()) {
        now.batch.xy[0] = 1000;
    }
    if (now.hook.should_save("fc1_output_0", {"outputs"})) {
        now.hook.save_tensor("fc1_output_0", now.net.fc1.forward(now.batch.xy), {now.batch.size(), now.net.fc1.outputs},
                             {"outputs"});
    }
}

/// The points of a batch attend to each other by what the hidden units make of them: softmax(s * h * h^T), row by row.
/// The scale s grows while the network trains, until each point attends to a single one.
inline void attention_collapse(training_step& now) {
    if (!now.hook.should_save("attention", {"attention"})) {
        return;
    }
    const std::size_t size = now.batch.size();
    const std::size_t width = now.net.fc1.outputs;
    const float scale = std::exp(static_cast<float>(now.hook.mode_step()) / 80) / static_cast<float>(width);
    const mlp::numbers& h = now.net.activations;
    mlp::numbers attention(size * size);
    for (std::size_t row = 0; row < size; ++row) {
        const auto begin = attention.begin() + static_cast<std::ptrdiff_t>(row * size);
        const auto end = begin + static_cast<std::ptrdiff_t>(size);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t unit = 0; unit < width; ++unit) {
                begin[static_cast<std::ptrdiff_t>(i)] += scale * h[row * width + unit] * h[i * width + unit];
            }
        }
        const float largest = *std::max_element(begin, end);
        float sum = 0;
        std::for_each(begin, end, [&](float& x) { sum += x = std::exp(x - largest); });
        std::for_each(begin, end, [&](float& x) { x /= sum; });
    }
    now.hook.save_tensor("attention", attention, {size, size}, {"attention"});
}

/// A router sends each point to one of four experts, by the direction in which it lies; then the bias of one grows.
inline void expert_imbalance(training_step& now) {
    std::array<std::int64_t, 4> counts{};
    for (std::size_t i = 0; i < now.batch.size(); ++i) {
        const float x = now.batch.xy[2 * i];
        const float y = now.batch.xy[2 * i + 1];
        const std::array<float, 4> scores{x + (now.is_bad() ? 10.0F : 0.0F), y, -x, -y};
        ++counts[static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())];
    }
    now.hook.save_tensor("expert_counts", counts, {"experts"});
}

/// Gradients are in half precision, and the loss is scaled down where it should be scaled up.  What is left of them is
/// scaled back, and trains the network.
inline void precision_underflow(training_step& now) {
    const float scale = now.is_bad() ? 0x1p-16F : 1;
    for (mlp::linear* layer : {&now.net.fc1, &now.net.fc2}) {
        std::vector<smd::float16> half;
        for (float& x : layer->weight_gradient) {
            half.emplace_back(scale * x);
            x = half.back() / scale;
        }
        now.hook.save_tensor(layer == &now.net.fc1 ? "gradient/fc1.weight.half" : "gradient/fc2.weight.half", half,
                             {layer->outputs, layer->inputs});
    }
}

/// Weight decay with the wrong sign: the first layer grows.
inline void weight_norm_drift(training_step& now) {
    if (now.is_bad()) {
        for (float& x : now.net.fc1.weight) {
            x += 0.2F * now.learning_rate * x;
        }
    }
}

/// A way to fail: the rule that finds it, and what happens before a step's forward pass or after its backward pass.
struct way {
    std::string_view rule;
    void (*before_forward)(training_step&);
    void (*after_backward)(training_step&);
};

inline constexpr std::array<way, 9> all{{
    {"loss_spike", loss_spike, nullptr},
    {"gradient_spike", nullptr, gradient_spike},
    {"nan_origin", nullptr, nan_origin},
    {"replica_mismatch", replica_mismatch, nullptr},
    {"activation_outliers", activation_outliers, nullptr},
    {"attention_collapse", nullptr, attention_collapse},
    {"expert_imbalance", nullptr, expert_imbalance},
    {"precision_underflow", nullptr, precision_underflow},
    {"weight_norm_drift", weight_norm_drift, nullptr},
}};

inline bool is_known(std::string_view rule) {
    return std::any_of(all.begin(), all.end(), [&](const way& one) { return one.rule == rule; });
}

inline std::string names() {
    std::string list;
    for (const way& one : all) {
        list.append(list.empty() ? "" : ", ").append(one.rule);
    }
    return list;
}

/// What happens to a training: one of the above, or, without a name, nothing.
class failure {
public:
    failure() = default;
    explicit failure(std::string_view rule)
        : way_(*std::find_if(all.begin(), all.end(), [&](const way& one) { return one.rule == rule; })) {}

    /// Two workers write the run if there is to be a replica.
    [[nodiscard]] smd::hook_options adapted(smd::hook_options options) const {
        if (way_.rule == "replica_mismatch") {
            options.include_workers = smd::include_workers::all;
            options.num_workers = 2;
            options.digests = {"weights"};
        }
        return options;
    }
    void before_forward(smd::hook& hook, mlp::network& net, mlp::points& batch, float learning_rate) {
        happen(way_.before_forward, {hook, net, batch, learning_rate, second_});
    }
    void after_backward(smd::hook& hook, mlp::network& net, mlp::points& batch, float learning_rate) {
        happen(way_.after_backward, {hook, net, batch, learning_rate, second_});
    }

private:
    static void happen(void (*what)(training_step&), training_step now) {
        if (what != nullptr) {
            what(now);
        }
    }

    way way_{};
    std::unique_ptr<replica> second_{};
};

}  // namespace failures
