// Trainings for check_zoo.py: healthy ones, of which no rule of a scan may complain, and ones that fail, each in the way
// that a rule is made for.  They learn what they can from made data; nothing of what they save is made up.
// Usage: zoo OUT_DIR: writes OUT_DIR/healthy/NAME and OUT_DIR/failing/RULE or RULE.NAME.
#include "tape.hpp"

#include <smdebug/smdebug.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace smd = smdebug;
using zoo::matrix;
using zoo::network;
using zoo::var;

namespace {

constexpr float pi = std::numbers::pi_v<float>;
std::string root;

void save(smd::hook& hook, const std::string& name, const matrix& what, const std::string& into) {
    if (hook.should_save(name, {into})) {
        hook.save_tensor(name, what.values(), {what.rows(), what.cols}, {into});
    }
}

// Trains `net` for so many steps, of which each `every`th is saved, and of which a twentieth is evaluation.  As Keras' hook
// does, this one has biases among the weights.  step(hook, number, training) computes and saves a loss, and returns it.
template <class Step, class Rate>
void train(const std::string& name, int steps, std::int64_t every, network& net, Step&& step, Rate&& rate,
           bool adam = false, bool is_evaluated = true) {
    smd::hook hook{
        {.out_dir = root + "/" + name,
         .save_config = smd::save_config{.save_interval = every, .modes = {{smd::mode::eval, {.save_interval = 1}}}},
         .collections = {smd::collection{.name = "weights", .include_regex = {"^[^/]*(weight|bias|gain)$"}}},
         .include_collections = {"weights", "gradients", "losses"}}};
    for (int i = 0; i < steps; ++i) {
        const bool training = !is_evaluated || (i + 1) % (steps / 20) != 0;
        hook.set_mode(training ? smd::mode::train : smd::mode::eval);
        const var loss = step(hook, i, training);
        if (training) {
            net.walk_back(loss);
            for (const network::parameter& each : net.all) {
                const smd::shape_type shape{each.value.size() / each.cols, each.cols};
                hook.save_tensor(each.name, each.value, shape);
                hook.save_tensor("gradient/" + each.name, each.slope, shape);
            }
            net.descend(rate(i), adam);
        }
        hook.end_step();
    }
    hook.close();
}
var saved_loss(smd::hook& hook, const std::string& name, var loss) {
    hook.save_tensor(name, std::vector{loss.value()});
    return loss;
}

// --- classifiers of points -----------------------------------------------------------------------------------------

// A classifier and its training: by default a healthy one.
struct classifier {
    std::string name;
    std::vector<std::size_t> widths = {2, 32, 4};
    bool tanh = false;  // in place of ReLU
    float init = 1;     // times the usual width of weights
    float bias = 0;     // of the hidden layers, in the beginning
    float rate = 0.03F;
    std::size_t batch = 32;
    int steps = 1000;
    std::int64_t every = 10;   // saves
    std::size_t count = 2048;  // of examples
    float noise = 0.05F;       // share of labels that are wrong
    float rare = 1;            // share of the examples of classes other than 0 that are kept
    float offset = 0;          // of the points
    std::size_t frozen = 0;    // a layer that never learns
    std::size_t zero = 99;     // layers from this one on begin with zeros
};

void train(const classifier& how) {
    mlp::random_numbers random{1};
    const auto chance = [&] { return (1 + random()) / 2; };
    const std::size_t classes = how.widths.back();
    mlp::points all;
    while (all.size() < how.count + 512) {  // the last are for evaluation
        const auto label = static_cast<std::size_t>(chance() * static_cast<float>(classes)) % classes;
        if (label != 0 && chance() > how.rare) {
            continue;
        }
        const float angle = 2 * pi * static_cast<float>(label) / static_cast<float>(classes);
        all.xy.push_back(std::cos(angle) + random() * 0.6F + how.offset);
        all.xy.push_back(std::sin(angle) + random() * 0.6F + how.offset);
        all.classes.push_back(chance() < how.noise ? (label + 1) % classes : label);
    }
    network net;
    const std::size_t layers = how.widths.size() - 1;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::size_t inputs = how.widths[layer];
        const float width = how.init * std::sqrt((how.tanh ? 3.0F : 6.0F) / static_cast<float>(inputs));
        const std::string name = "fc" + std::to_string(layer + 1);
        net.add(name + ".weight", inputs, how.widths[layer + 1], layer >= how.zero ? 0 : width, random);
        auto& bias = net.add(name + ".bias", 1, how.widths[layer + 1], 0, random).value;
        std::fill(bias.begin(), bias.end(), layer + 1 < layers ? how.bias : 0);
    }
    const auto step = [&](smd::hook& hook, int, bool training) {
        mlp::points batch;
        for (std::size_t i = 0; i < (training ? how.batch : 512); ++i) {
            const auto which = training ? static_cast<std::size_t>(chance() * static_cast<float>(how.count)) % how.count
                                        : how.count + i;
            batch.xy.insert(batch.xy.end(), {all.xy[2 * which], all.xy[2 * which + 1]});
            batch.classes.push_back(all.classes[which]);
        }
        network::begin({&net});
        matrix x = zoo::constant(2, batch.xy);
        for (std::size_t layer = 0; layer < layers; ++layer) {
            x = product(x, net.all[2 * layer].used) + net.all[2 * layer + 1].used;
            if (layer + 1 < layers) {
                const std::string name = "layer" + std::to_string(layer) + (how.tanh ? "_tanh_" : "_relu_");
                const matrix inputs = x;
                x = x.each(how.tanh ? zoo::tanh : zoo::relu);
                if (training) {
                    save(hook, name + "input", inputs, "activations");
                    save(hook, name + "output", x, "activations");
                }
            }
        }
        if (training) {
            hook.save_tensor("hybridsequential0_input_0", batch.xy, {how.batch, 2, 1, 1}, {"images"});
            hook.save_tensor("labels", batch.classes, {"labels"});
            std::vector<std::int64_t> guesses;
            static_cast<void>(x.each_row([&](const zoo::vars& row) {
                const auto less = [](var a, var b) { return a.value() < b.value(); };
                guesses.push_back(std::max_element(row.begin(), row.end(), less) - row.begin());
                return row;
            }));
            hook.save_tensor("predictions", guesses, {"predictions"});
        }
        return saved_loss(hook, "CrossEntropyLoss_output_0", cross_entropy(x, batch.classes));
    };
    const auto rate = [&](int) {
        if (how.frozen > 0) {
            std::fill(net.all[2 * how.frozen].slope.begin(), net.all[2 * how.frozen].slope.end(), 0.0F);
        }
        return how.rate;
    };
    train(how.name, how.steps, how.every, net, step, rate);
}

