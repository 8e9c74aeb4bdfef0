// A collection: a named group of tensors, with what is saved of them and when.
// Separate from the reader of the files, so that options, rules and writers need no JSON parser.
#pragma once

#include <smdebug/core/step.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1 {

/// When a collection's tensors are saved in one mode.
struct save_config_mode {
    std::int64_t save_interval = 500;
    std::vector<step_number> save_steps = {};
    std::optional<step_number> start_step = {};
    std::optional<step_number> end_step = {};
    friend bool operator==(const save_config_mode&, const save_config_mode&) = default;
};

/// What of a collection's tensors is saved.  Reductions may be named in one list, as in a file, or in four, as in the
/// Python package's constructor; the reader of files fills the one list.
struct reduction_config {
    std::vector<std::string> reductions = {};      ///< "min", "abs_max", "l1_norm", "abs_l2_norm"
    std::vector<std::string> abs_reductions = {};  ///< of magnitudes: "max" is what `reductions` calls "abs_max"
    std::vector<std::string> norms = {};           ///< "l1", "l2"
    std::vector<std::string> abs_norms = {};       ///< "l1", "l2" of magnitudes
    bool save_raw_tensor = false;
    bool save_shape = false;
    friend bool operator==(const reduction_config&, const reduction_config&) = default;
};

/// A named group of tensors, by name and by regex.
struct collection {
    std::string name = {};
    std::vector<std::string> include_regex = {};
    std::vector<std::string> tensor_names = {};  ///< sorted, each once
    std::optional<std::map<mode, save_config_mode>> save_config = {};
    std::optional<smdebug::reduction_config> reduction_config = {};
    bool save_histogram = true;
    friend bool operator==(const collection&, const collection&) = default;
};

namespace detail {

/// What a collections file holds: the groups by name, and how many workers the job has.
struct collections_file {
    std::map<std::string, collection, std::less<>> collections;
    std::int64_t num_workers = 1;
    friend bool operator==(const collections_file&, const collections_file&) = default;
};

}  // namespace detail

}  // namespace smdebug::inline v1
