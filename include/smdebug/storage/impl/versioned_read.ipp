// The bodies of <smdebug/storage/versioned_read.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE bool object_version::merge(const object_version& other) {
    if (differs_from(other)) {
        return false;
    }
    tag = other.tag.empty() ? std::move(tag) : other.tag;
    size = other.size ? other.size : size;
    return true;
}

namespace detail {

SMDEBUG_INLINE void throw_replaced(const std::string& name) {
    throw unavailable(
        "reading " + name + " failed: it is replaced by others again and again while it is read. Try again later",
        {.where = name});
}

}  // namespace detail

}  // namespace v1
}  // namespace smdebug
