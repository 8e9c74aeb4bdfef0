// Writes the runs from which tests/check_report.mjs makes reports, below a folder:
//   report_runs FOLDER [LONG_STEPS]
//   good, bad      a small training that goes well, and one whose gradients grow until they are NaN; TRAIN and EVAL
//   healthy/0 to 7, unhealthy   small trainings that differ in their seed, and one whose weights grow from step 40 on
//   workers        16 workers, one of which has other weights from step 20 on
//   hostile        names that would be markup
//   long           LONG_STEPS (2,000) steps of 40 tensors, with one outlier and one NaN each at steps that share a column
//   empty          a run without a step
//   lost           a run whose loss is nowhere finite
//   extreme        doubles that no float holds, a NaN, and names that turn and break lines
//   single         a run of one step
#include <smdebug/hook/hook.hpp>

#include "support/standard.hpp"

#include <iostream>

namespace smd = smdebug;

namespace {

class numbers {
public:
    explicit numbers(unsigned seed) : source_(seed) {}
    [[nodiscard]] std::vector<float> some(std::size_t count, float scale, float middle = 0) {
        std::normal_distribution<float> spread{middle, scale};
        std::vector<float> all(count);
        for (float& each : all) {
            each = spread(source_);
        }
        return all;
    }

private:
    std::mt19937 source_;
};

const std::vector<std::string> layers{"conv1",        "block1.conv1", "block1.conv2",
                                      "block2.conv1", "block2.conv2", "head.fc"};

smd::hook_options everything(const std::string& folder) {
    return {.out_dir = folder,
            .save_config = {.save_interval = 1},
            .include_collections = {"weights", "gradients", "biases"},
            .save_all = true,
            .on_note = [](const std::string&) {}};
}

void train(const std::string& folder, bool goes_wrong) {
    smd::hook hook{everything(folder)};
    numbers random{7};
    constexpr int steps = 240;
    for (int step = 0; step < steps; ++step) {
        const bool evaluates = step % 20 == 19;
        hook.set_mode(evaluates ? smd::mode::eval : smd::mode::train);
        const float done = static_cast<float>(step) / steps;
        float loss = 2.3F * std::exp(-3 * done) + 0.05F * random.some(1, 1).front() + (evaluates ? 0.15F : 0.0F);
        if (goes_wrong && step > 120) {
            loss = step > 180 ? std::numeric_limits<float>::quiet_NaN()
                              : loss + std::exp(0.1F * static_cast<float>(step - 120));
        }
        hook.save_scalar("accuracy", 1 - std::exp(-3 * done) * 0.9F);
        hook.save_tensor("CrossEntropyLoss_output_0", std::vector<float>{loss});
        for (std::size_t i = 0; !evaluates && i < layers.size(); ++i) {
            const float depth = 1 + static_cast<float>(i);
            hook.save_tensor(layers[i] + ".weight", random.some(512, 0.1F * (1 + done) / depth), {16, 32});
            hook.save_tensor(layers[i] + ".bias", random.some(16, 0.02F, 0.1F * done));
            std::vector<float> gradient = random.some(512, 0.01F * std::exp(-2 * done) * depth * depth);
            if (goes_wrong && step > 120 && i < 3) {
                for (float& each : gradient) {
                    each *= step > 180 ? std::numeric_limits<float>::quiet_NaN()
                                       : std::exp(0.15F * static_cast<float>(step - 120));
                }
            }
            hook.save_tensor("gradient/" + layers[i] + ".weight", gradient, {16, 32});
        }
        hook.end_step();
    }
    hook.close();
}

void train_alike(const std::string& folder, unsigned seed, bool goes_wrong) {
    smd::hook hook{everything(folder)};
    numbers random{seed};
    for (int step = 0; step < 100; ++step) {
        const bool evaluates = step % 10 == 9;
        hook.set_mode(evaluates ? smd::mode::eval : smd::mode::train);
        const float done = static_cast<float>(step) / 100;
        hook.save_tensor("CrossEntropyLoss_output_0",
                         std::vector<float>{2 * std::exp(-2 * done) + random.some(1, 0.05F).front()});
        const float growth = goes_wrong && step > 40 ? std::exp(0.06F * static_cast<float>(step - 40)) : 1.0F;
        if (!evaluates) {
            hook.save_tensor("fc.weight", random.some(512, 0.1F * (1 + done) * growth), {16, 32});
            hook.save_tensor("gradient/fc.weight", random.some(512, 0.02F * (1 - 0.5F * done)), {16, 32});
        }
        hook.end_step();
    }
    hook.close();
}

void train_many(const std::string& folder) {
    constexpr int count = 16;
    std::vector<std::unique_ptr<smd::hook>> hooks;
    for (int i = 0; i < count; ++i) {
        smd::hook_options options = everything(folder);
        options.include_workers = smd::include_workers::all;
        options.worker = "worker_" + std::to_string(i);
        options.num_workers = count;
        hooks.push_back(std::make_unique<smd::hook>(options));
    }
    for (int step = 0; step < 40; ++step) {
        for (int i = 0; i < count; ++i) {
            numbers same{static_cast<unsigned>(step)};
            numbers own{static_cast<unsigned>(1000 + 100 * step + i)};
            smd::hook& hook = *hooks[static_cast<std::size_t>(i)];
            std::vector<float> weight = same.some(256, 0.1F);
            if (i == 11 && step >= 20) {
                for (float& each : weight) {
                    each *= 1.5F;
                }
            }
            hook.save_tensor("fc.weight", weight);
            hook.save_tensor("gradient/fc.weight", own.some(256, 0.01F));
            hook.save_tensor("CrossEntropyLoss_output_0", std::vector<float>{2 / (1 + 0.1F * static_cast<float>(step)) +
                                                                             own.some(1, 0.02F).front()});
            hook.end_step();
        }
    }
    for (const auto& hook : hooks) {
        hook->close();
    }
}

void write_hostile(const std::string& folder) {
    smd::hook hook{everything(folder)};
    numbers random{3};
    for (int step = 0; step < 12; ++step) {
        for (const char* const name :
             {"</script><img src=x onerror=alert(1)>", "<!--<script>", "a\"b'c&amp;", "\xE2\x80\xA8line\xE2\x80\xA9",
              "\xC3\xA9t\xC3\xA9 \xF0\x9F\x94\xA5", "__proto__"}) {
            std::vector<float> values = random.some(64, 1);
            if (step > 6) {
                values[3] = std::numeric_limits<float>::infinity();
            }
            hook.save_tensor(name, values);
        }
        hook.save_scalar("</style><svg onload=alert(2)>loss", 1.0F / static_cast<float>(step + 1));
        hook.end_step();
    }
    hook.close();
}

void write_long(const std::string& folder, int steps) {
    smd::hook hook{everything(folder)};
    numbers random{5};
    for (int step = 0; step < steps; ++step) {
        for (int i = 0; i < 40; ++i) {
            std::vector<float> values = random.some(32, 1 + 0.1F * static_cast<float>(i));
            if (i == 7 && step == steps / 2 + 1) {
                values[0] = 4e6F;
            }
            if (i == 9 && step == steps / 3) {
                values[0] = std::numeric_limits<float>::quiet_NaN();
            }
            hook.save_tensor("layer" + std::to_string(i) + ".output", values);
        }
        hook.save_tensor("CrossEntropyLoss_output_0", std::vector<float>{1 / (1 + 0.01F * static_cast<float>(step))});
        hook.end_step();
    }
    hook.close();
}

void write_lost(const std::string& folder) {
    smd::hook hook{everything(folder)};
    for (int step = 0; step < 100; ++step) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        hook.save_tensor("CrossEntropyLoss_output_0", std::vector<float>{step % 2 == 0 ? infinity : -infinity});
        hook.end_step();
    }
    hook.close();
}

