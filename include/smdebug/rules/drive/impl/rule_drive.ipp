// The bodies of <smdebug/rules/drive/rule_drive.hpp>.
#pragma once

#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/trial/shared/step_cache.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void read_tally::add(const read_log::entries* asked, const std::vector<finding>& findings,
                                    const error* skipped, rule_outcome& to) {
    std::string first = asked != nullptr ? asked->first_lost : std::string{};
    const auto report = [&](std::string_view why) { first = first.empty() ? std::string{why} : std::move(first); };
    std::size_t lost = 0;
    if (asked != nullptr) {
        has_selected_ = has_selected_ || asked->has_selected;
        lost = static_cast<std::size_t>(
            std::count_if(asked->lost.begin(), asked->lost.end(), [&](const record_key& one) { return is_new(one); }));
    }
    // Losses in other runs are counted by notes; notes about this run repeat logged look-ups.
    std::size_t noted = 0;
    for (const finding& one : findings) {
        if (one.damaged) {
            noted += is_new(key_of_note(one.tensor, one.worker, one.message)) ? 1U : 0U;
            report(one.message);
        }
    }
    if (skipped != nullptr && is_lost(*skipped)) {
        noted += is_new(key_of_note(skipped->tensor(), skipped->worker(), skipped->what())) ? 1U : 0U;
        report(skipped->what());
    }
    lost = std::max(lost, noted);
    if (to.unread == 0 && lost > 0) {
        to.first_unread = std::move(first);
    }
    to.unread += lost;
    to.tensors += lost;
    if (asked != nullptr && (asked->read > 0 || !asked->lost.empty())) {
        watched_ = true;
        to.tensors += asked->read;
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

SMDEBUG_INLINE drive_listener listener_of(const invoke_options& options) {
    const auto without_place = [](const auto& report) {
        return [&report](std::size_t, step_number step, const auto& what) {
            if (report) {
                report(step, what);
            }
        };
    };
    return {.on_finding = without_place(options.on_finding),
            .on_note = without_place(options.on_note),
            .on_skip = without_place(options.on_skip)};
}

SMDEBUG_INLINE void rule_progress::end(invoke_end why, step_number next_step) {
    if (!over) {
        over = true;
        outcome.end = why;
        outcome.next_step = next_step;
    }
}

}  // namespace smdebug::inline v1::detail
