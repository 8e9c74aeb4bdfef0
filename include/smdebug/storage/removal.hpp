// Whether a storage can take objects away, where that is known at run time only; and what it keeps of half-written
// ones.
#pragma once

#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

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

/// Optional: remove_unfinished(prefix, which) gives up objects that were begun to be written, perhaps by a process that
/// was killed, and of which the storage keeps what has come: those whose keys start with `prefix`, and which `which`
/// takes.  Returns their keys, each once, in order.  There is no telling whether the writer lives: `which` has to know.
template <class S>
concept unfinished_remover = requires(S& store, std::string_view prefix, function_ref<bool(std::string_view)> which) {
    { store.remove_unfinished(prefix, which) } -> std::same_as<std::vector<std::string>>;
};

}  // namespace v1
}  // namespace smdebug