void write_extreme(const std::string& folder) {
    smd::hook hook{everything(folder)};
    constexpr int lost = 5;
    for (int step = 0; step < 12; ++step) {
        hook.save_tensor("CrossEntropyLoss_output_0", std::vector<double>{1e300 * (1 - 0.05 * step)});
        std::vector<double> tiny(8, 1e-310 * (step + 1));
        tiny[0] = step == lost ? std::numeric_limits<double>::quiet_NaN() : 3 * tiny[1];
        hook.save_tensor("\xE2\x80\xAEtiny\n.weight", tiny);
        hook.end_step();
    }
    hook.close();
}

void write_single(const std::string& folder) {
    smd::hook hook{everything(folder)};
    hook.save_tensor("fc.weight", numbers{2}.some(500, 1));
    hook.end_step();
    hook.close();
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::cerr << "usage: report_runs FOLDER [LONG_STEPS]\n";
        return 2;
    }
    const std::string folder = arguments[1];
    train(folder + "/good", false);
    train(folder + "/bad", true);
    for (unsigned seed = 0; seed < 8; ++seed) {
        train_alike(folder + "/healthy/" + std::to_string(seed), seed, false);
    }
    train_alike(folder + "/unhealthy", 8, true);
    train_many(folder + "/workers");
    write_hostile(folder + "/hostile");
    write_long(folder + "/long", count > 2 ? std::atoi(arguments[2]) : 2000);
    smd::hook{everything(folder + "/empty")}.close();
    write_lost(folder + "/lost");
    write_extreme(folder + "/extreme");
    write_single(folder + "/single");
    return 0;
}
