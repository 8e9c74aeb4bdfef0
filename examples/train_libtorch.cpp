// A training of libtorch, and the ten lines that save it: those with smd:: or hook in them, and watch.step().
// Usage: train_libtorch OUT_DIR
// Built where CMake finds libtorch (Debian package libtorch-dev).
#include <smdebug/smdebug.hpp>
#include <smdebug/torch.hpp>

#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace smd = smdebug;

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: train_libtorch OUT_DIR\n";
        return EXIT_FAILURE;
    }
    try {
        torch::manual_seed(7);
        const torch::Tensor points = torch::rand({1024, 2}) * 2 - 1;
        const torch::Tensor classes =
            (points.select(1, 0) * points.select(1, 1) > 0).to(torch::kInt64);  // a chessboard
        torch::nn::Sequential net{torch::nn::Linear(2, 64), torch::nn::Tanh(), torch::nn::Linear(64, 2)};
        torch::nn::CrossEntropyLoss criterion;
        torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.5).momentum(0.9));

        smd::hook hook({.out_dir = arguments[1],
                        .save_config = {.save_interval = 20},
                        .include_collections = {"weights", "biases", "gradients"}});
        smd::torch_watch watch(hook, net);
        double accuracy = 0;
        for (int step = 0; step < 200; ++step) {
            optimizer.zero_grad();
            const torch::Tensor scores = net->forward(points);
            const torch::Tensor loss = watch.forward(criterion, scores, classes);  // saves it, too
            loss.backward();
            watch.step();  // weights, biases, gradients: where they are due
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
    } catch (const std::exception& failed) {  // smd::error, c10::Error
        std::cerr << failed.what() << '\n';
    }
    return EXIT_FAILURE;
}
