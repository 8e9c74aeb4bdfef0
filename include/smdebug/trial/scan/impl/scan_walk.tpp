// The bodies of <smdebug/trial/scan/scan_walk.hpp> that are templates.
#pragma once

#include <smdebug/storage/abilities.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/scan/scan_walk.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class State>
scan_walk<State>::scan_walk(const State& state, const catalog& from, const selected_tensors& which, reduction_set saved,
                            const walk_manner& manner)
    : state_(state),
      from_(from),
      which_(which),
      manner_(manner),
      views_(abilities_of(state.store()).views),
      batches_(abilities_of(state.store()).batches_ranges),
      bound_(state.decoder(), state.options().limits.record),
      scanner_(state, from, saved, which.names(), manner.defer_checks, manner.keep_repeats) {}

template <class State>
file_extent scan_walk<State>::extent(const catalog::file& file) {
    if (!last_layout_ || *last_layout_ != file.layout) {
        last_extent_ = extent_of(from_.layout_of(file), which_);
        last_layout_ = file.layout;
    }
    return last_extent_;
}

template <class State>
file_way scan_walk<State>::way(const catalog::file& file, std::size_t ahead) {
    const bool can_view = views_ && manner_.in_place && unviewed_ <= ahead;
    return way_of(extent(file), manner_.limits, can_view);
}

template <class State>
std::size_t scan_walk<State>::ranged_to(std::span<const catalog::file* const> files, std::size_t begin) {
    std::size_t end = begin;
    std::size_t records = 0;
    for (; end < files.size() && end - begin < most_at_once && records < most_records; ++end) {
        const file_way how = way(*files[end], end - begin);
        const file_extent size = extent(*files[end]);
        if (how == file_way::in_place || bytes_held(size, how) > manner_.limits.largest_page) {
            break;
        }
        records += size.records;
    }
    return end;
}

template <class State>
typename scan_walk<State>::wanted_records scan_walk<State>::records_of(const catalog::file& file) {
    wanted_records wanted;
    if (extent(file).records > 0) {
        scanner_.each_record(
            file, [&](byte_range record) { wanted.places.push_back(bound_.cut(record)); },
            [&] { wanted.tensor_ends.push_back(wanted.places.size()); });
        if (wanted.places.empty()) {
            wanted.places.push_back(bound_.cut(first_wanted(file)));
            wanted.tensor_ends = {};
        }
    }
    return wanted;
}

template <class State>
byte_range scan_walk<State>::first_wanted(const catalog::file& file) const noexcept {
    const layout& entries = from_.layout_of(file);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (which_.contains(entries[i].what.name)) {
            return entries[i].record;
        }
    }
    return {};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