// --- regression ----------------------------------------------------------------------------------------------------

// A product of two matrices learns a third one: its parts one after the other, with a plateau before each.  `scale` is
// that of the numbers to learn, whose square the loss has.
void train_plateaus(const std::string& name, float scale, float rate, float init) {
    mlp::random_numbers random{3};
    network net;
    net.add("encoder.weight", 8, 8, init, random);
    net.add("decoder.weight", 8, 8, init, random);
    const auto step = [&](smd::hook& hook, int, bool) {
        mlp::numbers x(128);
        mlp::numbers y(128);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = random();
            y[i] = -scale * x[i] * (i % 8 == 0 ? 3.0F : i % 8 == 1 ? 0.7F : 0.05F) + 0.1F * scale * random();
        }
        network::begin({&net});
        const matrix made = product(product(zoo::constant(8, x), net.all[0].used), net.all[1].used);
        const matrix squares = (made + zoo::constant(8, y)).each([](var each) { return each * each; });
        return saved_loss(hook, "MSELoss_output_0", sum(squares.v) * var{1.0F / 128});
    };
    train(name, 2000, 20, net, step, [&](int) { return rate; });
}

// --- a transformer -------------------------------------------------------------------------------------------------

matrix normal(const matrix& x, const matrix& gain, const matrix& bias) {
    const matrix made = x.each_row([](zoo::vars row) {
        const var mean = sum(row) * var{-1 / static_cast<float>(row.size())};
        std::transform(row.begin(), row.end(), row.begin(), [&](var each) { return each + mean; });
        const var square = dot(row.data(), 1, row.data(), 1, row.size()) * var{1 / static_cast<float>(row.size())};
        const var scale = power(square + var{1e-5F}, -0.5F);
        std::transform(row.begin(), row.end(), row.begin(), [&](var each) { return each * scale; });
        return row;
    });
    return combined(made, gain, [](var a, var b) { return a * b; }) + bias;
}

