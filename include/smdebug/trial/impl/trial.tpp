// The body of <smdebug/trial/trial.hpp> that is a template.
#pragma once

#include <smdebug/trial/trial.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {

template <class Storage, class Decoder, class Kernel>
    requires(!std::derived_from<Storage, trial> && storage<Storage> && tensor_decoder<Decoder> &&
             reduction_kernel<Kernel>)
trial::trial(Storage store, trial_options options, Decoder decoder, Kernel kernel)
    : trial(any_storage::to_read(std::move(store)), std::move(options), detail::any_decoder{std::move(decoder)},
            detail::any_kernel{std::move(kernel)}) {}

}  // namespace v1
}  // namespace smdebug
