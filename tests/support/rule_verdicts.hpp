// Shared by the tests of rules: checks of findings, and runs.
#pragma once

#include "support/run_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/storage/memory_storage.hpp>

namespace smdebug_test {

/// The tensors of the findings that are met, or of the notes, in their order.
inline std::vector<std::string> tensors_in(const std::vector<smdebug::finding>& findings, bool met) {
    std::vector<std::string> found;
    for (const smdebug::finding& one : findings) {
        if (one.met == met) {
            found.push_back(one.tensor);
        }
    }
    return found;
}

/// A saved reduction, as hooks name it: saved("abs_max", "w", 1).
inline written_tensor saved(const std::string& what, const std::string& tensor, float value) {
    return tensor_of<float>("smdebug/reductions/" + what + "/" + tensor, {value});
}

/// The loss of a step, and its mode.
struct saved_loss {
    smdebug::mode in;
    double loss;
};
constexpr saved_loss train(double loss) { return {smdebug::mode::train, loss}; }
constexpr saved_loss eval(double loss) { return {smdebug::mode::eval, loss}; }

/// A run that saves "loss", in the collection "losses", at steps 0, 1, ..., and `other`, which is in none.
inline smdebug::memory_storage run_of_losses(const std::vector<saved_loss>& all, const written_tensor& other) {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (std::size_t i = 0; i < all.size(); ++i) {
        build.step({.step = static_cast<smdebug::step_number>(i),
                    .tensors = {tensor_of<double>("loss", {all[i].loss}), other},
                    .mode = all[i].in});
    }
    build.end();
    return store;
}

}  // namespace smdebug_test
