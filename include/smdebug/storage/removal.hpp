// Whether a storage can take objects away, where that is known at run time only.
// Used by: storage/any_place.hpp, hook.
#pragma once

#include <smdebug/storage/concepts.hpp>

#include <concepts>

namespace smdebug {
inline namespace v1 {

/// Optional, beside remove(): removes() tells whether objects can be taken away.  Where they cannot, remove() throws
/// unsupported.  A storage that removes and does not tell is taken at its word.
template <class S>
concept removal_prober = requires(const S& store) {
    { store.removes() } -> std::same_as<bool>;
};

/// Whether remove() may be called.
template <class S>
[[nodiscard]] constexpr bool can_remove(const S& store) {
    if constexpr (removing_storage<S> && removal_prober<S>) {
        return store.removes();
    } else {
        return removing_storage<S>;
    }
}

}  // namespace v1
}  // namespace smdebug
