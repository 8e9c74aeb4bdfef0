// The bodies of <smdebug/storage/any_place.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_place.hpp>

namespace smdebug {
inline namespace v1 {

template <class Inner>
bool any_place::model<Inner>::exists() const {
    if constexpr (place_prober<Inner>) {
        return store.exists();
    } else {
        return true;
    }
}

template <class Inner>
bool any_place::model<Inner>::remove(std::string_view key) {
    if constexpr (removing_storage<Inner>) {
        return store.remove(key);
    } else {
        refuse("take away", key);
    }
}

template <class Inner>
std::vector<std::string> any_place::model<Inner>::remove_unfinished(std::string_view prefix,
                                                                    function_ref<bool(std::string_view)> which) {
    if constexpr (unfinished_remover<Inner>) {
        return store.remove_unfinished(prefix, which);
    } else {
        return {};
    }
}

template <class Inner>
any_claim any_place::model<Inner>::claim(std::string_view key) {
    if constexpr (claiming_storage<Inner>) {
        return any_claim{store.claim(key)};
    } else {
        refuse("hold for one writer alone", key);
    }
}

template <class Inner>
bool any_place::model<Inner>::claimed(std::string_view key) const {
    if constexpr (claiming_storage<Inner>) {
        return store.claimed(key);
    } else {
        refuse("tell who holds", key);
    }
}

template <class Inner>
void any_place::model<Inner>::refuse(const std::string& what, std::string_view key) const {
    throw unsupported(name() + " cannot " + what + " the object " + std::string{key}, {.where = std::string{key}});
}

}  // namespace v1
}  // namespace smdebug
