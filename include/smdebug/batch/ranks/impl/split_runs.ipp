// The bodies of <smdebug/batch/ranks/split_runs.hpp>.
#pragma once

#include <smdebug/batch/ranks/split_runs.hpp>
#include <smdebug/batch/row_spool.hpp>

#include <iterator>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::vector<batch_run> split_runs::split(batch_run run, run_result opened) {
    std::vector<batch_run> parts;
    parts.reserve(opened.parts.size());
    const std::uint64_t first = next_;
    for (const step_range& steps : opened.parts) {
        // Of the version that was opened: another one has other steps.
        parts.push_back({.place = next_++, .path = run.path, .version = opened.run.version, .steps = steps});
    }
    shared_run& shared = runs_[first];
    shared.run = std::move(run);
    shared.opened = std::move(opened);
    shared.left = parts.size();
    shared.parts.resize(parts.size());
    return parts;
}

SMDEBUG_INLINE split_runs::shared_runs::iterator split_runs::run_of(std::uint64_t part) {
    auto run = runs_.upper_bound(part);
    if (run == runs_.begin()) {
        return runs_.end();
    }
    run = std::prev(run);
    return part - run->first < run->second.parts.size() ? run : runs_.end();
}

SMDEBUG_INLINE std::vector<std::uint64_t> split_runs::places_left(const shared_runs::value_type& of) {
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < of.second.parts.size(); ++i) {
        if (!of.second.parts[i]) {
            places.push_back(of.first + i);
        }
    }
    return places;
}

SMDEBUG_INLINE split_runs::step_taken split_runs::take(run_result part) {
    step_taken what;
    const auto run = run_of(part.run.place);
    if (run == runs_.end()) {
        return what;
    }
    shared_run& of = run->second;
    std::optional<run_result>& place = of.parts[part.run.place - run->first];
    if (place) {
        return what;
    }
    const bool is_good =
        part.state == of.opened.state && part.error.empty() && part.messages.empty() && part.reductions;
    place = std::move(part);
    if (!is_good) {
        what.useless = places_left(*run);
        what.again = std::move(of.run);
        what.again->whole = true;
        runs_.erase(run);
    } else if (--of.left == 0) {
        if (of.opened.parts_inform) {
            what.again = std::move(of.run);
            what.again->whole = true;
            what.again->known = rows_of(of);
            what.again->known_of = std::move(of.opened.run.version);
        } else {
            what.joined = joined(std::move(of));
        }
        runs_.erase(run);
    }
    return what;
}

SMDEBUG_INLINE run_result split_runs::joined(shared_run&& of) {
    run_result all = std::move(of.opened);
    all.parts.clear();
    for (const std::optional<run_result>& part : of.parts) {
        all.seconds += part->seconds;
    }
    all.reductions = rows_of(of);
    return all;
}

SMDEBUG_INLINE std::shared_ptr<row_spool> split_runs::rows_of(const shared_run& of) {
    auto rows = std::make_shared<row_spool>();
    for (const std::optional<run_result>& part : of.parts) {
        rows->append(part->reductions);
    }
    return rows;
}

SMDEBUG_INLINE std::optional<batch_run> split_runs::give_up(std::uint64_t part, std::vector<std::uint64_t>& useless) {
    const auto run = run_of(part);
    if (run == runs_.end()) {
        return std::nullopt;
    }
    useless = places_left(*run);
    batch_run lost = std::move(run->second.run);
    runs_.erase(run);
    return lost;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
