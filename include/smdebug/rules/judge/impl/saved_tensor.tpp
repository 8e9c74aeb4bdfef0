// The bodies of <smdebug/rules/judge/saved_tensor.hpp> that are templates.
#pragma once

#include <smdebug/rules/judge/saved_tensor.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

template <reducible_tensor Handle>
lookup<reduction_values> saved_tensor<Handle>::counts() const {
    if constexpr (countable_tensor<Handle>) {
        return handle_.find_computed(step_, reduction_set::counts(), read_options{.worker = worker_});
    } else {
        return absence::tensor_not_saved;
    }
}

template <reducible_tensor Handle>
lookup<tensor_value> saved_tensor<Handle>::values() const {
    if constexpr (valued_tensor<Handle>) {
        return handle_.find_value(step_, value_options{.worker = worker_});
    } else {
        return absence::tensor_not_saved;
    }
}

template <reducible_tensor Handle>
lookup<shape_type> saved_tensor<Handle>::shape() const {
    if constexpr (shaped_tensor<Handle>) {
        return handle_.find_shape(step_, read_options{.worker = worker_});
    } else {
        return absence::shape_not_saved;
    }
}

template <reducible_tensor Handle>
finding saved_tensor<Handle>::met(double value, double threshold, std::string message) const {
    return {.met = true,
            .tensor = name_,
            .worker = worker_,
            .value = value,
            .threshold = threshold,
            .message = std::move(message)};
}

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
