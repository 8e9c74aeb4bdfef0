#include <program/tensor_summary.hpp>

#include <program/first_value_reader.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// In how many complete steps each name is.  Cost: a look at each file, and at the names of each list once; of steps
// whose files have several lists, at all names.
std::vector<std::size_t> steps_by_name(const smdebug::detail::catalog& from) {
    std::vector<std::size_t> counts(from.names->size());
    std::vector<std::size_t> last_step(counts.size());  // by number from 1
    std::unordered_map<const smdebug::detail::name_list*, std::size_t> alone;
    std::size_t number = 0;
    for (const smdebug::detail::catalog::step_entry& step : from.steps) {
        ++number;
        if (!from.complete(step)) {
            continue;
        }
        const std::span<const smdebug::detail::catalog::file> files = step.files();
        const smdebug::detail::name_list& first = from.layout_of(files.front()).names();
        if (std::all_of(files.begin(), files.end(), [&](const smdebug::detail::catalog::file& file) {
                return &from.layout_of(file).names() == &first;
            })) {
            ++alone[&first];
            continue;
        }
        for (const smdebug::detail::catalog::file& file : files) {
            for (const smdebug::detail::name_id id : from.layout_of(file).names().tensors()) {
                counts[id] += last_step[id] != number ? 1U : 0U;
                last_step[id] = number;
            }
        }
    }
    for (const auto& [list, steps] : alone) {
        for (const smdebug::detail::name_id id : list->tensors()) {
            counts[id] += steps;
        }
    }
    return counts;
}

}  // namespace

std::vector<tensor_summary> summarize(const smdebug::detail::trial_state& state, const smdebug::detail::catalog& from,
                                      function_ref<void(std::size_t read, std::size_t all)> progress,
                                      missing_values* missing) {
    std::vector<tensor_summary> all;
    std::vector<std::uint32_t> place_of(from.names->size());  // by name_id
    const std::vector<std::size_t> steps = detail::steps_by_name(from);
    std::vector<std::string> names = from.tensor_names(mode::global);
    all.reserve(names.size());
    for (std::string& name : names) {
        const smdebug::detail::name_id id = *from.names->find(name);
        place_of[id] = static_cast<std::uint32_t>(all.size());
        all.push_back({.name = std::move(name), .steps = steps[id]});
    }
    from.name_lists.for_each([&](const auto& list) {
        for (const smdebug::detail::recorded_item& item : list->items()) {
            if (item.kind > 0 && !list->values_alone()) {
                reduction_set& saved = all[place_of[item.name]].saved;
                saved = saved | reduction_set{smdebug::detail::reduction_of(item.kind)};
            }
        }
    });
    from.layouts.for_each([&](const auto& layout) {
        const std::span<const smdebug::detail::layout::shape_entry> shapes = layout->shapes();
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            const bool counts = i + 1 == shapes.size() || shapes[i + 1].name != shapes[i].name;  // the last of a name
            if (tensor_summary& about = all[place_of[shapes[i].name]]; counts && !about.shape) {
                about.shape = shapes[i].extents;
            }
        }
    });
    std::size_t read = 0;
    first_value_reader values{state, from};
    values.read([&](smdebug::detail::name_id id, const decoded_tensor& value) {
        tensor_summary& about = all[place_of[id]];
        about.type = value.type;
        about.shape = value.shape;
        progress(++read, all.size());
    });
    if (missing != nullptr) {
        if (from.has_index) {
            values.list_files();
        }
        *missing = {.tensors = values.unread(), .files = values.missing_files(), .first_file = values.first_missing()};
    }
    return all;
}

}  // namespace smdebug::inline v1::cli::detail
