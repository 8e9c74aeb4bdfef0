// A trial whose policies are known when it is compiled; create_trial(), which opens the run at a path or URI.
// Policies: storage says where the bytes are, the decoder what a record means, the kernel how reductions are computed.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// A trial that knows the type of its storage.  Otherwise it is the smdebug::trial that it derives from: a function
/// that takes `const trial&` takes it, too.
/// Cost: the policies are called once per file, record or tensor; never per element.
template <storage Storage, tensor_decoder Decoder = event_decoder<>, reduction_kernel Kernel = default_kernel>
class basic_trial : public trial {
public:
    using storage_type = Storage;
    using decoder_type = Decoder;
    using kernel_type = Kernel;

    /// Opens the run in `store`.  Errors and cost: as for trial.
    explicit basic_trial(Storage store, trial_options options = {}, Decoder decoder = Decoder{},
                         Kernel kernel = Kernel{})
        : trial(std::move(store), std::move(options), std::move(decoder), std::move(kernel)) {}

    /// Opens the run in the directory `path`.
    explicit basic_trial(std::string path, trial_options options = {}, Decoder decoder = Decoder{},
                         Kernel kernel = Kernel{})
        requires std::constructible_from<Storage, std::string> && (!std::same_as<Storage, memory_storage>)
        : basic_trial(Storage(std::move(path)), std::move(options), std::move(decoder), std::move(kernel)) {}

    [[nodiscard]] const Storage& store() const noexcept {
        if constexpr (std::same_as<Storage, any_storage>) {
            return trial::store();
        } else {
            return *trial::store().template target<Storage>();
        }
    }
};

/// A run in a directory of this machine; a run in memory.
using local_trial = basic_trial<local_storage>;
using memory_trial = basic_trial<memory_storage>;

#ifdef SMDEBUG_COMPILED
// Instantiated in the library.
extern template trial::trial(local_storage, trial_options, event_decoder<>, default_kernel);
extern template trial::trial(memory_storage, trial_options, event_decoder<>, default_kernel);
#endif

namespace detail {

/// The storage of a run.  Files that are written once are cached, unless the options say otherwise.
[[nodiscard]] any_storage open_storage_of_run(std::string_view path, storage_options options);

/// Called where there is no run: if the data there need <smdebug/formats.hpp>, says so.
/// Errors: unsupported; those of the storage.
void refuse_other_data(std::string_view path, const any_storage& store);

}  // namespace detail

/// Opens the run at `path`: a directory, or "s3://bucket/prefix"; in programs of which a file includes
/// <smdebug/archive.hpp> or <smdebug/formats.hpp> also an archive, or data of TensorBoard, PyTorch or numpy.
/// Errors: as basic_trial's constructor, and those of open_storage(); unsupported for a log or checkpoints in a program
///         of which no file includes <smdebug/formats.hpp>.
[[nodiscard]] trial create_trial(std::string_view path, trial_options options = {}, storage_options storage = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/basic_trial.ipp>
#endif
