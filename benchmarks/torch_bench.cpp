// What a torch_watch costs a training on the CPU: a step at which nothing is due, one of reductions only beside torch's
// own passes over the same parameters, and one of values with a background beside memcpy of the same bytes.
//   torch_bench [PARAMETERS=100] [SIDE=256] [ROUNDS=30]
#include "bench.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/torch.hpp>

#include <ATen/Parallel.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace smd = smdebug;

namespace {

// Parameters of SIDE x SIDE floats.
struct square_net : torch::nn::Module {
    square_net(std::size_t parameters, std::int64_t side) {
        for (std::size_t i = 0; i < parameters; ++i) {
            all.push_back(register_parameter("weight_" + std::to_string(i), at::randn({side, side})));
        }
    }
    // A pass over all of them: each thing that is measured finds them in the cache as a training would have them.
    void touch() const {
        const at::NoGradGuard no_gradients;
        for (const at::Tensor& each : all) {
            bench::keep(each.sum().item<double>());
        }
    }
    std::vector<at::Tensor> all;
};

smd::hook_options options_for(const std::string& root) {
    return {.out_dir = root, .save_config = {.save_interval = 1}, .save_all = true};
}

void row(const bench::subject& one, const bench::subject& limit) {
    const double best = bench::fastest(one.times);
    std::printf("%-58s %9.1f us/step (median %9.1f) %5.2f x the time\n", one.name.c_str(), best * 1e6,
                bench::median(one.times) * 1e6, best / bench::fastest(limit.times));
}

void nothing_due(int rounds) {
    const bench::data_folder data;
    torch::nn::Sequential net;
    for (int i = 0; i < 500; ++i) {
        net->push_back(torch::nn::Linear(4, 4));  // a weight and a bias
    }
    const std::vector<at::Tensor> parameters = net->parameters();
    smd::hook hook({.out_dir = data.path() + "/run",
                    .save_config = {.save_interval = 1'000'000'000},
                    .include_collections = {"weights", "biases", "gradients"}});
    smd::torch_watch watch(hook, net);
    watch.step();
    hook.end_step();  // step 0 is due
    constexpr int steps = 10'000;
    std::vector<bench::subject> subjects(2);
    subjects[0] = {.name = "looking at the .grad() of 1,000 parameters, for comparison", .run = [&] {
                       int defined = 0;
                       for (int i = 0; i < steps / 100; ++i) {
                           for (const at::Tensor& each : parameters) {
                               defined += each.grad().defined() ? 1 : 0;
                           }
                       }
                       bench::keep(defined);
                   }};
    subjects[1] = {.name = "torch_watch/nothing due", .run = [&] {
                       for (int i = 0; i < steps; ++i) {
                           watch.step();
                           hook.end_step();
                       }
                   }};
    bench::run_rounds(subjects, rounds);
    const double look = bench::fastest(subjects[0].times) / (steps / 100);
    const double ours = bench::fastest(subjects[1].times) / steps;
    std::printf("%-58s %9.3f us/step\n", subjects[0].name.c_str(), look * 1e6);
    std::printf("%-58s %9.3f us/step (aim <= 20 us), %zu parameters\n", subjects[1].name.c_str(), ours * 1e6,
                parameters.size());
    if (hook.counters().steps != 1) {
        throw std::runtime_error("a step was saved at which nothing was to be due");
    }
}

// The numbers of a parameter as a user of torch alone computes them.
double few_by_torch(const at::Tensor& p) {
    return p.min().item<double>() + p.max().item<double>() + p.mean().item<double>() + p.norm().item<double>();
}

double all_by_torch(const at::Tensor& p) {
    const at::Tensor magnitudes = p.abs();
    double total = p.norm(1).item<double>() + p.norm().item<double>();
    for (const at::Tensor& of : {p, magnitudes}) {
        total += of.min().item<double>() + of.max().item<double>() + of.sum().item<double>() +
                 of.mean().item<double>() + of.var(false).item<double>() + of.std(false).item<double>() +
                 of.prod().item<double>();
    }
    return total;
}

double sum_by_torch(const at::Tensor& p) { return p.sum().item<double>(); }

// A hook and its watch, whose steps are written and removed between those that are timed.
class watched {
public:
    watched(const square_net& net, smd::hook_options options)
        : root_(options.out_dir), hook_(std::move(options)), watch_(hook_, net) {}

    void step() {
        watch_.step();
        hook_.end_step();
        ++steps_;
    }
    void write() {
        hook_.flush();
        std::filesystem::remove_all(root_ + "/events");
    }
    // Shows that the steps were saved with all their tensors.
    void check(std::size_t tensors_a_step) {
        const smd::hook_counters counted = hook_.counters();
        if (counted.tensors != steps_ * tensors_a_step || counted.lost_steps != 0) {
            throw std::runtime_error("saved " + std::to_string(counted.tensors) + " tensors in " +
                                     std::to_string(steps_) + " steps");
        }
    }

private:
    std::string root_;
    smd::hook hook_;
    smd::torch_watch watch_;
    std::size_t steps_ = 0;
};

bench::subject subject_of(const std::string& name, const square_net& net, watched& by) {
    return {.name = name,
            .run = [&by] { by.step(); },
            .before =
                [&] {
                    by.write();
                    net.touch();
                }};
}

void reductions_only(const square_net& net, const std::string& label, const smd::reduction_config& config,
                     double (*by_torch)(const at::Tensor&), int rounds) {
    const bench::data_folder data;
    smd::hook_options options = options_for(data.path() + "/synchronous");
    options.reduction_config = config;
    watched synchronous(net, options);
    options.out_dir = data.path() + "/background";
    options.background.pool_bytes = std::size_t{8} << 20U;
    watched background(net, options);
    const auto pass = [&](double (*computed)(const at::Tensor&), int threads) {
        return [&net, computed, threads] {
            const at::NoGradGuard no_gradients;
            at::set_num_threads(threads);
            for (const at::Tensor& each : net.all) {
                bench::keep(computed(each));
            }
            at::set_num_threads(1);
        };
    };
    std::vector<bench::subject> subjects;
    const auto add_pass = [&](const std::string& name, double (*computed)(const at::Tensor&), int threads) {
        subjects.push_back({.name = name, .run = pass(computed, threads), .before = [&] { net.touch(); }});
    };
    add_pass("torch/" + label + ", one thread, the limit", by_torch, 1);
    add_pass("torch/" + label + ", two threads", by_torch, 2);
    add_pass("torch/a sum alone, one thread", sum_by_torch, 1);
    subjects.push_back(subject_of("torch_watch/" + label + ", synchronous", net, synchronous));
    subjects.push_back(subject_of("torch_watch/" + label + ", background", net, background));
    bench::run_rounds(subjects, rounds);
    for (const bench::subject& one : subjects) {
        row(one, subjects.front());
    }
    std::printf("    synchronous / torch = %.2f (aim <= 1.1), / a sum alone = %.2f\n",
                bench::fastest(subjects[3].times) / bench::fastest(subjects[0].times),
                bench::fastest(subjects[3].times) / bench::fastest(subjects[2].times));
    synchronous.check(net.all.size());
    background.check(net.all.size());
}

void values(const square_net& net, int rounds) {
    const bench::data_folder data;
    std::vector<std::unique_ptr<std::byte[]>> copies;
    std::size_t bytes = 0;
    for (const at::Tensor& each : net.all) {
        copies.push_back(std::make_unique<std::byte[]>(each.nbytes()));
        bytes += each.nbytes();
    }
    smd::hook_options options = options_for(data.path() + "/run");
    options.background.pool_bytes = 4 * bytes;
    watched background(net, options);
    std::vector<bench::subject> subjects;
    subjects.push_back({.name = "memcpy into memory used before, the limit",
                        .run =
                            [&] {
                                for (std::size_t i = 0; i < copies.size(); ++i) {
                                    std::memcpy(copies[i].get(), net.all[i].data_ptr(), net.all[i].nbytes());
                                }
                            },
                        .before = [&] { net.touch(); }});
    subjects.push_back(subject_of("torch_watch/values, background", net, background));
    bench::run_rounds(subjects, rounds);
    for (const bench::subject& one : subjects) {
        row(one, subjects.front());
    }
    std::printf("    background / memcpy = %.2f (aim <= 1.2), %.1f GB/s\n",
                bench::fastest(subjects[1].times) / bench::fastest(subjects[0].times),
                static_cast<double>(bytes) / bench::fastest(subjects[1].times) / 1e9);
    background.check(net.all.size());
}

}  // namespace

int main(int argc, char** argv) {
    const auto parameters = static_cast<std::size_t>(bench::argument(argc, argv, 1, 100));
    const auto side = static_cast<std::int64_t>(bench::argument(argc, argv, 2, 256));
    const auto rounds = static_cast<int>(bench::argument(argc, argv, 3, 30));
    at::set_num_threads(1);  // as a hook computes on the training's thread
    at::manual_seed(1);
    const square_net net(parameters, side);
    std::printf("%zu parameters of %d x %d floats, best of %d rounds, %s\n", parameters, static_cast<int>(side),
                static_cast<int>(side), rounds, smd::simd_kernel<>{}.name().c_str());
    nothing_due(rounds);
    reductions_only(net, "min max mean l2", {.reductions = {"min", "max", "mean"}, .norms = {"l2"}}, few_by_torch,
                    rounds);
    reductions_only(net, "all 18",
                    {.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                     .abs_reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                     .norms = {"l1", "l2"},
                     .abs_norms = {"l1", "l2"}},
                    all_by_torch, rounds);
    values(net, rounds);
}
