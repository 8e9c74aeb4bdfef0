// All built-in rules, over a page-cached run, against one scan of the same run with all reductions: together, and each
// alone.  One thread.
//   rules_scan_bench                              4 GB: 500 steps of 30 tensors of 256 KiB, and one of 4 MiB tensors
// The rule `learned`, and learning, by itself: each hashes every tensor.
//   rules_scan_bench STEPS ROWS [ROUNDS = 3] [RULE]   tensors of ROWS x 1,024 float32; RULE: that one alone
#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/learn/learn.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/built_in/learned.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
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

/// A training of five layers as a hook would save it, with something to judge for every built-in rule: weights that
/// change a little, in two workers alike; gradients, one of them of half precision; inputs of tanh, outputs of ReLUs
/// (half of them zero), attention, the load of experts, images, tokens, labels, and losses that fall.
class training {
public:
    training(long steps, long rows) {
        smd::local_storage store{folder.path()};
        smdebug_test::run_builder build{store};
        std::map<std::string, std::vector<std::string>> groups;
        for (long i = 0; i < layers; ++i) {
            groups["weights"].push_back(layer(i) + ".weight");
            groups["gradients"].push_back("gradient/" + layer(i) + ".weight");
            groups["outputs"].push_back(layer(i) + ".relu_output_0");
        }
        groups["gradients"].emplace_back("gradient/half");
        groups["losses"] = {"loss"};
        groups["attention"] = {"attention"};
        groups["experts"] = {"experts"};
        build.collections({"worker_0", "worker_1"}, groups);
        std::mt19937 random{1};
        const auto count = static_cast<std::size_t>(rows * columns);
        const std::vector<float> base = normals(count + 4096, random);
        const smd::shape_type shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
        const std::vector<float> attention = probabilities(base, count);
        for (long step = 0; step < steps; ++step) {
            const auto growth = 1 + 1e-3F * static_cast<float>(step);
            smdebug_test::written_step first{.step = step};
            smdebug_test::written_step second{.step = step, .worker = "worker_1"};
            std::vector<float> values(count);
            const auto add = [&](smdebug_test::written_step& to, const std::string& name, long shift, auto&& value) {
                for (std::size_t i = 0; i < count; ++i) {
                    values[i] = value(base[static_cast<std::size_t>(shift) + i]);
                }
                to.tensors.push_back(smdebug_test::tensor_of<float>(name, values, shape));
            };
            for (long i = 0; i < layers; ++i) {
                for (auto* worker : {&first, &second}) {
                    add(*worker, layer(i) + ".weight", 100 * i, [&](float each) { return each * growth; });
                }
                add(first, "gradient/" + layer(i) + ".weight", (step * 7 + i) % 4096,
                    [](float each) { return 0.01F * each; });
                add(first, layer(i) + ".tanh_input_0", (step * 11 + i) % 4096, [](float each) { return each; });
                add(first, layer(i) + ".relu_output_0", (step * 13 + i) % 4096,
                    [](float each) { return std::max(each, 0.0F); });
            }
            add(first, "experts", step % 4096, [](float each) { return each * each; });
            add(first, "hybridsequential0_input_0", (step * 17) % 4096, [](float each) { return each - 0.01F; });
            first.tensors.back().shape = {count / columns, 4, columns / 4};
            first.tensors.push_back(smdebug_test::tensor_of<float>("attention", attention, shape));
            std::vector<smd::float16> halves(2 * count);
            std::vector<std::int64_t> tokens(count / 2);
            for (std::size_t i = 0; i < halves.size(); ++i) {
                halves[i] = smd::float16{base[i % count]};
            }
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                tokens[i] = static_cast<std::int64_t>(1 + (i * 7919) % 30000);
            }
            first.tensors.push_back(smdebug_test::tensor_of("gradient/half", halves));
            first.tensors.push_back(smdebug_test::tensor_of("embedding0_input_0", tokens));
            large = first.tensors.size() + second.tensors.size();
            bytes += large * count * sizeof(float);
            const float loss = 1 / (1 + 0.1F * static_cast<float>(step));
            first.tensors.push_back(smdebug_test::tensor_of<float>("loss", {loss}, smd::shape_type{}));
            first.tensors.push_back(smdebug_test::tensor_of<std::int64_t>("labels", {0, 1, 2, 3}));
            first.tensors.push_back(smdebug_test::tensor_of<std::int64_t>("predictions", {0, 1, 2, 3}));
            first.tensors.push_back(smdebug_test::tensor_of<std::int64_t>("trees/0/depth", {3}));
            for (const char* feature : {"f0", "f1", "f2", "f3", "f4", "f5", "f6"}) {
                first.tensors.push_back(
                    smdebug_test::tensor_of<float>(std::string{"feature_importance/weight/"} + feature, {1.0F}));
            }
            if (step % 2 != 0) {
                first.mode = smd::mode::eval;
                second.mode = smd::mode::eval;
            }
            build.step(first).step(second);
        }
        build.end();
    }

    bench::data_folder folder;
    std::uint64_t bytes = 0;
    std::size_t large = 0;  // tensors of a step, but for those of some bytes

private:
    [[nodiscard]] static std::string layer(long i) { return "layer" + std::to_string(i); }

    // Rows that add up to 1.
    [[nodiscard]] static std::vector<float> probabilities(const std::vector<float>& base, std::size_t count) {
        std::vector<float> values(count);
        for (std::size_t row = 0; row < count; row += columns) {
            double sum = 0;
            for (std::size_t i = row; i < row + columns; ++i) {
                sum += std::abs(static_cast<double>(base[i]));
            }
            for (std::size_t i = row; i < row + columns; ++i) {
                values[i] = static_cast<float>(std::abs(static_cast<double>(base[i])) / sum);
            }
        }
        return values;
    }
};

