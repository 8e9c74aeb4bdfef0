// Tensors that another framework hands over by DLPack, saved by a hook; and values that were read, handed back to it.
// Usage: train_dlpack OUT_DIR
// Built where CMake finds DLPack (Debian package libdlpack-dev).
#include <smdebug/dlpack.hpp>
#include <smdebug/smdebug.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace smd = smdebug;

namespace {

// In the place of a framework: a weight of 3 rows and 2 columns that it keeps column by column, and trains.
struct framework {
    std::array<float, 6> memory{0.5F, -1, 2, 0.25F, 1, -3};
    std::array<std::int64_t, 2> extents{3, 2};
    std::array<std::int64_t, 2> strides{1, 3};

    DLTensor weight() { return {memory.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, extents.data(), strides.data(), 0}; }
    void train() {
        for (float& each : memory) {
            each *= 0.9F;
        }
    }
    // What is its own from now on; it calls the deleter when it no longer needs it.
    static bool take(DLManagedTensor* tensor) {
        const bool is_weight = tensor->dl_tensor.ndim == 2 && tensor->dl_tensor.shape[0] == 3;
        tensor->deleter(tensor);
        return is_weight;
    }
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: train_dlpack OUT_DIR\n";
        return EXIT_FAILURE;
    }
    try {
        framework net;
        smd::hook hook(
            {.out_dir = arguments[1], .save_config = {.save_interval = 10}, .include_collections = {"weights"}});
        for (int step = 0; step < 50; ++step) {
            hook.save_tensor("linear.weight", net.weight(), {"weights"});  // a DLTensor, or a DLManagedTensor
            net.train();
            hook.end_step();
        }
        hook.close();

        smd::local_trial run(arguments[1]);
        const bool is_taken = framework::take(smd::to_dlpack(run.tensor("linear.weight").value(40)));  // no copy
        return is_taken ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
    }
    return EXIT_FAILURE;
}
