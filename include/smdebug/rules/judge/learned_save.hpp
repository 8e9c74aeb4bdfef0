// Reads one save of a run as learning sees it, for the rule `learned`: through the measures and reductions that rules
// share.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// A save and its shape.
struct learned_save {
    smdebug::detail::learn::save_look look = {};
    std::optional<shape_type> shape = {};  ///< of the values, else the saved one
};

/// Whether a look-up failed only because nothing of that kind was saved.
[[nodiscard]] inline bool was_not_saved(const lookup_error& failure) noexcept {
    return failure.why == lookup_failure_kind::tensor_not_saved || failure.why == lookup_failure_kind::shape_not_saved;
}

/// `kept`: the numbers that are compared.  Fails if anything of it cannot be read.
template <class Handle>
[[nodiscard]] lookup<learned_save> look_at_save(const saved_tensor<Handle>& tensor,
                                                const smdebug::detail::learn::number_set& kept) {
    namespace learn = smdebug::detail::learn;
    const read_options where{.worker = tensor.worker()};
    learn::save_parts parts{.name = tensor.name()};
    if constexpr (requires {
                      { tensor.handle().saved_reductions(0, where) } -> std::same_as<reduction_set>;
                  }) {
        parts.saved = tensor.handle().saved_reductions(tensor.step(), where);
    }
    for (std::size_t i = 0; i < 2 * reduction_count && !parts.saved.empty(); ++i) {
        if (const reduction_key key = reduction_key::from_index(i); parts.saved.contains(key)) {
            const lookup<double> saved = tensor.reduction_value(key.what, key.abs);
            if (!saved) {
                return saved.error();
            }
            parts.saved_value[i] = *saved;
        }
    }
    learned_save found;
    const auto values = tensor.measured(learn::values_measure{});
    lookup<reduction_values> computed = lookup_failure_kind::tensor_not_saved;
    if (!values && !was_not_saved(values.error())) {
        return values.error();
    }
    if (values) {
        parts.values = &*values;
        found.shape = values->shape;
        if constexpr (countable_tensor<Handle>) {
            if (!learn::is_void(values->type)) {
                computed =
                    tensor.handle().find_computed(tensor.step(), learn::reductions_for(kept) - parts.saved, where);
                if (!computed) {
                    return computed.error();
                }
                parts.computed = &*computed;
            }
        }
    } else if (const auto shape = tensor.shape()) {
        found.shape = *shape;
    } else if (!was_not_saved(shape.error())) {
        return shape.error();
    }
    parts.shape = found.shape ? &*found.shape : nullptr;
    found.look = learn::look_at(parts, kept);
    return found;
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
