// A trial whose policies are known when it is compiled; create_trial(), which opens the run at a path or URI.
// Policies: storage says where the bytes are, the decoder what a record means, the kernel how reductions are computed.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
        requires std::constructible_from<Storage, std::string> && place_prober<Storage>
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
[[nodiscard]] inline any_storage open_storage_of_run(std::string_view path, storage_options options) {
    if (!options.cacheable) {
        options.cacheable = is_written_once;
    }
    const format_openers* const formats = known_openers().formats;
    if (options.formats.as != data_format::smdebug && formats != nullptr) {
        return formats->open_run(path, options);
    }
    return open_storage(path, std::move(options));
}

/// Called where there is no run: if the data there need <smdebug/formats.hpp>, says so.
/// Errors: unsupported; those of the storage.
inline void refuse_other_data(std::string_view path, const any_storage& store) {
    std::string found{is_data_file(path) && store.place() == place_kind::file ? path : std::string_view{}};
    if (found.empty()) {
        constexpr std::size_t most = 1000;  // enough to recognize a folder; a bucket may have millions
        const std::vector<std::string> keys = some_keys(store, "", most);
        const auto data = std::find_if(keys.begin(), keys.end(), is_data_file);
        found = data != keys.end() ? *data : found;
    }
    if (!found.empty()) {
        throw unsupported("this program was built without logs and checkpoints, so that it cannot open " +
                              std::string{path} + " (" + found + "): include <smdebug/formats.hpp> in one of its files",
                          {.where = std::string{path}});
    }
}

}  // namespace detail

/// Opens the run at `path`: a directory, or "s3://bucket/prefix"; in programs of which a file includes
/// <smdebug/archive.hpp> or <smdebug/formats.hpp> also an archive, or data of TensorBoard, PyTorch or numpy.
/// Errors: as basic_trial's constructor, and those of open_storage(); unsupported for a log or checkpoints in a program
///         of which no file includes <smdebug/formats.hpp>.
[[nodiscard]] inline trial create_trial(std::string_view path, trial_options options = {},
                                        storage_options storage = {}) {
    const bool is_run = storage.formats.as == data_format::smdebug || detail::opens_other_data();
    const any_storage store = detail::open_storage_of_run(path, std::move(storage));
    try {
        return trial{store, std::move(options)};
    } catch (const not_found&) {
        if (!is_run) {
            detail::refuse_other_data(path, store);
        }
        throw;
    }
}

}  // namespace smdebug::inline v1
