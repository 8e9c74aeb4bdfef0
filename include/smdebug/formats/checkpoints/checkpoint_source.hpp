// Checkpoints as what a catalog is built from: each is a step, each array in it a tensor.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/read_checkpoint.hpp>
#include <smdebug/formats/checkpoints/unpacked_npz.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog_source.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
///  - Damaged files and tensors of unknown dtypes are noted, the rest is read.
///    PyTorch's pickles are never read.
///  - More checkpoints may come until nothing was written for `quiet_after`.  One that comes while the run is followed is shown
///    once it can be read, or has not been written to for `whole_after`.  What is damaged is looked at again when its files
///    change: what has become whole is added, and is no problem any longer.
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

    /// The storage as a run: as_run() with this source, in which .npz are unpacked.
    [[nodiscard]] any_storage run() const {
        return as_run(any_storage{formats::detail::npz_storage{store_, npz_}}, *this);
    }

private:
    using time_point = std::chrono::system_clock::time_point;

    // A step that was looked at.
    struct known_step {
        std::vector<std::string> files = {};
        std::optional<time_point> written = {};  // the newest of them
        std::vector<std::string> problems = {};  // where each is
        std::vector<std::uint32_t> shown = {};   // its tensors, by their number in names_
        bool is_damaged = false;
    };

    [[nodiscard]] std::optional<time_point> written(const formats::detail::checkpoint_step& step) const;
    // Whether it was written so short a time ago: no time, or one in the future, is long ago.
    [[nodiscard]] bool is_younger(std::optional<time_point> written, std::chrono::milliseconds than) const;
    // Notes the problems of one place in the run, and withdraws those that it had before.
    static void note(std::vector<problem> now, std::vector<std::string>& known, run_contents& contents);
    // Looks at a step that is new or has changed; returns whether there is anything new in it.
    [[nodiscard]] bool look(const formats::detail::checkpoint_step& step, known_step now, run_contents& contents);
    // Adds what is not shown yet; returns whether there was anything.
    bool add(const run_contents::place& where, const formats::detail::step_contents& read,
             std::vector<std::uint32_t>& shown, run_contents& contents);

    any_storage store_;
    settings how_;
    std::shared_ptr<formats::detail::npz_table> npz_ = std::make_shared<formats::detail::npz_table>();
    detail::numbered_texts names_;
    std::map<step_number, known_step> known_;
    std::vector<std::string> left_out_;  // where files lie that belong to no step
    bool is_followed_ = false;           // it was asked before
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/checkpoint_source.ipp>
#endif
