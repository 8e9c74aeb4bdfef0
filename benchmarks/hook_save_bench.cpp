// What a hook costs a training loop, beside the limits measured in the same run: write(2) of the same bytes to the same
// files, memcpy of the bytes, the reduction kernel alone; and the cost of should_save when nothing is due.
//   hook_save_bench [TENSORS=20] [BYTES_EACH=262144] [STEPS_A_ROUND=40] [ROUNDS=7]
#include "bench.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

struct workload {
    std::vector<std::string> names;
    std::vector<std::vector<float>> tensors;
    int steps = 0;
    [[nodiscard]] std::size_t step_bytes() const { return tensors.size() * tensors.front().size() * sizeof(float); }
};

workload make(std::size_t tensors, std::size_t bytes, int steps) {
    workload made;
    made.steps = steps;
    for (std::size_t i = 0; i < tensors; ++i) {
        made.names.push_back("layer_" + std::to_string(i) + ".weight");
        made.tensors.emplace_back(bytes / sizeof(float));
        for (std::size_t j = 0; j < made.tensors.back().size(); ++j) {
            made.tensors.back()[j] = static_cast<float>((i * 31 + j * 7) % 1001) / 1000.0F - 0.5F;
        }
    }
    return made;
}

void check(bool good, const char* what) {
    if (!good) {
        std::perror(what);
        std::exit(1);
    }
}

void write_all(int file, const void* bytes, std::size_t count) {
    check(::write(file, bytes, count) == static_cast<ssize_t>(count), "write");
}

int create(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    check(file >= 0, path.c_str());
    return file;
}

// The files of a run by write(2) and nothing else: folders, event files, index files of the same size.
void write_plainly(const std::string& root, const workload& work, const std::string& index) {
    for (const char* folder : {"", "/events", "/index", "/index/000000000"}) {
        ::mkdir((root + folder).c_str(), 0777);
    }
    const std::string small(120, 'x');  // the bytes around a tensor's elements
    for (int step = 0; step < work.steps; ++step) {
        const std::string number = smd::detail::locations::zero_padded(step, 12);
        ::mkdir((root + "/events/" + number).c_str(), 0777);
        int file = create(root + "/events/" + number + "/" + number + "_worker_0.tfevents");
        for (const auto& tensor : work.tensors) {
            write_all(file, tensor.data(), tensor.size() * sizeof(float));
        }
        write_all(file, std::string(small.size() * work.tensors.size(), 'x').data(),
                  small.size() * work.tensors.size());
        ::close(file);
        file = create(root + "/index/000000000/" + number + "_worker_0.json");
        write_all(file, index.data(), index.size());
        ::close(file);
    }
}

smd::hook_options options_for(const std::string& root) {
    return {.out_dir = root, .save_config = {.save_interval = 1}, .save_all = true};
}

template <class Hook>
void save_step(Hook& hook, const workload& work) {
    for (std::size_t i = 0; i < work.names.size(); ++i) {
        hook.save_tensor(work.names[i], work.tensors[i]);
    }
    hook.end_step();
}

template <class Hook>
void save_steps(Hook& hook, const workload& work) {
    for (int step = 0; step < work.steps; ++step) {
        save_step(hook, work);
    }
}

void row(const std::string& name, double median_s, double bytes, double steps, double against_s) {
    std::printf("%-52s %9.1f us/step %7.2f GB/s  %5.2f x\n", name.c_str(), median_s / steps * 1e6,
                bytes / median_s / 1e9, against_s / median_s);
}

void synchronous(const workload& work, int rounds) {
    const bench::data_folder data;
    int made = 0;
    const auto fresh = [&] { return data.path() + "/run_" + std::to_string(made++); };
    std::string index;
    {
        smd::memory_storage store;
        smd::basic_hook<smd::memory_storage> hook{store, options_for("-")};
        workload one = work;
        one.steps = 1;
        save_steps(hook, one);
        index = smd::as_text(store.read("index/000000000/000000000000_worker_0.json").view());
    }
    std::vector<double> plain;
    std::vector<double> ours;
    std::vector<double> checked;
    for (int round = 0; round <= rounds; ++round) {
        const auto timed = [&](std::vector<double>& times, auto&& run) {
            const std::string root = fresh();
            const double taken = bench::seconds([&] { run(root); });
            std::filesystem::remove_all(root);
            if (round > 0) {
                times.push_back(taken);
            }
        };
        timed(plain, [&](const std::string& root) { write_plainly(root, work, index); });
        timed(ours, [&](const std::string& root) {
            smd::hook hook{options_for(root)};
            save_steps(hook, work);
            hook.close();
        });
        timed(checked, [&](const std::string& root) {
            auto options = options_for(root);
            options.payload_checksum = smd::record::footer_kind::checksum;
            smd::hook hook{options};
            save_steps(hook, work);
            hook.close();
        });
    }
    const double bytes = static_cast<double>(work.step_bytes()) * work.steps;
    row("hook/write(2), the limit", bench::median(plain), bytes, work.steps, bench::median(plain));
    row("hook/synchronous", bench::median(ours), bytes, work.steps, bench::median(plain));
    row("hook/synchronous, true checksums", bench::median(checked), bytes, work.steps, bench::median(plain));
}

