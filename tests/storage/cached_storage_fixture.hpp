// Keys of event files, and counts of calls: for the tests of cached storages.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test::caches {

inline constexpr std::string_view event_key = "events/000000000001/000000000001_worker_0.tfevents";

inline std::string nth_key(int i) { return "events/" + std::to_string(1000 + i) + ".tfevents"; }

inline std::size_t count_of(const std::vector<std::string>& calls, std::string_view begin) {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [&](const std::string& one) { return one.starts_with(begin); }));
}

}  // namespace smdebug_test::caches
