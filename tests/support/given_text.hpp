// Texts: that they contain a piece, and that those passed to a storage have a non-null data(), even if empty, as users'
// storages pass data() to C functions.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

[[nodiscard]] inline bool contains(std::string_view text, std::string_view piece) {
    return text.find(piece) != std::string_view::npos;
}

/// `text`.  Errors: std::logic_error for a null pointer.
[[nodiscard]] inline std::string_view given_text(std::string_view text) {
    if (text.data() == nullptr) {
        throw std::logic_error("a storage was given a text without a place");
    }
    return text;
}

}  // namespace smdebug_test
