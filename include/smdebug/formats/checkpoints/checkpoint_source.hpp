// Checkpoints as a source of a catalog: each checkpoint is a step, each array in it a tensor.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/joined_object.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace formats::detail {

/// A tensor, and the file that holds it, to which stored_tensor::where refers.
struct checkpoint_tensor {
    stored_tensor is = {};
    std::size_t file = 0;  ///< place in step_contents::files
};

/// A file of the storage with tensors.
struct checkpoint_file {
    std::string key = {};
    /// The bytes that places of tensors refer to, where these are not the file's own: those of an .npz, of deflated
    /// members, and of what lies in several files.
    std::shared_ptr<const joined_object> joined = nullptr;
};

struct step_contents {
    std::vector<checkpoint_file> files = {};
    std::vector<checkpoint_tensor> tensors = {};  ///< by name, each once
    std::vector<left_out> not_read = {};          ///< tensors, members and whole files, each with a reason
    std::vector<std::pair<std::string, std::string>> metadata = {};  ///< of .safetensors, in their order
};

/// Which file's tensors are called by their own names alone, at every step.  In all other files the name of the file,
/// see checkpoint_step::names, stands before a tensor's: "adapter/layer.weight".  A name that was given does not
/// change: if another file with that tensor comes later, the tensor of that file gets the longer name.
struct tensor_owners {
    /// By tensor: the only file that had it at the first step that was read and had it; empty if there were several.
    std::map<std::string, std::string, std::less<>> of = {};
    std::set<std::string, std::less<>> others = {};  ///< files that lay beside an owner
};

/// Reads the headers of a step's files.  A .npy has one tensor, which is named after the file, see
/// checkpoint_step::names.  If several files have tensors of the same name, `owners` decides what they are called, and
/// learns.  Left out and noted in `not_read`, while all other files are read: a damaged file; an index of shards that
/// is damaged, or names a missing file or tensor; a shard that is missing by the numbers in the other names; files of
/// its checkpoint and tensors in them that the index does not name; a tensor that a file of the same name has, too.
/// Noted there, too: a file without tensors, tensors without elements, and bytes behind an array.
/// Errors:  corrupt_data if two tensors have the same name even so; unsupported for an .npz in a program without the
///          component `archive`; those of the storage, except not_found.
/// Cost:    one or two reads a file; see npz_directory.hpp, torch_file.hpp and distributed.hpp for the others.
[[nodiscard]] step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                            const archive_options& options, tensor_owners& owners);
[[nodiscard]] step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                            const archive_options& options = {});

}  // namespace formats::detail

/// Reads .safetensors (also in shards), .npz and .npy below a storage's root, as the Trainer of Hugging Face and numpy
/// write them, and what PyTorch saves: .pt, .pth, .bin (also in shards), .ckpt, .pkl, and folders of
/// torch.distributed.checkpoint.
///  - The step comes from the name: `checkpoint-500/`, `step_500.npz`, `epoch=3-step=500.safetensors`;
///    settings.step_regex reads other names.
///  - Tensors are read directly from the file.  Those of another byte order, and numpy arrays in Fortran's order, are
///    converted when they are read.
///  - Floating-point tensors belong to the collection "biases" if "bias" is in their name, to "optimizer" if it is in
///    their file's name, to "buffers" as running statistics, else to "weights".
///    In files of PyTorch the keys on the way to a tensor decide, see collection_in_torch() in torch_file.hpp.
///  - Damaged files and tensors of unknown dtypes are noted, all others are read.  Nothing in a pickle is ever run.
///  - The run counts as growing until no file was written for `quiet_after`; if it is followed, for at least three
///    times the longest pause before a checkpoint, the first one counting from `followed_since`.
///  - A checkpoint that appears meanwhile is shown once it can be read, or has not been written to for `whole_after`.
///    A damaged checkpoint is read again when its files change; once it is whole, it is added and its problem is
///    withdrawn, as it is when its files are gone.  More about followed runs: format_options::followed_since.
/// Models catalog_source.      Cost: a listing, and one or two small reads a file.
class checkpoint_source {
public:
    struct settings {
        std::string step_regex = {};
        archive_options unpacking = {};  ///< see format_options::unpacking
        std::chrono::milliseconds quiet_after{std::chrono::minutes{10}};
        /// A file that has not been written to for so long is whole.
        std::chrono::milliseconds whole_after{std::chrono::seconds{10}};
        /// See format_options::followed_since.
        std::optional<std::chrono::system_clock::time_point> followed_since = {};
        /// If followed, a checkpoint that has not been written to for so long is complete.
        std::chrono::milliseconds complete_after{std::chrono::seconds{2}};
        std::function<std::chrono::system_clock::time_point()> now = [] { return std::chrono::system_clock::now(); };
    };

