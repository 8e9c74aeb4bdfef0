// A hook: what a training loop saves tensors with, in the run format of the Python package.
// Composed of policies: where the files go, how reductions are computed, and what the time is.
#pragma once

#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/hook_base.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/wall_clock.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/writable.hpp>

#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// A hook that is made of policies.  What can be done with it is in hook_base, which it is: a function that takes a
/// `hook_base&` takes any hook.
/// Cost: what the policies do is called once a step, a file or a tensor; never once an element.
template <writable_storage Storage = local_storage, reduction_kernel Kernel = default_kernel,
          wall_clock Clock = system_wall_clock>
class basic_hook : public hook_base {
public:
    using storage_type = Storage;
    using kernel_type = Kernel;
    using clock_type = Clock;

    /// Writes into the storage that options.out_dir names.
    /// Errors: value_error (options); in_use (another living process writes as this worker, where the storage can
    ///         tell); run_exists; what the storage throws.
    explicit basic_hook(const hook_options& options, Kernel kernel = Kernel{}, Clock clock = Clock{})
        requires detail::named_storage<Storage>
        : hook_base(options, detail::any_kernel{std::move(kernel)}, detail::any_clock{std::move(clock)},
                    detail::opener_of<Storage>()) {}

    /// Writes into `store`; options.out_dir is not looked at.
    basic_hook(Storage store, hook_options options, Kernel kernel = Kernel{}, Clock clock = Clock{})
        : hook_base(detail::erased_storage(std::move(store)), std::move(options), detail::any_kernel{std::move(kernel)},
                    detail::any_clock{std::move(clock)}, detail::opener_of<Storage>()) {}

    /// A hook by the JSON file that SageMaker writes: `path`, or else the one that SMDEBUG_CONFIG_FILE_PATH names, or
    /// else /opt/ml/input/config/debughookconfig.json.      Errors: as hook_options_from_json_file, and those above.
    [[nodiscard]] static basic_hook from_json_file(std::optional<std::string> path = {})
        requires detail::named_storage<Storage>
    {
        return basic_hook(options_of_json_file(std::move(path)));
    }
};

}  // namespace v1
}  // namespace smdebug
