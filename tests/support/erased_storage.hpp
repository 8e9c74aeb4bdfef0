// Storages of tests, as ordinary code behind a trial takes them.
#pragma once

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/load/loader.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>

namespace smdebug_test {

/// A handle on a storage of any type.
template <class Storage>
[[nodiscard]] smdebug::any_storage erase_type(const Storage& store) {
    if constexpr (std::same_as<Storage, smdebug::any_storage>) {
        return store;
    } else {
        return smdebug::any_storage{store};
    }
}

struct kept_storage {
    smdebug::any_storage kept;
};

/// A loader that keeps the storage that it borrows.
class storage_loader : kept_storage, public smdebug::detail::loader {
public:
    template <smdebug::storage Storage>
    storage_loader(const Storage& store, const smdebug::trial_options& options)
        : kept_storage{erase_type(store)}, loader(kept, options) {}
};

}  // namespace smdebug_test
