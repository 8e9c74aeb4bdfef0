// All applicable built-in rules, over a page-cached run, against one scan of the same run with all
// reductions: together (invoke_rules), and one by one (invoke_rule).  One thread.
//   rules_scan_bench                              5 GB: 1,000 steps of 20 tensors of 256 KiB, and one of 4 MiB tensors
//   rules_scan_bench STEPS ROWS [ROUNDS = 3]      tensors of ROWS x 1,024 float32
#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/scan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace smd = smdebug;
using any_rule = smd::any_rule<smd::local_trial>;

namespace {

constexpr long layers = 5;
constexpr long columns = 1024;

std::vector<float> normals(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal{0.01F, 1.0F};
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    return values;
}

/// A training of five layers as a hook would save it: weights that change a little, gradients, inputs of tanh,
/// outputs of ReLUs (half of them zero), a loss that falls.
class training {
public:
    training(long steps, long rows) {
        smd::local_storage store{folder.path()};
        smdebug_test::run_builder build{store};
        std::map<std::string, std::vector<std::string>> groups;
        for (long i = 0; i < layers; ++i) {
            const std::string layer = "layer" + std::to_string(i);
            groups["weights"].push_back(layer + ".weight");
            groups["gradients"].push_back("gradient/" + layer + ".weight");
        }
        groups["losses"].push_back("loss");
        build.collections({"worker_0"}, groups);
        std::mt19937 random{1};
        const auto count = static_cast<std::size_t>(rows * columns);
        const std::vector<float> base = normals(count + 4096, random);
        std::vector<float> values(count);
        const smd::shape_type shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
        for (long step = 0; step < steps; ++step) {
            smdebug_test::written_step written{.step = step};
            const auto add = [&](const std::string& name, long shift, float scale, bool relu) {
                const float* from = base.data() + shift;
                for (std::size_t i = 0; i < count; ++i) {
                    values[i] = relu ? std::max(from[i], 0.0F) : from[i] * scale;
                }
                written.tensors.push_back(smdebug_test::tensor_of<float>(name, values, shape));
            };
            const auto growth = 1 + 1e-3F * static_cast<float>(step);
            for (long i = 0; i < layers; ++i) {
                const std::string layer = "layer" + std::to_string(i);
                add(layer + ".weight", 100 * i, growth, false);
                add("gradient/" + layer + ".weight", (step * 7 + i) % 4096, 0.01F, false);
                add(layer + ".tanh_input_0", (step * 11 + i) % 4096, 1, false);
                add(layer + ".relu_output_0", (step * 13 + i) % 4096, 1, true);
            }
            const float loss = 1 / (1 + 0.1F * static_cast<float>(step));
            written.tensors.push_back(smdebug_test::tensor_of<float>("loss", {loss}, smd::shape_type{}));
            bytes += static_cast<std::uint64_t>(4 * layers) * count * sizeof(float);
            build.step(written);
        }
        build.end();
    }

    bench::data_folder folder;
    std::uint64_t bytes = 0;
};

/// The rules that apply here; none of them fires, so that none stops early.
std::vector<any_rule> applicable() {
    const auto known = smd::rule_registry<smd::local_trial>::built_in();
    std::vector<any_rule> rules;
    for (const char* name : {"vanishing_gradient", "exploding_tensor", "poor_weight_initialization",
                             "saturated_activation", "dead_relu", "weight_update_ratio", "loss_not_decreasing"}) {
        rules.push_back(known.make(name));
    }
    rules.push_back(known.make("all_zero", {{"collection_names", "weights,gradients"}}));
    rules.push_back(known.make("unchanged_tensor", {{"collection_names", "weights"}}));
    rules.push_back(known.make("tensor_variance", {{"tensor_regex", ".*"}, {"max_threshold", "1e6"}}));
    return rules;
}

std::size_t together(const smd::local_trial& run) {
    std::size_t found = 0;
    for (const smd::rule_result& each : smd::invoke_rules(run, applicable())) {
        if (each.cause) {
            std::printf("%s failed: %s\n", each.name.c_str(), each.failure.c_str());
        }
        found += each.outcome.findings.size();
    }
    return found;
}

void one_by_one(const smd::local_trial& run) {
    for (const any_rule& each : applicable()) {
        bench::keep(static_cast<double>(smd::invoke_rules(run, std::vector{each}).front().outcome.evaluated));
    }
}

void measure(long steps, long rows, int rounds) {
    const training made{steps, rows};
    const smd::local_trial run{made.folder.path()};
    std::vector<bench::subject> subjects{
        {"limit: one scan with all reductions",
         [&] {
             double total = 0;
             smd::for_each_tensor(run, {}, smd::reduction_set::all(), [&](const smd::reduced_tensor& found) {
                 total += found.reductions(smd::reduction::mean);
             });
             bench::keep(total);
         }},
        {"10 rules together", [&] { bench::keep(static_cast<double>(together(run))); }},
        {"10 rules, one after another", [&] { one_by_one(run); }}};
    std::printf("%ld steps x %ld tensors x %ld KiB = %.2f GB in the page cache, medians of %d rounds\n", steps,
                4 * layers, rows * columns * 4 / 1024, static_cast<double>(made.bytes) / 1e9, rounds);
    bench::run_rounds(subjects, rounds);
    const double limit = bench::median(subjects[0].times);
    for (const bench::subject& row : subjects) {
        const double time = bench::median(row.times);
        std::printf("    %-36s %8.1f ms %7.2f GB/s   %.2f x the limit's time\n", row.name.c_str(), time * 1e3,
                    static_cast<double>(made.bytes) / time / 1e9, time / limit);
    }
    for (const smd::rule_result& each : smd::invoke_rules(run, applicable())) {
        std::printf("        %-28s %5zu steps, %zu findings\n", each.name.c_str(), each.outcome.evaluated,
                    each.outcome.findings.size());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 3, 3));
    if (argc > 2) {
        measure(bench::argument(argc, argv, 1, 0), bench::argument(argc, argv, 2, 1), rounds);
        return 0;
    }
    measure(1000, 64, rounds);
    measure(60, 1024, rounds);
    std::printf("aim: together at most 1.3 x the time of one scan\n");
    return 0;
}
