// The bodies of <smdebug/trial/catalog/catalog.hpp>.
#pragma once

#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE step_number catalog::shown_step_of(step_number global_step) const noexcept {
    const step_entry* const entry = steps_are_synthetic ? find_step(global_step) : nullptr;
    return entry != nullptr ? entry->mode_step : global_step;
}

SMDEBUG_INLINE step_range catalog::global_range(const step_range& shown) const noexcept {
    if (!steps_are_synthetic) {
        return shown;
    }
    step_range found{.begin = {}, .end = 0};
    for (const step_entry& one : steps) {
        if (shown.contains(one.mode_step)) {
            found = {.begin = found.begin.value_or(one.step), .end = one.step + 1};
        }
    }
    return found;
}

SMDEBUG_INLINE std::optional<step_number> catalog::global_step(mode which, step_number mode_step) const noexcept {
    if (which == mode::global) {
        return mode_step;
    }
    const mode_step_entry* entry = mode_steps[place_of(which)].find(mode_step);
    return entry != nullptr ? std::optional{entry->step} : std::nullopt;
}

SMDEBUG_INLINE std::vector<step_number> catalog::steps_of(mode which, bool show_incomplete) const {
    std::vector<step_number> listed;
    if (which == mode::global) {
        listed.reserve(steps.size());
        for (const step_entry& one : steps) {
            if (show_incomplete || complete(one)) {
                listed.push_back(one.step);
            }
        }
        return listed;
    }
    const auto& of_mode = mode_steps[place_of(which)];
    listed.reserve(of_mode.size());
    for (const mode_step_entry& one : of_mode) {
        if (show_incomplete || complete(*find_step(one.step))) {
            listed.push_back(one.mode_step);
        }
    }
    return listed;
}

SMDEBUG_INLINE std::string catalog::event_file_of(const file& one) const {
    return one.event_file == usual_event_file ? locations::event_key(one.step, workers[one.worker])
                                              : event_files[one.event_file];
}

SMDEBUG_INLINE step_number catalog::last_step_of(mode which) const noexcept {
    if (which == mode::global) {
        return steps.empty() ? -1 : steps.back().step;
    }
    const auto& of_mode = mode_steps[place_of(which)];
    return of_mode.empty() ? -1 : of_mode.back().mode_step;
}

SMDEBUG_INLINE step_state catalog::state_of(mode which, step_number step) const noexcept {
    const auto next = first_from(which, step);
    if (!next) {
        return loaded_all_steps ? step_state::unavailable : step_state::not_yet_available;
    }
    if (next->mode_step == step) {
        return complete(*find_step(next->step)) ? step_state::available : step_state::not_yet_available;
    }
    // A later step of the mode exists.  Until all workers have written that one, this one may still come.
    return loaded_all_steps || last_complete_step >= next->step ? step_state::unavailable
                                                                : step_state::not_yet_available;
}

SMDEBUG_INLINE std::vector<std::string> catalog::tensor_names(mode which) const {
    return names_found(*names, [&](auto&& visit) {
        if (which == mode::global) {
            name_lists.for_each([&](const auto& list) { visit(*list); });
            return;
        }
        for (const step_entry& entry : steps) {
            for (const file& written : entry.files()) {
                if (written.mode == which) {
                    visit(layout_of(written).names());
                }
            }
        }
    });
}

SMDEBUG_INLINE std::vector<std::string> catalog::tensor_names_at(const step_entry& entry) const {
    return names_found(*names, [&](auto&& visit) {
        for (const file& written : entry.files()) {
            visit(layout_of(written).names());
        }
    });
}

