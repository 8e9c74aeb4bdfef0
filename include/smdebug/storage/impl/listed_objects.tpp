// Listing the objects of a map in memory: of memory_storage, and of what else is one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Calls visit(key, object) for the objects of a map whose keys start with `prefix`, in order, strictly after `after`,
/// until it gives false.
template <class Objects, class Visit>
void each_listed(const Objects& objects, std::string_view prefix, std::string_view after, Visit&& visit) {
    for (auto entry = objects.lower_bound(after > prefix ? after : prefix);
         entry != objects.end() && entry->first.starts_with(prefix); ++entry) {
        if (entry->first != after && !visit(entry->first, entry->second)) {
            return;
        }
    }
}

/// The keys of those objects.
template <class Objects>
[[nodiscard]] std::vector<std::string> listed_keys(const Objects& objects, std::string_view prefix,
                                                   std::string_view after) {
    std::vector<std::string> keys;
    each_listed(objects, prefix, after, [&](const std::string& key, const auto&) {
        keys.push_back(key);
        return true;
    });
    return keys;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