void background(const workload& work, int rounds) {
    const bench::data_folder data;
    // Copies each step's bytes into memory that was used a step before, like a pool.
    std::vector<std::unique_ptr<std::byte[]>> copies;
    for (const auto& tensor : work.tensors) {
        copies.push_back(std::make_unique<std::byte[]>(tensor.size() * sizeof(float)));
    }
    std::vector<double> copied;
    std::vector<double> ours;
    smd::hook_options options = options_for(data.path() + "/run");
    options.background = {.pool_bytes = 4 * work.step_bytes()};
    smd::hook hook{options};
    for (int step = 0; step <= rounds * 10; ++step) {
        const double by_memcpy = bench::seconds([&] {
            for (std::size_t i = 0; i < copies.size(); ++i) {
                std::memcpy(copies[i].get(), work.tensors[i].data(), work.tensors[i].size() * sizeof(float));
            }
        });
        const double by_hook = bench::seconds([&] { save_step(hook, work); });
        hook.flush();  // the training computes meanwhile
        if (step > 0) {
            copied.push_back(by_memcpy);
            ours.push_back(by_hook);
        }
        std::filesystem::remove_all(data.path() + "/run/events");
    }
    const auto bytes = static_cast<double>(work.step_bytes());
    row("hook/memcpy, the limit", bench::median(copied), bytes, 1, bench::median(copied));
    row("hook/background, cost to the training thread", bench::median(ours), bytes, 1, bench::median(copied));
    std::printf("    background / memcpy = %.2f (aim <= 1.2)\n", bench::median(ours) / bench::median(copied));
}

void reductions_only(const workload& work, int rounds) {
    const bench::data_folder data;
    const smd::simd_kernel<> kernel;
    const smd::reduction_config everything{.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                                           .abs_reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                                           .norms = {"l1", "l2"},
                                           .abs_norms = {"l1", "l2"}};
    const smd::reduction_config few{.reductions = {"min", "max", "mean"}, .norms = {"l2"}};
    for (const auto& [label, config] : {std::pair{"all 18", everything}, std::pair{"min max mean l2", few}}) {
        const smd::reduction_set wanted = smd::detail::make_reduction_plan(config).wanted;
        std::vector<double> alone;
        const auto by_hook = [&](std::size_t pool) {
            smd::hook_options options = options_for(data.path() + "/run");
            options.reduction_config = config;
            options.background.pool_bytes = pool;
            smd::hook hook{options};
            std::vector<double> times;
            for (int step = 0; step < work.steps * rounds; ++step) {
                alone.push_back(bench::seconds([&] {
                    for (const auto& tensor : work.tensors) {
                        const std::array shape{tensor.size()};
                        bench::keep(kernel.reduce(smd::view_of(tensor, shape, "t"), wanted)->value[0]);
                    }
                }));
                times.push_back(bench::seconds([&] { save_step(hook, work); }));
                hook.flush();  // the training computes meanwhile
            }
            hook.close();
            std::filesystem::remove_all(options.out_dir);
            return times;
        };
        const std::vector<double> ours = by_hook(0);
        const std::vector<double> beside = by_hook(std::size_t{8} << 20U);
        const auto bytes = static_cast<double>(work.step_bytes());
        const std::string name = std::string{"hook/reductions only, "} + label;
        row(name + ": the kernel alone", bench::median(alone), bytes, 1, bench::median(alone));
        row(name + ", synchronous", bench::median(ours), bytes, 1, bench::median(alone));
        row(name + ", background", bench::median(beside), bytes, 1, bench::median(alone));
    }
}

// Asks for each tensor in a loop of its own; and once a step, whose computing has emptied the caches meanwhile.
template <class Hook>
void ask(Hook& hook, const workload& work, const char* what) {
    constexpr int rounds = 1'000'000;
    constexpr int steps = 50;
    int yes = 0;
    const auto ask_all = [&] {
        for (const std::string& name : work.names) {
            yes += hook.should_save(name) ? 1 : 0;
        }
    };
    const auto calls = static_cast<double>(work.names.size());
    const double warm = bench::seconds([&] {
        for (int i = 0; i < rounds; ++i) {
            ask_all();
        }
    });
    std::vector<double> cold;
    std::vector<float> memory(std::size_t{1} << 26U);
    for (int step = 0; step < steps; ++step) {
        for (float& each : memory) {
            each += 1;
        }
        cold.push_back(bench::seconds(ask_all));
    }
    bench::keep(yes);
    bench::keep(memory.back());
    std::printf("%-52s %9.1f ns   cold: %.1f ns   (yes: %d)\n", what, warm / rounds / calls * 1e9,
                bench::median(cold) / calls * 1e9, yes);
}

void asking(const workload& work) {
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{
        store, {.save_config = {.save_interval = 1'000'000}, .include_collections = {"weights"}}};
    hook.set_step(1);
    ask(hook, work, "hook/should_save, nothing is due at this step");
    smd::memory_storage other;
    smd::basic_hook<smd::memory_storage> busy{other, {.save_config = {.save_interval = 1}}};
    ask(busy, work, "hook/should_save, others are due, this one is not");
}

}  // namespace

int main(int argc, char** argv) {
    const auto tensors = static_cast<std::size_t>(bench::argument(argc, argv, 1, 20));
    const auto bytes = static_cast<std::size_t>(bench::argument(argc, argv, 2, 262144));
    const auto steps = static_cast<int>(bench::argument(argc, argv, 3, 40));
    const auto rounds = static_cast<int>(bench::argument(argc, argv, 4, 7));
    const workload work = make(tensors, bytes, steps);
    std::printf("%zu tensors of %zu bytes a step, %d steps a round, median of %d rounds, %s\n", tensors, bytes, steps,
                rounds, smd::simd_kernel<>{}.name().c_str());
    synchronous(work, rounds);
    background(work, rounds);
    reductions_only(work, rounds);
    asking(work);
}
