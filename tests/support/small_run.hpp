// Runs in memory, made of lists of numbers.
#pragma once

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace smdebug_test {

/// The values of tensors, by name and step.
using small_tensors = std::map<std::string, std::map<smdebug::step_number, std::vector<double>>>;

enum class saves_of { values, reductions };

/// A run of one worker, of TRAIN steps.  With saves_of::reductions all reductions of the values are saved, as a hook
/// saves them, and neither values nor shapes.
inline smdebug::memory_storage small_store(const small_tensors& tensors, saves_of what, bool ended,
                                           const std::map<std::string, std::vector<std::string>>& groups) {
    std::map<smdebug::step_number, written_step> steps;
    for (const auto& [name, saves] : tensors) {
        for (const auto& [step, values] : saves) {
            written_step& made = steps.try_emplace(step, written_step{.step = step}).first->second;
            if (what == saves_of::values) {
                made.tensors.push_back(tensor_of(name, values));
                continue;
            }
            const std::vector<std::size_t> shape{values.size()};
            const smdebug::tensor_view view{.type = smdebug::dtype::float64,
                                            .shape = shape,
                                            .bytes = std::as_bytes(std::span{values}),
                                            .strings = {}};
            const auto reduced = smdebug::scalar_kernel{}.reduce(view, smdebug::reduction_set::all());
            for (std::size_t i = 0; i < 2 * smdebug::reduction_count; ++i) {
                const auto key = smdebug::reduction_key::from_index(i);
                made.tensors.push_back(saved(key.name(), name, static_cast<float>((*reduced)(key.what, key.abs))));
            }
        }
    }
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, groups);
    for (const auto& [step, made] : steps) {
        build.step(made);
    }
    if (ended) {
        build.end();
    }
    return store;
}

inline smdebug::memory_trial small_run(const small_tensors& tensors,
                                       const std::map<std::string, std::vector<std::string>>& groups = {}) {
    return smdebug::memory_trial{small_store(tensors, saves_of::values, true, groups)};
}

/// A run of which only reductions were saved.
inline smdebug::memory_trial reduced_run(const small_tensors& tensors,
                                         const std::map<std::string, std::vector<std::string>>& groups = {}) {
    return smdebug::memory_trial{small_store(tensors, saves_of::reductions, true, groups)};
}

}  // namespace smdebug_test
