// The error that a call ends with, as a value.
#pragma once

#include <smdebug/core/error.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// The code of the error that `doing` throws; unset if it throws none.
template <class Doing>
[[nodiscard]] std::optional<smdebug::error_code> thrown_code(Doing&& doing) {
    try {
        doing();
    } catch (const smdebug::error& thrown) {
        return thrown.code();
    }
    return std::nullopt;
}

}  // namespace smdebug_test
