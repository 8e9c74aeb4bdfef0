// Bytes in memory as the source that archives are read from.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

[[nodiscard]] inline std::shared_ptr<const smdebug::archive::detail::byte_source> stored(std::string_view bytes) {
    smdebug::memory_storage store;
    store.write("a", smdebug::as_bytes(bytes));
    return std::make_shared<smdebug::archive::detail::stored_source>(store, "a");
}

}  // namespace smdebug_test
