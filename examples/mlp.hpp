// A small network and data to learn, in plain C++, so that the examples have a real training loop.
// It does not use smdebug.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlp {

using numbers = std::vector<float>;

/// The same numbers on every machine (splitmix64).
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed) {}
    /// -1 to 1.
    float operator()() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
        x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
        x ^= x >> 31U;
        return static_cast<float>(x >> 40U) * 0x1p-23F - 1.0F;
    }

private:
    std::uint64_t state_;
};

/// Points of a plane, each of class 0 or 1.
struct points {
    numbers xy;  ///< two a point
    std::vector<std::size_t> classes;
    [[nodiscard]] std::size_t size() const { return classes.size(); }
};

/// Two noisy spirals wound around each other, one per class.
inline points two_spirals(std::size_t count, random_numbers& random) {
    points made;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t which = i % 2;
        const float along = 0.5F + 0.5F * random();
        const float angle = 7.0F * along + (which == 0 ? 0.0F : 3.14159265F);
        made.xy.push_back(along * std::cos(angle) + 0.03F * random());
        made.xy.push_back(along * std::sin(angle) + 0.03F * random());
        made.classes.push_back(which);
    }
    return made;
}

/// The same points in batches of `size`; the remainder is dropped.
inline std::vector<points> batches_of(const points& all, std::size_t size) {
    std::vector<points> batches(all.size() / size);
    for (std::size_t i = 0; i < batches.size() * size; ++i) {
        points& batch = batches[i / size];
        batch.xy.insert(batch.xy.end(), {all.xy[2 * i], all.xy[2 * i + 1]});
        batch.classes.push_back(all.classes[i]);
    }
    return batches;
}

/// outputs = weight * inputs + bias, for each of a batch; trained by gradient descent with momentum.
struct linear {
    linear(std::size_t in, std::size_t out, random_numbers& random)
        : inputs(in),
          outputs(out),
          weight(in * out),
          bias(out),
          weight_gradient(in * out),
          bias_gradient(out),
          weight_momentum(in * out),
          bias_momentum(out) {
        const float width = std::sqrt(3.0F / static_cast<float>(in));
        std::generate(weight.begin(), weight.end(), [&] { return width * random(); });
        std::generate(bias.begin(), bias.end(), [&] { return width * random(); });
    }

    [[nodiscard]] numbers forward(const numbers& batch) const {
        numbers result;
        result.reserve(batch.size() / inputs * outputs);
        for (std::size_t begin = 0; begin < batch.size(); begin += inputs) {
            for (std::size_t o = 0; o < outputs; ++o) {
                float sum = bias[o];
                for (std::size_t i = 0; i < inputs; ++i) {
                    sum += weight[o * inputs + i] * batch[begin + i];
                }
                result.push_back(sum);
            }
        }
        return result;
    }

    /// Takes the gradient of the loss by the outputs; keeps those by weight and bias, returns the one by the inputs.
    [[nodiscard]] numbers backward(const numbers& batch, const numbers& by_outputs) {
        std::fill(weight_gradient.begin(), weight_gradient.end(), 0.0F);
        std::fill(bias_gradient.begin(), bias_gradient.end(), 0.0F);
        numbers by_inputs(batch.size());
        for (std::size_t example = 0; example * inputs < batch.size(); ++example) {
            for (std::size_t o = 0; o < outputs; ++o) {
                const float slope = by_outputs[example * outputs + o];
                bias_gradient[o] += slope;
                for (std::size_t i = 0; i < inputs; ++i) {
                    weight_gradient[o * inputs + i] += slope * batch[example * inputs + i];
                    by_inputs[example * inputs + i] += slope * weight[o * inputs + i];
                }
            }
        }
        return by_inputs;
    }

    /// A bad initialization on purpose: all outputs stay alike.
    void zero() {
        std::fill(weight.begin(), weight.end(), 0.0F);
        std::fill(bias.begin(), bias.end(), 0.0F);
    }

    void descend(float learning_rate) {
        descend(weight, weight_gradient, weight_momentum, learning_rate);
        descend(bias, bias_gradient, bias_momentum, learning_rate);
    }

    std::size_t inputs;
    std::size_t outputs;
    numbers weight;  ///< outputs x inputs
    numbers bias;
    numbers weight_gradient;
    numbers bias_gradient;
    numbers weight_momentum;
    numbers bias_momentum;

private:
    static void descend(numbers& values, const numbers& gradient, numbers& momentum, float learning_rate) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            momentum[i] = 0.9F * momentum[i] - learning_rate * gradient[i];
            values[i] += momentum[i];
        }
    }
};

enum class activation { tanh, relu };

/// Two layers with an activation between them; the loss is the cross entropy of the softmax of its scores, without
/// clamping: infinite where a probability is 0, as it is in float32 when the scores are far apart.
struct network {
    network(std::size_t hidden, activation between, random_numbers& random)
        : fc1(2, hidden, random), fc2(hidden, 2, random), kind(between) {}

    /// Keeps activations, probabilities, and the mean loss and accuracy.
    void forward(const points& batch) {
        activations = fc1.forward(batch.xy);
        std::transform(activations.begin(), activations.end(), activations.begin(),
                       [&](float x) { return kind == activation::tanh ? std::tanh(x) : (x < 0 ? 0.0F : x); });
        probabilities = fc2.forward(activations);
        double summed_loss = 0;
        std::size_t right = 0;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            float& first = probabilities[2 * i];
            float& second = probabilities[2 * i + 1];
            first = 1.0F / (1.0F + std::exp(second - first));
            second = 1.0F - first;
            const float chance = probabilities[2 * i + batch.classes[i]];
            summed_loss -= std::log(chance);
            right += chance > 0.5F ? 1U : 0U;
        }
        const auto count = static_cast<double>(batch.size());
        loss = static_cast<float>(summed_loss / count);
        accuracy = static_cast<float>(static_cast<double>(right) / count);
    }

    /// After forward() with the same batch: the gradients.
    void backward(const points& batch) {
        numbers slopes = probabilities;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            slopes[2 * i + batch.classes[i]] -= 1.0F;
        }
        for (float& slope : slopes) {
            slope /= static_cast<float>(batch.size());
        }
        slopes = fc2.backward(activations, slopes);
        for (std::size_t i = 0; i < slopes.size(); ++i) {
            const float a = activations[i];
            slopes[i] *= kind == activation::tanh ? 1.0F - a * a : (a > 0 ? 1.0F : 0.0F);
        }
        static_cast<void>(fc1.backward(batch.xy, slopes));
    }

    void descend(float learning_rate) {
        fc1.descend(learning_rate);
        fc2.descend(learning_rate);
    }

    linear fc1;
    linear fc2;
    activation kind;
    numbers activations;    ///< a row an example
    numbers probabilities;  ///< of the two classes, a row an example
    float loss = 0;
    float accuracy = 0;
};

}  // namespace mlp
