// A trial whose policies are known when it is compiled.
// Storage says where the bytes are, the decoder what a record means, the kernel how reductions are computed.
#pragma once

#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// A trial that knows the type of its storage.  Everything else is as smdebug::trial has it, which it is: a function that
/// takes `const trial&` takes it, too.
/// Cost: what the policies do is called once a file, a record or a tensor; never once an element.
template <storage Storage, tensor_decoder Decoder = event_decoder<>, reduction_kernel Kernel = default_kernel>
class basic_trial : public trial {
public:
    using storage_type = Storage;
    using decoder_type = Decoder;
    using kernel_type = Kernel;

    /// Opens the run that lies in `store`.  Errors and cost: as trial's.
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
// The library has these.
extern template trial::trial(local_storage, trial_options, event_decoder<>, default_kernel);
extern template trial::trial(memory_storage, trial_options, event_decoder<>, default_kernel);
#endif

}  // namespace v1
}  // namespace smdebug