// Learns to continue sequences in which most tokens follow from the two before, of which a share is padding, token 0.
void train_transformer(const std::string& name, float padding, int steps) {
    constexpr std::size_t length = 12;
    constexpr std::size_t width = 16;
    constexpr std::size_t tokens = 40;
    constexpr std::size_t batch = 4;
    mlp::random_numbers random{5};
    network net;
    const auto add = [&](const std::string& part, std::size_t rows, std::size_t cols, bool with_bias) {
        net.add(part + ".weight", rows, cols, std::sqrt(3 / static_cast<float>(rows)), random);
        if (with_bias) {
            net.add(part + ".bias", 1, cols, 0, random);
        }
    };
    add("embedding", tokens, width, false);
    add("position", length, width, false);
    for (const std::string in : {"layer0.", "layer1."}) {
        for (const std::string norm : {"norm0", "norm1"}) {
            auto& gain = net.add(in + norm + ".gain", 1, width, 0, random).value;
            std::fill(gain.begin(), gain.end(), 1.0F);
            net.add(in + norm + ".bias", 1, width, 0, random);
        }
        for (const std::string part : {"query", "key", "value", "output", "up"}) {
            add(in + part, width, part == "up" ? 2 * width : width, true);
        }
        add(in + "down", 2 * width, width, true);
    }
    net.add("head.weight", width, tokens, 0, random);  // begins with even chances

    const auto step = [&](smd::hook& hook, int, bool training) {
        network::begin({&net});
        zoo::vars losses;
        std::vector<std::int64_t> seen;
        for (std::size_t sequence = 0; sequence < batch; ++sequence) {
            const auto full = static_cast<std::size_t>(length * (1 - padding * (1 + 0.4F * random())));
            std::vector<std::size_t> text;
            matrix one_hot{tokens};
            for (std::size_t i = 0; i <= length; ++i) {
                const auto any = static_cast<std::size_t>((1 + random()) / 2 * 38.9F);
                const bool follows = i > 1 && any % 8 != 0;
                text.push_back(i > full ? 0 : 1 + (follows ? (text[i - 1] + 3 * text[i - 2]) % 39 % 7 * 5 : any));
                for (std::size_t t = 0; i < length && t < tokens; ++t) {
                    one_hot.v.emplace_back(t == text.back() ? 1.0F : 0.0F);
                }
            }
            seen.insert(seen.end(), text.begin(), text.end() - 1);
            std::replace(text.begin(), text.end(), std::size_t{0}, tokens);  // is not to be foreseen
            matrix x = product(one_hot, net.all[0].used) + net.all[1].used;
            for (std::size_t block = 0; block < 2; ++block) {
                const auto part = [&](std::size_t i) -> const matrix& { return net.all[2 + 16 * block + i].used; };
                const auto layer = [&](const matrix& from, std::size_t i) {
                    return product(from, part(4 + 2 * i)) + part(5 + 2 * i);
                };
                const matrix in = normal(x, part(0), part(1));
                std::size_t row = 0;
                const matrix attention = product(layer(in, 0), layer(in, 1), true).each_row([&](zoo::vars scores) {
                    for (std::size_t i = 0; i < scores.size(); ++i) {
                        scores[i] = i <= row ? scores[i] * var{0.25F} : var{-1e9F};
                    }
                    ++row;
                    return zoo::softmax(scores);
                });
                x = x + layer(product(attention, layer(in, 2)), 3);
                const matrix up = layer(normal(x, part(2), part(3)), 4);
                const matrix active = up.each(zoo::relu);
                x = x + layer(active, 5);
                if (training && sequence == 0) {
                    const std::string number = std::to_string(block);
                    save(hook, "attention" + number, attention, "attention");
                    save(hook, "layer" + number + "_relu_input", up, "activations");
                    save(hook, "layer" + number + "_relu_output", active, "activations");
                }
            }
            losses.push_back(cross_entropy(product(x, net.all.back().used), {text.begin() + 1, text.end()}));
        }
        if (training) {
            hook.save_tensor("embedding0_input_0", seen, {batch, length}, {"inputs"});
        }
        return saved_loss(hook, "CrossEntropyLoss_output_0", sum(losses) * var{1.0F / batch});
    };
    const auto rate = [&](int i) {
        const float along = static_cast<float>(i) / static_cast<float>(steps);
        return 0.01F * std::min(static_cast<float>(i + 1) / 150, 0.5F + 0.5F * std::cos(along * pi));
    };
    train(name, steps, 10, net, step, rate, true);
}

