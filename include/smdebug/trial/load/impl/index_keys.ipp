// The bodies of <smdebug/trial/load/index_keys.hpp>.
#pragma once

#include <smdebug/core/places_in_order.hpp>
#include <smdebug/trial/load/index_keys.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<parsed_index_key> parsed_index_key::parse(std::string&& key) {
    const auto name = locations::parse_index_key(key);
    if (!name) {
        return std::nullopt;
    }
    parsed_index_key made;
    made.step_ = name->step;
    made.worker_begin_ = static_cast<std::size_t>(name->worker_part.data() - key.data());
    made.worker_size_ = name->worker_part.size();
    made.key_ = std::move(key);
    return made;
}

SMDEBUG_INLINE bool known_files::contains(const parsed_index_key& key) {
    if (at_ == nullptr || at_->step != key.step()) {
        at_ = of_.find_step(key.step());
        place_ = 0;
    }
    if (at_ == nullptr) {
        return false;
    }
    const auto files = at_->files();
    for (std::size_t tried = 0; tried < files.size(); ++tried) {
        place_ = place_ < files.size() ? place_ : 0;
        if (is_worker(of_.workers[files[place_++].worker], key.worker_part())) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE void put_in_order(std::vector<parsed_index_key>& keys) {
    sort_stably(keys, [](const parsed_index_key& a, const parsed_index_key& b) { return a < b; });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

SMDEBUG_INLINE bool fills_gap(const std::vector<parsed_index_key>& keys, const parsed_index_key& key) {
    const auto none_later = std::find_if(keys.rbegin(), keys.rend(),
                                         [&](const parsed_index_key& other) { return other.step() <= key.step(); });
    return std::any_of(keys.rbegin(), none_later,
                       [&](const parsed_index_key& other) { return other.worker_part() == key.worker_part(); });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