SMDEBUG_INLINE std::vector<step_number> catalog::last_steps(name_id name, mode which, step_number step,
                                                            std::size_t n) const {
    auto has_tensor = [&, last = no_layout, answer = false](const file& written) mutable {
        if (written.layout != last) {
            last = written.layout;
            answer = layout_of(written).names().contains(name);
        }
        return answer;
    };
    const auto holds = [&](const step_entry& entry) {
        const auto files = entry.files();
        return complete(entry) && std::any_of(files.begin(), files.end(), [&](const file& written) {
                   return (which == mode::global || written.mode == which) && has_tensor(written);
               });
    };
    const step_number last = std::min(step, last_step_of(which));
    std::vector<step_number> last_ones;
    // Mostly every step has it.
    for (step_number window = n < 16 ? 4 : 16; last >= 0 && last_ones.size() < n;
         window = window > last / 16 ? last : 16 * window) {
        const bool all = window >= last;
        const step_number first = all ? 0 : last - window;
        last_ones.clear();
        if (which == mode::global) {
            for (auto candidate = steps.lower_bound(first); candidate != steps.end() && candidate->step <= last;
                 ++candidate) {
                if (holds(*candidate)) {
                    last_ones.push_back(candidate->step);
                }
            }
        } else {
            const auto& of_mode = mode_steps[place_of(which)];
            for (auto candidate = of_mode.lower_bound(first);
                 candidate != of_mode.end() && candidate->mode_step <= last; ++candidate) {
                if (holds(*find_step(candidate->step))) {
                    last_ones.push_back(candidate->mode_step);
                }
            }
        }
        if (all) {
            break;
        }
    }
    if (last_ones.size() > n) {
        last_ones.erase(last_ones.begin(), last_ones.end() - static_cast<std::ptrdiff_t>(n));
    }
    return last_ones;
}

SMDEBUG_INLINE bool catalog::each_mode_step_once() const noexcept {
    std::size_t all = 0;
    for (const auto& of_mode : mode_steps) {
        all += of_mode.size();
    }
    return all >= steps.size();
}

SMDEBUG_INLINE std::vector<step_number> catalog::tensor_steps(name_id name, mode which, bool show_incomplete) const {
    name_list_cache<bool> memory;
    auto holds = [&, last = no_layout, answer = false](const file& written) mutable {
        if (written.layout != last) {
            const name_list& list = layout_of(written).names();
            last = written.layout;
            answer = memory.answer(list, [&] { return list.contains(name); });
        }
        return answer;
    };
    std::vector<step_number> with_tensor;
    with_tensor.reserve(which == mode::global ? steps.size() : mode_steps[place_of(which)].size());
    for (const step_entry& entry : steps) {
        if (!show_incomplete && !complete(entry)) {
            continue;
        }
        for (const file& written : entry.files()) {
            if ((which != mode::global && written.mode != which) || !holds(written)) {
                continue;
            }
            const step_number step = which == mode::global ? written.step : written.mode_step;
            if (with_tensor.empty() || with_tensor.back() != step) {
                with_tensor.push_back(step);
            }
        }
    }
    if (which != mode::global) {  // mode steps need not increase with global ones
        std::sort(with_tensor.begin(), with_tensor.end());
        with_tensor.erase(std::unique(with_tensor.begin(), with_tensor.end()), with_tensor.end());
    }
    return with_tensor;
}

SMDEBUG_INLINE std::vector<const catalog::file*> catalog::files_in(const step_range& range) const {
    std::vector<const file*> in_range;
    for (auto entry = range.begin ? steps.lower_bound(*range.begin) : steps.begin();
         entry != steps.end() && range.contains(entry->step); ++entry) {
        for (const file& written : entry->files()) {
            in_range.push_back(&written);
        }
    }
    return in_range;
}

SMDEBUG_INLINE std::vector<const catalog::file*> catalog::files_with(name_id name, step_number step) const {
    std::vector<const file*> with_tensor;
    if (const step_entry* entry = find_step(step)) {
        for (const file& written : entry->files()) {
            if (layout_of(written).contains(name)) {
                with_tensor.push_back(&written);
            }
        }
    }
    return with_tensor;
}

SMDEBUG_INLINE std::size_t catalog::memory() const noexcept {
    std::size_t bytes = names->memory() + steps.memory() + layouts.memory() + name_lists.memory() + numbers.memory();
    const form_list* forms = nullptr;
    for (const step_entry& entry : steps) {
        bytes += entry.file_count > 1 ? entry.file_count * sizeof(file) + control_block : 0;
    }
    layouts.for_each([&](const auto& part) {
        bytes += part->memory() + sizeof(layout) + control_block;
        if (part->forms() != nullptr && part->forms().get() != forms) {
            forms = part->forms().get();
            bytes += forms->memory() + sizeof(form_list) + control_block;
        }
    });
    name_lists.for_each([&](const auto& part) { bytes += part->memory() + sizeof(name_list) + control_block; });
    for (const auto& part : mode_steps) {
        bytes += part.memory();
    }
    return bytes;
}

