// The bodies of <smdebug/trial/catalog/catalog_growth.hpp>.
#pragma once

#include <smdebug/core/places_in_order.hpp>
#include <smdebug/trial/catalog/catalog_growth.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace growth {

SMDEBUG_INLINE void add_mode_steps(catalog& next, std::span<const catalog::file> files) {
    std::array<std::vector<catalog::mode_step_entry>, 4> fresh;
    for (const catalog::file& file : files) {
        if (file.mode != mode::global) {
            fresh[catalog::place_of(file.mode)].push_back({file.mode_step, file.step});
        }
    }
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        sort_stably(fresh[i], [](const auto& a, const auto& b) { return a.mode_step < b.mode_step; });
        const auto end = std::unique(fresh[i].begin(), fresh[i].end(),
                                     [](const auto& a, const auto& b) { return a.mode_step == b.mode_step; });
        fresh[i].erase(end, fresh[i].end());
        if (!fresh[i].empty()) {
            next.mode_steps[i] = next.mode_steps[i].with(std::move(fresh[i]));
        }
    }
}

SMDEBUG_INLINE catalog::step_entry entry_of(std::span<const catalog::file> files, mode in, step_number mode_step) {
    catalog::step_entry made{.step = files.front().step,
                             .mode_step = mode_step,
                             .mode = in,
                             .file_count = static_cast<std::uint32_t>(files.size()),
                             .one = files.front(),
                             .all = nullptr};
    if (files.size() > 1) {
        const auto all = std::make_shared<catalog::file[]>(files.size());
        std::copy(files.begin(), files.end(), all.get());
        made.all = all;
    }
    return made;
}

SMDEBUG_INLINE void add_files(catalog& next, std::vector<catalog::file> files) {
    const auto by_worker = [&](const catalog::file& a, const catalog::file& b) {
        return next.workers[a.worker] < next.workers[b.worker];
    };
    sort_stably(files, [&](const catalog::file& a, const catalog::file& b) {
        return a.step != b.step ? a.step < b.step : by_worker(a, b);
    });
    std::vector<catalog::step_entry> fresh;
    for (std::size_t begin = 0; begin < files.size();) {
        std::size_t end = begin;
        while (end < files.size() && files[end].step == files[begin].step) {
            ++end;
        }
        const auto written = std::span{files}.subspan(begin, end - begin);
        fresh.push_back(entry_of(written, written.front().mode, written.front().mode_step));
        begin = end;
    }
    const auto join = [&](const catalog::step_entry& known, const catalog::step_entry& more) {
        std::vector<catalog::file> all(known.file_count + more.file_count);
        std::merge(known.files().begin(), known.files().end(), more.files().begin(), more.files().end(), all.begin(),
                   by_worker);
        return entry_of(all, known.mode, known.mode_step);
    };
    next.steps = next.steps.with(std::move(fresh), join);
    next.file_count += files.size();
}

SMDEBUG_INLINE void complete_steps(catalog& next, std::size_t window) {
    std::vector<step_number> beyond;
    for (auto entry = next.steps.lower_bound(next.last_complete_step + 1); entry != next.steps.end(); ++entry) {
        beyond.push_back(entry->step);
        if (entry->workers() >= next.job->num_workers) {
            next.last_complete_step = entry->step;
            beyond.clear();
        }
    }
    for (std::size_t passed = 0; beyond.size() - passed > window;) {
        passed += window / 2;
        next.last_complete_step = beyond[passed - 1];
    }
}

SMDEBUG_INLINE void end(catalog& next) {
    next.loaded_all_steps = true;
    if (!next.steps.empty()) {
        next.last_complete_step = next.steps.back().step;
    }
}

}  // namespace growth
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
