// The bodies of <smdebug/trial/load/index_listing.hpp>.
#pragma once

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/trial/load/index_listing.hpp>

#include <iterator>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::vector<std::string> index_listing::next(const catalog& last) {
    if (store_.abilities().follows) {
        if (!follower_) {
            follower_.emplace(store_.follow(locations::index_folder));
        }
        return follower_->next();
    }
    const std::string after = from_start_ ? std::string{} : first_open_key(last);
    auto keys = store_.list(locations::index_folder, after);
    from_start_ = false;
    return keys;
}

SMDEBUG_INLINE void index_listing::forget() {
    from_start_ = true;
    open_from_ = 0;
    if (follower_) {
        follower_->forget();
    }
}

SMDEBUG_INLINE std::string index_listing::first_open_key(const catalog& last) {
    if (last.steps.empty() || last.steps.back().step >= step_with_long_name) {
        return {};
    }
    auto step = last.steps.lower_bound(open_from_);
    while (step != last.steps.end() && step->file_count >= last.job->num_workers) {
        ++step;
    }
    // Nobody waits longer than the window for a worker that has died.
    for (auto beyond = static_cast<std::size_t>(std::distance(step, last.steps.end())); beyond > window_; --beyond) {
        ++step;
    }
    open_from_ = step != last.steps.end() ? step->step : last.steps.back().step + 1;
    const std::string key = locations::index_key(open_from_, {});
    return key.substr(0, key.rfind('_'));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
