#include <program/run_notes.hpp>

#include <program/noted_storage.hpp>
#include <program/passed_rows.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/trial/read/passed_records.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/shared/passing_reductions.hpp>

#include <algorithm>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// Tensors of which the numbers are kept in memory, at some 300 bytes each, and of small records up to twice that.
constexpr std::uint64_t most_noted = 1'000'000;
constexpr std::uint64_t bytes_noted = 512;

}  // namespace

std::vector<step_range> parts_for_rules(const program_trial& run, const any_storage& store, const step_range& selected,
                                        part_limits limits, const std::optional<std::uint64_t>& memory) {
    if (abilities_of(store).batches_ranges || store.source() != nullptr) {
        return {};
    }
    limits.records = memory ? std::min<std::uint64_t>(most_noted, *memory / 4 / bytes_noted) : most_noted;
    return parts_of(run, selected, limits);
}

std::shared_ptr<row_spool> noted_steps(const program_trial& run, const any_storage& store, const step_range& steps,
                                       const std::stop_token& stop) {
    auto rows = std::make_shared<row_spool>();
    smdebug::detail::passing_reductions reader{most_noted * bytes_noted};
    const auto from = run.state()->current();
    std::string last;
    for (const auto* const file : from->files_in(steps)) {
        if (stop.stop_requested()) {
            break;
        }
        const std::string key = run.state()->event_key(*from, *file);
        const auto object = key == last ? nullptr : store.open(key);
        last = key;
        try {
            const auto notes = object == nullptr ? nullptr : reader.pass(key, *object);
            if (const auto* known = dynamic_cast<const smdebug::detail::passed_records*>(notes.get())) {
                add_notes(*rows, key, *known);
            }
        } catch (const corrupt_data&) {
            continue;
        }
    }
    return rows;
}

run_place with_notes(run_place place, row_spool& rows) {
    place.store = any_storage{noted_storage{*place.store, notes_of(rows)}};
    return place;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
