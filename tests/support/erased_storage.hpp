// Storages of tests, as ordinary code behind a trial takes them.
#pragma once

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/load/loader.hpp>
#include <smdebug/trial/options.hpp>

namespace smdebug_test {

struct kept_storage {
    smdebug::any_storage kept;
};

/// A loader that keeps the storage that it borrows.
class storage_loader : kept_storage, public smdebug::detail::loader {
public:
    storage_loader(const smdebug::any_storage& store, const smdebug::trial_options& options)
        : kept_storage{store}, loader(kept, options) {}
};

}  // namespace smdebug_test
