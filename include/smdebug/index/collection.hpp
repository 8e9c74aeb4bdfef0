// A collection: a named group of tensors, with what is saved of them and when.
// Apart from the reader of the files, so that options and rules need no JSON parser to speak of one.
// Used by: index/collections_file.hpp, trial, rules.
#pragma once

#include <smdebug/core/step.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// When a collection's tensors are saved in one mode.
struct save_config_mode {
    std::int64_t save_interval = 500;
    std::vector<step_number> save_steps = {};
    std::optional<step_number> start_step = {};
    std::optional<step_number> end_step = {};
};

/// What of a collection's tensors is saved.
struct reduction_config {
    std::vector<std::string> reductions = {};  ///< as in the file: "min", "abs_max", "l1_norm", "abs_l2_norm"
    bool save_raw_tensor = false;
    bool save_shape = false;
};

/// A named group of tensors, by name and by regex.
struct collection {
    std::string name = {};
    std::vector<std::string> include_regex = {};
    std::vector<std::string> tensor_names = {};  ///< sorted, each once
    std::optional<std::map<mode, save_config_mode>> save_config = {};
    std::optional<smdebug::reduction_config> reduction_config = {};
    bool save_histogram = true;
};

}  // namespace v1
}  // namespace smdebug
