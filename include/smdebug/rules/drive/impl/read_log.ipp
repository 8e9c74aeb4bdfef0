// The bodies of <smdebug/rules/drive/read_log.hpp>.
#pragma once

#include <smdebug/rules/drive/read_log.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) noexcept {
    seed ^= with + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U);
    seed *= 0xBF58476D1CE4E5B9U;
    return seed ^ (seed >> 31U);
}

SMDEBUG_INLINE void read_log::begin(const named_step& step) {
    current_ = step;
    now_.read.clear();
    now_.lost.clear();
    now_.first_lost.clear();
}

SMDEBUG_INLINE void read_log::was_read(std::uint64_t tensor, step_number step, mode in,
                                       const std::optional<std::string>& worker) {
    if (!is_at_hand(step, in)) {
        return;
    }
    const record_key key = key_of(tensor, step, in, worker);
    const std::lock_guard lock{guard_};
    if (now_.read.empty() || now_.read.back() != key) {
        now_.read.push_back(key);
    }
}

SMDEBUG_INLINE void read_log::was_looked_up(const lookup_error& failure, const std::string& tensor, step_number step,
                                            mode in, const std::optional<std::string>& worker) {
    if (failure.why == absence::wrong_dtype) {
        was_read(tensor, step, in, worker);
    } else if (is_lost(failure)) {
        was_lost(tensor, step, in, worker, [&] { return words_of(failure, tensor, step, in); });
    }
}

SMDEBUG_INLINE read_log::entries read_log::end() {
    const auto each_once = [](std::vector<record_key>& keys) {
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    };
    each_once(now_.read);
    each_once(now_.lost);
    std::erase_if(now_.read,
                  [&](const record_key& key) { return std::binary_search(now_.lost.begin(), now_.lost.end(), key); });
    now_.has_selected = has_selected_.exchange(false, std::memory_order_relaxed);
    return std::exchange(now_, {});
}

SMDEBUG_INLINE record_key read_log::key_of(std::uint64_t tensor, step_number step, mode in,
                                           const std::optional<std::string>& worker) const {
    const std::uint64_t named = mixed(tensor, worker ? hash_of(*worker) : 0U);
    const auto of_step = [&](step_number number, mode counted_in) {
        return mixed(mixed(named, static_cast<std::uint64_t>(number)), static_cast<std::uint64_t>(counted_in));
    };
    if (is_at_hand(step, in)) {
        return {of_step(current_.step, mode::global), of_step(current_.mode_step, current_.mode)};
    }
    const std::uint64_t key = of_step(step, in);
    return {key, key};
}

SMDEBUG_INLINE void read_tally::add(const read_log::entries* asked, const std::vector<finding>& findings,
                                    const error* skipped, rule_outcome& to) {
    std::string first = asked != nullptr ? asked->first_lost : std::string{};
    const auto tell = [&](std::string_view why) { first = first.empty() ? std::string{why} : std::move(first); };
    std::size_t lost = 0;
    if (asked != nullptr) {
        has_selected_ = has_selected_ || asked->has_selected;
        lost = static_cast<std::size_t>(
            std::count_if(asked->lost.begin(), asked->lost.end(), [&](const record_key& one) { return is_new(one); }));
    }
    // Losses in other runs are counted by notes; notes about this run repeat what was asked for.
    std::size_t noted = 0;
    for (const finding& one : findings) {
        if (one.damaged) {
            noted += is_new(key_of_note(one.tensor, one.worker, one.message)) ? 1U : 0U;
            tell(one.message);
        }
    }
    if (skipped != nullptr && is_lost(*skipped)) {
        noted += is_new(key_of_note(skipped->tensor(), skipped->worker(), skipped->what())) ? 1U : 0U;
        tell(skipped->what());
    }
    lost = std::max(lost, noted);
    if (to.unread == 0 && lost > 0) {
        to.first_unread = std::move(first);
    }
    to.unread += lost;
    to.tensors += lost;
    if (asked != nullptr && !(asked->read.empty() && asked->lost.empty())) {
        watched_ = true;
        to.tensors += asked->read.size();
    } else if (lost == 0 && skipped == nullptr) {
        ++quiet_calls_;
    }
    if (asked == nullptr || (to.unread > 0 && !watched_)) {
        to.tensors += std::exchange(quiet_calls_, 0U);
    }
}

SMDEBUG_INLINE bool read_tally::is_new(const record_key& one) {
    if (counted_.size() >= most_known) {
        counted_.clear();
    }
    const bool by_key = counted_.insert(one.key).second;
    const bool by_other = one.other == one.key || counted_.insert(one.other).second;
    return by_key && by_other;
}

SMDEBUG_INLINE record_key read_tally::key_of_note(std::string_view tensor, std::string_view worker,
                                                  std::string_view why) {
    const std::uint64_t key = mixed(mixed(hash_of(tensor), hash_of(worker)), hash_of(why));
    return {key, key};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
