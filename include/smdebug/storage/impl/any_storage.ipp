// The bodies of <smdebug/storage/any_storage.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE any_follower any_storage::follow(std::string_view prefix) const {
    std::optional<any_follower> follower = inner_->follow(prefix);
    return follower ? *std::move(follower) : any_follower{listing{inner_, std::string{prefix}}};
}

}  // namespace v1
}  // namespace smdebug
