// What every test includes after the headers under test.
#pragma once

#include "support/standard.hpp"

#include <doctest/doctest.h>

namespace smdebug_test {

/// The exception of this type that `doing` throws; nothing if it throws none.  Others are not caught, here and below.
template <class Exception, class Doing>
[[nodiscard]] std::optional<Exception> thrown_by(Doing&& doing) {
    try {
        static_cast<void>(doing());
    } catch (const Exception& thrown) {
        return thrown;
    }
    return std::nullopt;
}

/// That exception.  The test fails, and ends, if there is none.
template <class Exception, class Doing>
[[nodiscard]] Exception caught(Doing&& doing) {
    if (auto thrown = thrown_by<Exception>(doing)) {
        return *std::move(thrown);
    }
    throw std::logic_error{"nothing was thrown"};
}

/// Its what(), or this text if there is none.
template <class Exception, class Doing>
[[nodiscard]] std::string what_of(Doing&& doing, const std::string& none = {}) {
    const auto thrown = thrown_by<Exception>(doing);
    return thrown ? thrown->what() : none;
}

/// Its message(), or this text if there is none.
template <class Exception, class Doing>
[[nodiscard]] std::string message_of(Doing&& doing, const std::string& none = {}) {
    const auto thrown = thrown_by<Exception>(doing);
    return thrown ? std::string{thrown->message()} : none;
}

}  // namespace smdebug_test