// --- two networks against each other -------------------------------------------------------------------------------

// A generator of points on a ring, and a discriminator between these and real ones.
void train_gan(const std::string& name, std::uint64_t seed) {
    mlp::random_numbers random{seed};
    network maker;
    network judge;
    for (network* const net : {&maker, &judge}) {
        const std::string whose = net == &maker ? "generator." : "discriminator.";
        net->add(whose + "fc1.weight", 2, 24, 1.2F, random);
        net->add(whose + "fc1.bias", 1, 24, 0, random);
        net->add(whose + "fc2.weight", 24, 2, 0.35F, random);
        net->add(whose + "fc2.bias", 1, 2, 0, random);
    }
    const auto run = [](const network& net, const matrix& x) {
        return product((product(x, net.all[0].used) + net.all[1].used).each(zoo::tanh), net.all[2].used) +
               net.all[3].used;
    };
    const auto step = [&](smd::hook& hook, int, bool) {
        mlp::numbers real;
        mlp::numbers noise;
        for (std::size_t i = 0; i < 32; ++i) {
            const float angle = pi * random();
            real.insert(real.end(), {std::cos(angle), std::sin(angle)});
            noise.insert(noise.end(), {random(), random()});
        }
        const std::vector<std::size_t> is_real(32, 1);
        const std::vector<std::size_t> is_made(32, 0);
        network::begin({&maker, &judge});
        const matrix made = zoo::constant(2, run(maker, zoo::constant(2, noise)).values());
        const var judged =
            cross_entropy(run(judge, zoo::constant(2, real)), is_real) + cross_entropy(run(judge, made), is_made);
        judge.walk_back(saved_loss(hook, "discriminator_loss", judged));
        judge.descend(0.004F, true);
        network::begin({&maker, &judge});
        const matrix fooled = run(judge, run(maker, zoo::constant(2, noise)));
        return saved_loss(hook, "generator_loss", cross_entropy(fooled, is_real));
    };
    train(
        name, 2000, 20, maker, step, [](int) { return 0.002F; }, true, false);
}

// --- boosted trees -------------------------------------------------------------------------------------------------

constexpr std::size_t features = 8;

struct tree {
    std::vector<std::int64_t> nodes = {};  // numbered as in a heap: 2 n + 1 and 2 n + 2 are below n
    std::vector<double> splits = {};       // NaN for a leaf, as XGBoost's hook saves it
};

