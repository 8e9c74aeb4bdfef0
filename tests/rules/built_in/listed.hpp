// Numbers as a text, for the messages of tests: doctest does not print vectors.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

template <class T>
std::string listed(const std::vector<T>& values) {
    std::ostringstream text;
    for (const T& each : values) {
        text << (text.tellp() > 0 ? ", " : "") << each;
    }
    return "{" + text.str() + "}";
}

}  // namespace smdebug_test
