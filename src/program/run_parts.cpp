#include <program/run_parts.hpp>

#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

std::vector<step_range> parts_of(const program_trial& run, const step_range& selected, const part_limits& limits) {
    const auto from = run.state()->current();
    if (limits.most < 2 || !from->loaded_all_steps) {
        return {};
    }
    std::vector<std::optional<std::uint64_t>> bytes_of(from->layouts.size());
    const auto bytes = [&](const smdebug::detail::catalog::file& file) {
        std::optional<std::uint64_t>& known = bytes_of[file.layout];
        if (!known) {
            const smdebug::detail::layout& places = from->layout_of(file);
            known = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                *known += places[i].record.length;
            }
        }
        return *known;
    };
    const auto files = from->files_in(selected);
    std::uint64_t all = 0;
    std::uint64_t records = 0;
    for (const auto* const file : files) {
        all += bytes(*file);
        records += from->layout_of(*file).size();
    }
    if (all <= limits.above || records > limits.records) {
        return {};
    }
    const std::uint64_t enough = std::max<std::uint64_t>({all / limits.most, limits.above / 4, 1});
    std::vector<step_range> parts{{.begin = selected.begin, .end = selected.end}};
    std::uint64_t in_part = 0;
    step_number last = files.front()->step;
    for (const auto* const file : files) {
        if (file->step != last && in_part >= enough && parts.size() < limits.most) {
            parts.back().end = file->step;
            parts.push_back({.begin = file->step, .end = selected.end});
            in_part = 0;
        }
        last = file->step;
        in_part += bytes(*file);
    }
    return parts.size() > 1 ? parts : std::vector<step_range>{};
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