    explicit checkpoint_source(any_storage store) : checkpoint_source(std::move(store), settings{}) {}
    checkpoint_source(any_storage store, settings how) : store_(std::move(store)), how_(std::move(how)) {}

    /// Errors: those of the storage; unsupported if there are only files of other tools; value_error for
    ///         names with ambiguous steps, for a bad step_regex, and where files that come later show that the steps of
    ///         earlier ones are other numbers.
    [[nodiscard]] bool update(run_contents& contents);

    /// The storage as a run: as_run() with this source; .npz files are unpacked.
    [[nodiscard]] any_storage run() const {
        return as_run(any_storage{formats::detail::joined_storage{store_, joined_}}, *this);
    }

private:
    using time_point = std::chrono::system_clock::time_point;

    // A step that was read.
    struct known_step {
        std::vector<std::string> files = {};
        std::optional<time_point> written = {};  // the newest of them
        std::vector<std::string> problems = {};  // where each is
        std::vector<std::uint32_t> shown = {};   // its tensors, by their number in names_
        bool is_damaged = false;
    };

    [[nodiscard]] std::optional<time_point> written(const formats::detail::checkpoint_step& step) const;
    // Whether it was written recently: a missing time, or one in the future, counts as long ago.
    [[nodiscard]] bool is_younger(std::optional<time_point> written, std::chrono::system_clock::duration than) const;
    // How long nothing is written before the run counts as ended, given when the newest file of each step was written.
    [[nodiscard]] std::chrono::system_clock::duration patience(std::vector<time_point> written);
    // Whether a file of it was removed since it was listed.
    [[nodiscard]] bool is_gone(const formats::detail::checkpoint_step& step) const;
    // What was left out, as problems.
    [[nodiscard]] std::vector<problem> problems_of(const formats::detail::found_checkpoints& found) const;
    // Notes the problems of one place in the run, and withdraws its earlier ones.
    static void note(std::vector<problem> now, std::vector<std::string>& known, run_contents& contents);
    // Reads a step that is new or has changed; returns whether that gave anything new.
    [[nodiscard]] bool look(const formats::detail::checkpoint_step& step, known_step now, run_contents& contents);
    // Adds tensors that are not shown yet; returns whether there were any.
    bool add(const run_contents::place& where, const formats::detail::step_contents& read,
             std::vector<std::uint32_t>& shown, run_contents& contents);

    any_storage store_;
    settings how_;
    std::shared_ptr<formats::detail::joined_table> joined_ = std::make_shared<formats::detail::joined_table>();
    detail::string_interner names_;
    formats::detail::tensor_owners owners_;
    std::map<step_number, known_step> known_;
    std::vector<std::string> left_out_;      // where files lie that belong to no step
    bool is_followed_ = false;               // update() was called before
    std::optional<time_point> newest_;       // when the newest checkpoint was written, or following began
    std::optional<time_point> newest_seen_;  // when the newest checkpoint was written that any look has found
    std::chrono::system_clock::duration longest_pause_{0};  // before a checkpoint
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/checkpoint_source.ipp>
#endif
