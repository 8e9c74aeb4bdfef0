// The bodies of <smdebug/exporting/write/export_walk.hpp>.
#pragma once

#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/lookup.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE export_extent export_extent::of(const catalog& from, const tensor_selection& which) {
    tensor_selection with_tables = which;
    with_tables.tables = true;
    const selected_tensors selected{with_tables, from};
    export_extent all;
    std::set<std::string> tensors;
    std::set<std::string> workers;
    std::vector<std::uint8_t> looked_at(from.layouts.size(),
                                        0);  // by layout; 1: nothing of it is selected, 2: something
    for (const catalog::file* const file : from.files_in(which.range)) {
        if (!selected.contains(*file)) {
            continue;
        }
        std::uint8_t& known = looked_at[file->layout];
        if (known == 0) {
            known = 1;
            for (const name_id name : from.layout_of(*file).names().tensors()) {
                if (selected.contains(name)) {
                    tensors.insert(std::string{(*from.names)[name]});
                    known = 2;
                }
            }
        }
        if (known == 2) {
            all.files.push_back(file);
            workers.insert(from.workers[file->worker]);
        }
    }
    all.tensors.assign(tensors.begin(), tensors.end());
    all.workers.assign(workers.begin(), workers.end());
    all.repeats_steps = from.steps_are_synthetic &&
                        std::any_of(all.files.begin(), all.files.end(),
                                    [&](const catalog::file* file) { return file->mode != all.files.front()->mode; });
    return all;
}

SMDEBUG_INLINE const layout* layout_at(const catalog& from, step_number step, std::string_view worker) noexcept {
    if (const catalog::step_entry* const entry = from.find_step(step)) {
        for (const catalog::file& file : entry->files()) {
            if (from.workers[file.worker] == worker) {
                return &from.layout_of(file);
            }
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void export_log::tell(const left_out_tensor& what) const {
    if (options_.left_out) {
        options_.left_out(what);
    }
}

SMDEBUG_INLINE void export_log::damaged(const exported_place& where, std::string_view tensor, const lookup_error& why) {
    ++result.damaged;
    tell({.step = where.shown,
          .worker = where.worker,
          .tensor = tensor,
          .why = words_of(why, std::string{tensor}, where.shown, where.mode),
          .is_damaged = true});
}

SMDEBUG_INLINE void export_log::damaged_file(const exported_place& where, const lookup_error& why) {
    if (last_failed_ == why.where) {
        return;
    }
    last_failed_ = why.where;
    ++result.damaged;
    tell({.step = where.shown,
          .worker = where.worker,
          .why = why.where + (why.why == absence::event_file_missing ? " is missing" : " cannot be read: " + why.note) +
                 ": nothing of step " + std::to_string(where.shown) + " of " + std::string{where.worker},
          .is_damaged = true});
}

SMDEBUG_INLINE void export_log::take(const scanned_tensor& tensor) {
    if (current_.first != tensor.step || current_.second != tensor.worker) {
        if (current_.first >= 0) {
            target_.end_file();
        }
        current_ = {tensor.step, std::string{tensor.worker}};
        last_failed_.clear();
    }
    for (const scan_failure& bad : tensor.saved_failures) {
        damaged(exported_place::of(tensor), tensor.name, bad.why);
    }
    if (tensor.failure() != nullptr) {
        tensor.file_failed() ? damaged_file(exported_place::of(tensor), *tensor.failure())
                             : damaged(exported_place::of(tensor), tensor.name, *tensor.failure());
        return;
    }
    if (tensor.values() == nullptr && !target_.takes_reductions()) {
        const bool has_table = from_.names->find_tensor(table_of_histogram(tensor.name)).has_value();
        result.without_values += has_table ? 0 : 1;
        return;
    }
    const std::string why_not = target_.add(tensor);
    if (why_not.empty()) {
        ++result.tensors;
        return;
    }
    ++result.refused;
    tell({.step = tensor.shown_step,
          .worker = tensor.worker,
          .tensor = tensor.name,
          .why = "the tensor \"" + std::string{tensor.name} + "\" " + why_not + ": left out at step " +
                 std::to_string(tensor.shown_step)});
}

SMDEBUG_INLINE export_result export_log::finish(const std::string& run) {
    target_.end_file();
    if (result.tensors == 0) {
        const std::string why = result.damaged + result.refused > 0 ? "no tensor that is selected could be exported"
                                : result.without_values > 0
                                    ? "of the tensors that are selected no values were saved, only reductions or shapes"
                                    : "no tensor is selected";
        throw value_error("nothing of " + run + " was exported: " + why, {.where = run});
    }
    target_.finish(result);
    return result;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