/// All built-in rules, with parameters by which each has something to judge and none fires, so that none stops early.
/// similar_across_runs compares a layer's weight with that of the same run.
std::vector<any_rule> every_rule(const std::string& run) {
    const auto known = smd::rule_registry<smd::local_trial>::built_in();
    const std::map<std::string, smd::rule_parameters> parameters{
        {"poor_weight_initialization", {{"activation_inputs_regex", ".*tanh_input"}}},
        {"all_zero", {{"collection_names", "weights,gradients"}}},
        {"unchanged_tensor", {{"collection_names", "weights"}}},
        {"tensor_variance", {{"tensor_regex", ".*"}, {"max_threshold", "1e12"}}},
        {"similar_across_runs", {{"tensor_regex", "layer0.weight"}, {"rtol", "1e9"}}},
        {"check_input_images", {{"threshold_mean", "1e6"}}},
        {"activation_outliers", {{"collection_names", "outputs"}}},
        {"attention_collapse", {{"collection_names", "attention"}}},
        {"expert_imbalance", {{"collection_names", "experts"}, {"threshold", "1e6"}, {"dead_share", "0"}}}};
    using other_runs = std::vector<std::shared_ptr<const smd::local_trial>>;
    const other_runs others{std::make_shared<const smd::local_trial>(run)};
    std::vector<any_rule> rules;
    for (const smd::rule_info& info : known.infos()) {
        if (info.name == "learned") {
            continue;  // it needs facts of other runs
        }
        const auto given = parameters.find(info.name);
        rules.push_back(known.make(info.name, given != parameters.end() ? given->second : smd::rule_parameters{},
                                   known.compares_runs(info.name) ? others : other_runs{}));
    }
    return rules;
}

/// What two runs with the tensors of this one have in common.
smd::learned_facts facts_of(const std::string& run) {
    smd::learned_facts facts = smd::learn(smd::local_trial{run, {.name = "one"}});
    facts.join(smd::learn(smd::local_trial{run, {.name = "other"}}));
    return facts;
}

void evaluate(const smd::local_trial& run, std::size_t first, std::size_t last) {
    std::vector<any_rule> rules = every_rule(run.path());
    rules = {rules.begin() + static_cast<std::ptrdiff_t>(first), rules.begin() + static_cast<std::ptrdiff_t>(last)};
    bench::keep(static_cast<double>(smd::invoke_rules(run, rules).front().outcome.evaluated));
}

void measure(long steps, long rows, int rounds, std::string_view only = {}) {
    const training made{steps, rows};
    const smd::local_trial run{made.folder.path()};
    const std::vector<smd::rule_result> results = smd::invoke_rules(run, every_rule(made.folder.path()));
    std::vector<bench::subject> subjects{
        {"limit: one scan with all reductions",
         [&] {
             double total = 0;
             smd::for_each_tensor(run, {}, smd::reduction_set::all(), [&](const smd::reduced_tensor& found) {
                 total += found.reductions(smd::reduction::mean);
             });
             bench::keep(total);
         }},
        {"all " + std::to_string(results.size()) + " rules together", [&] { evaluate(run, 0, results.size()); }},
        {"the last 9, about training runs", [&] { evaluate(run, results.size() - 9, results.size()); }}};
    const smd::learned_facts facts = facts_of(made.folder.path());
    subjects.push_back({"learned alone", [&] {
                            std::vector<any_rule> rules{any_rule{smd::rules::learned{.facts = facts}}};
                            bench::keep(static_cast<double>(smd::invoke_rules(run, rules).front().outcome.evaluated));
                        }});
    subjects.push_back({"learning", [&] { bench::keep(static_cast<double>(smd::learn(run).tensors().size())); }});
    const std::size_t together = subjects.size();
    std::vector<const smd::rule_result*> about;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (only.empty() || only == results[i].name) {
            about.push_back(&results[i]);
            subjects.push_back({results[i].name + " alone", [&run, i] { evaluate(run, i, i + 1); }});
        }
    }
    std::printf("%ld steps x %zu tensors x %ld KiB = %.2f GB in the page cache, medians of %d rounds\n", steps,
                made.large, rows * columns * 4 / 1024, static_cast<double>(made.bytes) / 1e9, rounds);
    bench::run_rounds(subjects, rounds);
    const double limit = bench::median(subjects[0].times);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const double time = bench::median(subjects[i].times);
        std::printf("    %-36s %8.1f ms   %.2f x the limit's time", subjects[i].name.c_str(), time * 1e3, time / limit);
        if (i >= together) {
            const smd::rule_result& one = *about[i - together];
            std::printf("; %zu of %ld steps, %zu tensors, %zu findings%s%s", one.outcome.evaluated, steps,
                        one.outcome.tensors, one.outcome.findings.size(), one.cause ? ", failed: " : "",
                        one.failure.c_str());
        }
        std::printf("\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 3, 3));
    if (argc > 2) {
        measure(bench::argument(argc, argv, 1, 0), bench::argument(argc, argv, 2, 1), rounds, argc > 4 ? argv[4] : "");
        return 0;
    }
    measure(500, 64, rounds);
    measure(30, 1024, rounds);
    std::printf("aim: together at most 1.5 x the time of one scan\n");
    return 0;
}