SMDEBUG_INLINE std::optional<catalog::mode_step_entry> catalog::first_from(mode which,
                                                                           step_number step) const noexcept {
    if (which == mode::global) {
        const auto first = steps.lower_bound(step);
        return first != steps.end() ? std::optional{mode_step_entry{first->step, first->step}} : std::nullopt;
    }
    const auto& of_mode = mode_steps[place_of(which)];
    const auto first = of_mode.lower_bound(step);
    return first != of_mode.end() ? std::optional{*first} : std::nullopt;
}

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

SMDEBUG_INLINE catalog::step_entry entry_of(std::span<const catalog::file> files, mode in, step_number mode_step,
                                            std::uint32_t load) {
    catalog::step_entry made{.step = files.front().step,
                             .mode_step = mode_step,
                             .mode = in,
                             .load = load,
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
        fresh.push_back(entry_of(written, written.front().mode, written.front().mode_step, next.load));
        begin = end;
    }
    const auto join = [&](const catalog::step_entry& known, const catalog::step_entry& more) {
        std::vector<catalog::file> all(known.file_count + more.file_count);
        std::merge(known.files().begin(), known.files().end(), more.files().begin(), more.files().end(), all.begin(),
                   by_worker);
        return entry_of(all, known.mode, known.mode_step, next.load);
    };
    if (!fresh.empty() && !next.steps.empty() && fresh.front().step <= next.steps.back().step) {
        next.last_disorder = next.load;
    }
    next.steps = next.steps.with(std::move(fresh), join);
    next.file_count += files.size();
}

SMDEBUG_INLINE void carry_over_loads(catalog& next, const catalog& before,
                                     function_ref<bool(const catalog::file&, const catalog::file&)> is_touched) {
    next.last_disorder = next.load;
    if (next.has_index && *next.job != *before.job) {
        return;
    }
    const auto same_entries = [&](const catalog::file& a, const catalog::file& b) {
        const layout& ours = next.layout_of(a);
        const layout& theirs = before.layout_of(b);
        bool same = ours.size() == theirs.size() && std::ranges::equal(ours.shapes(), theirs.shapes());
        for (std::size_t i = 0; same && i < ours.size(); ++i) {
            const layout::entry x = next.entry_of(a, ours, i);
            const layout::entry y = before.entry_of(b, theirs, i);
            const auto bits = [](const layout::entry& of) {
                return of.number != nullptr ? std::bit_cast<std::uint64_t>(of.number->value) : 0;
            };
            same = x.what == y.what && x.record == y.record && bits(x) == bits(y) &&
                   (x.form == y.form || (x.form != nullptr && y.form != nullptr && *x.form == *y.form));
        }
        return same;
    };
    const auto same_file = [&](const catalog::file& a, const catalog::file& b) {
        return a.worker == b.worker && a.mode == b.mode && a.mode_step == b.mode_step &&
               next.event_file_of(a) == before.event_file_of(b) && same_entries(a, b) &&
               (a.stamp == b.stamp || is_touched(a, b));
    };
    std::vector<catalog::step_entry> steps;
    steps.reserve(next.steps.size());
    for (const catalog::step_entry& one : next.steps) {
        const catalog::step_entry* const known = before.find_step(one.step);
        const auto files = one.files();
        catalog::step_entry& kept = steps.emplace_back(one);
        if (known != nullptr && known->mode == one.mode && known->mode_step == one.mode_step &&
            std::equal(files.begin(), files.end(), known->files().begin(), known->files().end(), same_file)) {
            kept.load = known->load;
        }
    }
    next.steps = decltype(next.steps){std::move(steps)};
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
}  // namespace smdebug::inline v1::detail