struct forest {
    mlp::numbers x = {};       // a row an example
    mlp::numbers rest = {};    // what the next tree is to say, of the examples that are seen
    mlp::numbers scores = {};  // the sum of all trees, of all examples
    std::array<double, features> used = {};
};

// Splits the examples of a node where it helps those most that are seen, and moves the scores of those in a leaf.
void grow(tree& into, forest& all, std::int64_t node, std::size_t depth, float rate,
          const std::vector<std::size_t>& among) {
    std::vector<std::size_t> seen = among;
    std::erase_if(seen, [&](std::size_t i) { return i >= all.rest.size(); });
    const auto count = static_cast<float>(std::max<std::size_t>(seen.size(), 1));
    float sum = 0;
    for (const std::size_t i : seen) {
        sum += all.rest[i];
    }
    float best = 1e-3F;
    std::size_t by = features;
    float split = 0;
    for (std::size_t f = 0; f < features && depth > 0; ++f) {
        std::sort(seen.begin(), seen.end(),
                  [&](auto a, auto b) { return all.x[a * features + f] < all.x[b * features + f]; });
        float left = 0;
        for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
            left += all.rest[seen[i]];
            const auto n = static_cast<float>(i + 1);
            const float gain = left * left / n + (sum - left) * (sum - left) / (count - n) - sum * sum / count;
            if (gain > best) {
                best = gain;
                by = f;
                split = (all.x[seen[i] * features + f] + all.x[seen[i + 1] * features + f]) / 2;
            }
        }
    }
    into.nodes.push_back(node);
    into.splits.push_back(by < features ? static_cast<double>(split) : std::numeric_limits<double>::quiet_NaN());
    if (by == features) {
        for (const std::size_t i : among) {
            all.scores[i] += rate * sum / count;
        }
        return;
    }
    all.used[by] += 1;
    std::array<std::vector<std::size_t>, 2> sides;
    for (const std::size_t i : among) {
        sides[all.x[i * features + by] < split ? 0 : 1].push_back(i);
    }
    for (const std::int64_t side : {0, 1}) {
        grow(into, all, 2 * node + 1 + side, depth - 1, rate, sides[static_cast<std::size_t>(side)]);
    }
}

// `noise` is that of the labels; `leak`: a feature is the label.
void train_forest(const std::string& name, std::size_t depth, float noise, bool leak, bool regression) {
    constexpr std::size_t count = 400;
    mlp::random_numbers random{11};
    forest all{.x = mlp::numbers(2 * count * features), .rest = mlp::numbers(count), .scores = mlp::numbers(2 * count)};
    mlp::numbers y;
    std::vector<std::size_t> among;
    for (std::size_t i = 0; i < 2 * count; ++i) {
        float hidden = noise * random();
        for (std::size_t f = 0; f < features; ++f) {
            all.x[i * features + f] = random();
            hidden += all.x[i * features + f] / static_cast<float>(f + 2);
        }
        y.push_back(regression ? hidden : (hidden > 0 ? 1.0F : 0.0F));
        float& first = all.x[i * features];
        first = leak ? y.back() + 0.1F * first : first;
        among.push_back(i);
    }
    smd::hook hook{{.out_dir = root + "/" + name,
                    .save_config = smd::save_config{.save_interval = 1},
                    .collections = {smd::collection{.name = "weights", .include_regex = {"^none$"}}},
                    .include_collections = {"metrics"}}};
    const auto said = [&](std::size_t i) { return regression ? all.scores[i] : 1 / (1 + std::exp(-all.scores[i])); };
    for (int round = 0; round < 40; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
            all.rest[i] = y[i] - said(i);
        }
        tree grown;
        grow(grown, all, 0, depth, regression ? 0.1F : 0.4F, among);
        hook.save_tensor("trees/" + std::to_string(round) + "/Node", grown.nodes, {"trees"});
        hook.save_tensor("trees/" + std::to_string(round) + "/Split", grown.splits, {"trees"});
        std::array<double, 2> squares{};  // of what is seen, and of the rest
        mlp::numbers guesses;
        for (std::size_t i = 0; i < 2 * count; ++i) {
            squares[i / count] += std::pow(static_cast<double>(y[i] - said(i)), 2) / count;
            guesses.push_back(said(i));
        }
        const double uses = std::accumulate(all.used.begin(), all.used.end(), 0.0);
        for (std::size_t f = 0; f < features; ++f) {
            hook.save_tensor("feature_importance/weight/f" + std::to_string(f), std::vector{all.used[f] / uses},
                             {"feature_importance"});
        }
        hook.save_tensor("train-rmse", std::vector{std::sqrt(squares[0])}, {"metrics"});
        hook.save_tensor("validation-rmse", std::vector{std::sqrt(squares[1])}, {"metrics"});
        hook.save_tensor("predictions", guesses, {"predictions"});
        hook.save_tensor("labels", y, {"labels"});
        hook.end_step();
    }
    hook.close();
}

