// The same hook on a model of libtorch: weights and gradients are saved without a copy.
// Usage: train_libtorch OUT_DIR
// Built where CMake finds libtorch (Debian package libtorch-dev).
#include <smdebug/smdebug.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>

namespace smd = smdebug;

// --- what joins libtorch and smdebug: copy it into your program -----------------------------------------------------

smd::dtype dtype_of(torch::ScalarType type) {
    switch (type) {
        case torch::kFloat32:
            return smd::dtype::float32;
        case torch::kFloat64:
            return smd::dtype::float64;
        case torch::kFloat16:
            return smd::dtype::float16;
        case torch::kBFloat16:
            return smd::dtype::bfloat16;
        case torch::kInt8:
            return smd::dtype::int8;
        case torch::kInt16:
            return smd::dtype::int16;
        case torch::kInt32:
            return smd::dtype::int32;
        case torch::kInt64:
            return smd::dtype::int64;
        case torch::kUInt8:
            return smd::dtype::uint8;
        case torch::kBool:
            return smd::dtype::boolean;
        case torch::kComplexFloat:
            return smd::dtype::complex64;
        case torch::kComplexDouble:
            return smd::dtype::complex128;
        default:
            return smd::dtype::invalid;  // quantised and half complex numbers: save_tensor refuses them
    }
}

// Saves a tensor if it is due at this step; nothing is fetched or copied where it is not.
template <class Hook>
bool save(Hook& hook, const std::string& name, const torch::Tensor& tensor) {
    if (!tensor.defined() || !hook.should_save(name)) {
        return false;  // not defined: a parameter that had no gradient
    }
    const torch::Tensor here = tensor.detach().cpu().contiguous();  // the tensor itself where it is that already
    const smd::extents_view shape{here.sizes()};
    const std::span bytes{static_cast<const std::byte*>(here.data_ptr()), here.nbytes()};
    return hook.save_tensor(
        name,
        smd::tensor_view{.type = dtype_of(here.scalar_type()), .shape = shape.get(), .bytes = bytes, .strings = {}});
}

// Weights, biases and gradients of a module, under the names that the Python package gives them.
template <class Hook>
void save_parameters(Hook& hook, const torch::nn::Module& model) {
    for (const auto& parameter : model.named_parameters()) {
        save(hook, parameter.key(), parameter.value());
        save(hook, "gradient/" + parameter.key(), parameter.value().grad());
    }
}

// --- a training loop ------------------------------------------------------------------------------------------------

struct model : torch::nn::Module {
    model()
        : fc1(register_module("fc1", torch::nn::Linear(2, 64))),
          fc2(register_module("fc2", torch::nn::Linear(64, 2))) {}
    torch::Tensor forward(const torch::Tensor& batch) {
        hidden = torch::tanh(fc1->forward(batch));
        return fc2->forward(hidden);
    }
    torch::nn::Linear fc1;
    torch::nn::Linear fc2;
    torch::Tensor hidden;
};

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: train_libtorch OUT_DIR\n";
        return 2;
    }
    try {
        torch::manual_seed(7);
        const torch::Tensor points = torch::rand({1024, 2}) * 2 - 1;
        const torch::Tensor classes =
            (points.select(1, 0) * points.select(1, 1) > 0).to(torch::kInt64);  // a chessboard
        model net;
        torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.5).momentum(0.9));

        smd::hook hook{{.out_dir = arguments[1],
                        .save_config = {.save_interval = 20},
                        .include_collections = {"weights", "biases", "gradients"},
                        .include_regex = {"tanh_output", "^labels$"}}};
        double accuracy = 0;
        for (int step = 0; step < 200; ++step) {
            optimizer.zero_grad();
            const torch::Tensor scores = net.forward(points);
            const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, classes);
            loss.backward();
            save_parameters(hook, net);
            save(hook, "tanh_output_0", net.hidden);
            save(hook, "labels", classes);
            save(hook, "CrossEntropyLoss_output_0", loss);
            optimizer.step();
            if (step % 20 == 0) {
                accuracy = (scores.argmax(1) == classes).to(torch::kFloat64).mean().item<double>();
                hook.save_scalar("accuracy", accuracy);
                std::printf("step %3d  loss %.4f  accuracy %.3f\n", step, loss.item<double>(), accuracy);
            }
            hook.end_step();
        }
        hook.close();
        return accuracy > 0.9 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
    } catch (const c10::Error& failed) {
        std::cerr << failed.what_without_backtrace() << '\n';
    }
    return EXIT_FAILURE;
}
