// Whether it is worth asking a storage for objects that will be wanted later.
#pragma once

#include <smdebug/storage/concepts.hpp>

#include <concepts>

namespace smdebug {
inline namespace v1 {

/// Optional, beside read_ahead(): reads_ahead() tells whether asking pays for small objects, too, and for those that
/// are wanted only some time later.  A storage that reads ahead and does not tell is taken at its word.
template <class S>
concept ahead_prober = requires(const S& store) {
    { store.reads_ahead() } -> std::same_as<bool>;
};

/// Whether to ask for whatever will be wanted soon.
template <class S>
[[nodiscard]] constexpr bool worth_reading_ahead(const S& store) {
    if constexpr (prefetching_storage<S> && ahead_prober<S>) {
        return store.reads_ahead();
    } else {
        return prefetching_storage<S>;
    }
}

}  // namespace v1
}  // namespace smdebug
