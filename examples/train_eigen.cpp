// A training in Eigen, and the ten lines that save it: those with smd:: or hook in them.
// Usage: train_eigen OUT_DIR
// Built where CMake finds Eigen (Debian package libeigen3-dev).
#include <smdebug/smdebug.hpp>

#include <Eigen/Core>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace smd = smdebug;

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: train_eigen OUT_DIR\n";
        return EXIT_FAILURE;
    }
    try {
        const Eigen::Index samples = 256;
        const Eigen::MatrixXf points = Eigen::MatrixXf::Random(samples, 3);
        const Eigen::VectorXf wanted = points * Eigen::Vector3f{2, -1, 0.5F};
        Eigen::MatrixXf weight = Eigen::MatrixXf::Zero(3, 1);

        smd::hook hook({.out_dir = arguments[1],
                        .save_config = {.save_interval = 10},
                        .include_collections = {"weights", "gradients", "losses"}});
        float loss = 0;
        for (int step = 0; step < 100; ++step) {
            const Eigen::VectorXf off = points * weight - wanted;
            loss = off.squaredNorm() / static_cast<float>(samples);
            const Eigen::MatrixXf gradient = 2.0F / static_cast<float>(samples) * points.transpose() * off;
            hook.save_tensor("loss", loss);
            hook.save_tensor("linear.weight", weight, {"weights"});
            hook.save_tensor("gradient/linear.weight", gradient);
            weight -= 0.5F * gradient;
            hook.end_step();
        }
        hook.close();
        std::printf("loss %.6f\n", static_cast<double>(loss));
        return loss < 1e-4F ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
    }
    return EXIT_FAILURE;
}