// --- the zoo -------------------------------------------------------------------------------------------------------

void train_all() {
    const std::vector<std::size_t> deep{2, 32, 32, 32, 32, 4};
    const std::vector<std::size_t> very_deep{2, 16, 16, 16, 16, 16, 16, 16, 16, 4};
    const std::vector<classifier> classifiers{
        {.name = "healthy/noisy_batches", .rate = 0.01F, .batch = 2, .steps = 4000, .every = 40},
        {.name = "healthy/deep_relu", .widths = deep, .init = 0.7F, .rate = 0.01F},
        {.name = "healthy/tanh", .tanh = true},
        {.name = "healthy/every_step", .widths = {2, 32, 10}, .rate = 0.02F, .steps = 400, .every = 1},
        {.name = "failing/vanishing_gradient", .widths = very_deep, .tanh = true, .init = 0.1F},
        {.name = "failing/exploding_tensor", .rate = 1e30F},
        {.name = "failing/saturated_activation", .widths = {2, 32, 32, 4}, .tanh = true, .init = 1000},
        {.name = "failing/dead_relu", .bias = -5},
        {.name = "failing/all_zero", .widths = {2, 32, 32, 4}, .zero = 1},
        {.name = "failing/unchanged_tensor", .widths = {2, 32, 32, 4}, .frozen = 1},
        {.name = "failing/weight_update_ratio", .rate = 1e-12F},
        {.name = "failing/loss_not_decreasing.rate_too_low", .rate = 1e-8F},
        {.name = "failing/loss_not_decreasing.rate_too_high", .tanh = true, .rate = 30},
        {.name = "failing/overfit", .widths = {2, 64, 64, 4}, .rate = 0.1F, .count = 60, .noise = 0.3F},
        {.name = "failing/overtraining", .rate = 0.1F, .steps = 2000, .noise = 0.2F},
        {.name = "failing/class_imbalance", .rare = 0.02F},
        {.name = "failing/poor_weight_initialization", .widths = deep, .init = 1e-3F},
        {.name = "failing/check_input_images", .offset = 1}};
    for (const classifier& each : classifiers) {
        train(each);
    }
    train_plateaus("healthy/plateaus", 1, 0.01F, 0.02F);
    train_plateaus("healthy/small_losses", 0.01F, 0.05F, 0.2F);
    train_transformer("healthy/transformer", 0.1F, 900);
    train_transformer("failing/nlp_sequence_ratio", 0.7F, 120);
    train_gan("healthy/gan", 1);
    train_gan("healthy/gan_2", 2);
    train_forest("healthy/boosted_trees", 6, 0.5F, false, false);
    train_forest("healthy/regression_trees", 6, 0.5F, false, true);
    train_forest("failing/tree_depth", 30, 20, false, false);
    train_forest("failing/feature_importance_overweight", 6, 0.5F, true, false);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: zoo OUT_DIR\n";
        return 2;
    }
    root = arguments[1];
    try {
        train_all();
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
        return 1;
    }
    return 0;
}
