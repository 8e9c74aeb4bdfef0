// The bodies of <smdebug/trial/read/missing_files.hpp>.
#pragma once

#include <smdebug/trial/read/missing_files.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE bool missing_files::is_known(std::string_view key) const { return asked_.lock()->contains(key); }

SMDEBUG_INLINE bool missing_files::asked_within(std::string_view key, std::chrono::milliseconds interval) const {
    if (count() == 0 || interval.count() <= 0) {
        return false;
    }
    const auto known = asked_.lock();
    const auto last = known->find(key);
    return last != known->end() && clock::now() - last->second < interval;
}

SMDEBUG_INLINE void missing_files::note(const std::string& key) {
    const auto known = asked_.lock();
    if (known->size() < most || known->contains(key)) {
        known->insert_or_assign(key, clock::now());
        count_.store(known->size(), std::memory_order_relaxed);
    }
}

SMDEBUG_INLINE void missing_files::forget(const std::string& key) {
    const auto known = asked_.lock();
    known->erase(key);
    count_.store(known->size(), std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
