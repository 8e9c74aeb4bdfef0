// Checkpoints as what a catalog is built from: each is a step, each array in it a tensor.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/read_checkpoint.hpp>
#include <smdebug/formats/run_contents.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Reads .safetensors (also in shards), .npz and .npy below a storage's root: what the Trainer of Hugging Face leaves, and
/// folders of numpy's files.
///  - The step is that of the name: `checkpoint-500/`, `step_500.npz`, `epoch=3-step=500.safetensors`; settings.step_regex says
///    it where names are others.
///  - Tensors lie in the file as they are in memory, and are read from there.  Those of another byte order, and those that numpy
///    has in Fortran's order, are turned around when they are read.
///  - Tensors of floating point are in the collection "biases" where "bias" is in their name, in "optimizer" where they lie in
///    a file of that name, else in "weights".
///  - Damaged files and tensors of unknown dtypes are noted, the rest is read.  PyTorch's pickles are never read.
///  - More checkpoints may come until nothing was written for `quiet_after`; one that was written a moment ago and cannot be
///    read is looked at again.
/// Models catalog_source.      Cost: a listing, and one or two small reads a file.
class checkpoint_source {
public:
    struct settings {
        std::string step_regex = {};
        archive_options archive = {};  ///< of .npz
        std::chrono::milliseconds quiet_after{std::chrono::minutes{10}};
        /// A file that was written so long ago is whole.
        std::chrono::milliseconds whole_after{std::chrono::seconds{10}};
        std::function<std::chrono::system_clock::time_point()> now = [] { return std::chrono::system_clock::now(); };
    };

    explicit checkpoint_source(any_storage store) : checkpoint_source(std::move(store), settings{}) {}
    checkpoint_source(any_storage store, settings how) : store_(std::move(store)), how_(std::move(how)) {}

    /// Errors: those of the storage; unsupported where there are pickles alone; value_error for names whose steps cannot be
    ///         told apart, and for a bad step_regex.
    [[nodiscard]] bool update(run_contents& contents);

private:
    // The time since the newest of a step's files was written; the longest there is where nobody knows.
    [[nodiscard]] std::chrono::system_clock::duration age_of(const formats::detail::checkpoint_step& step) const;
    void add(const formats::detail::checkpoint_step& step, const formats::detail::step_contents& read,
             run_contents& contents) const;
    void add(const run_contents::place& where, const formats::detail::checkpoint_file& file,
             const formats::detail::stored_tensor& tensor, run_contents& contents) const;

    any_storage store_;
    settings how_;
    std::set<step_number> done_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/checkpoint_source.ipp>
#endif
