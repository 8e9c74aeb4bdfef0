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
      small_ahead_(!batches_ && !abilities_of(state.store()).reads_ahead),
      bound_(state.decoder(), state.options().limits.record),
      scanner_(state, from, saved, which.names(), manner.defer_checks, manner.keep_repeats,
               manner.stream ? manner.limits.stream_from : 0, manner.values_of) {
    const std::uint64_t most = state.options().limits.record;
    const bool streams = manner_.stream && file_scanner<State>::can_stream;
    if (abilities_of(state.store()).opens_small) {
        manner_.limits.opened_from = 0;
    }
    manner_.limits.largest_record = streams ? most : std::min(manner_.limits.largest_record, most);
}

template <class State>
file_extent scan_walk<State>::extent(const catalog::file& file) {
    if (!last_layout_ || *last_layout_ != file.layout) {
        last_extent_ = extent_of(from_.layout_of(file), which_);
        last_layout_ = file.layout;
        last_in_order_ = last_extent_.end >= manner_.limits.opened_from && in_order(file);
    }
    return last_extent_;
}

template <class State>
file_way scan_walk<State>::way(const catalog::file& file, std::size_t ahead) {
    const bool can_view = views_ && manner_.in_place && unviewed_ <= ahead;
    const file_extent size = extent(file);
    const bool can_open = opening_storage<storage_type> && !batches_ && unopened_ <= ahead && last_in_order_;
    return way_of(size, manner_.limits, can_view, can_open);
}

template <class State>
void scan_walk<State>::bring(std::span<const catalog::file* const> files, std::size_t place) {
    if constexpr (prefetching_storage<storage_type>) {
        if (manner_.ahead == nullptr || place >= files.size() || manner_.ahead->is_taken(place + files_ahead::widest)) {
            return;
        }
        const auto is_asked_for = [&](std::size_t i) {
            const file_way how = way(*files[i], 0);
            return how == file_way::in_place || how == file_way::opened || (small_ahead_ && how == file_way::whole);
        };
        if (!is_asked_for(place)) {
            return;
        }
        const std::size_t end = std::min(files.size(), place + files_ahead::window(extent(*files[place]).end));
        while (const std::optional<std::size_t> next = manner_.ahead->take(place, end)) {
            if (is_asked_for(*next)) {
                manner_.ahead->tell(*next, state_.store().read_ahead(State::event_key(from_, *files[*next])));
            }
        }
    }
}

template <class State>
bool scan_walk<State>::in_order(const catalog::file& file) {
    std::uint64_t last = 0;
    bool ascending = true;
    scanner_.each_record(
        file, [&](byte_range record) { ascending = ascending && record.offset >= std::exchange(last, record.offset); },
        [] {});
    return ascending;
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
template <class Visit>
bool scan_walk<State>::read_opened(std::span<const catalog::file* const> files, std::size_t place,
                                   const std::string& key, Visit& visit) {
    if constexpr (opening_storage<storage_type>) {
        using clock = std::chrono::steady_clock;
        const bool may_view = views_ && manner_.in_place && unviewed_ == 0;
        const faster_way::way chosen = may_view ? faster().next() : faster_way::usual;
        const clock::time_point begin = clock::now();
        const auto took = [&] {
            if (may_view) {
                faster().took(chosen, std::chrono::duration<double>(clock::now() - begin).count(),
                              extent(*files[place]).wanted);
            }
            return true;
        };
        if (chosen == faster_way::other) {
            if (look_in_place(files, place, key, visit)) {
                return took();
            }
            unviewed_ = views_skipped;
        }
        const std::unique_ptr<opened_object> file = key.empty() ? nullptr : state_.store().open(key);
        if (file != nullptr) {
            opened_event_file source{*file, buffer_, static_cast<std::size_t>(manner_.limits.hot_piece)};
            scan(*files[place], key, place, &source, nullptr, visit);
            return took();
        }
    }
    return false;
}

template <class State>
template <class Visit>
bool scan_walk<State>::look_in_place(std::span<const catalog::file* const> files, std::size_t place,
                                     const std::string& key, Visit& visit) {
    if constexpr (viewing_storage<storage_type>) {
        std::optional<byte_buffer> shown;
        try {
            shown = state_.store().view(key);
        } catch (const error&) {
            return false;  // reading will tell
        }
        if (shown) {
            whole_event_file source{shown->view()};
            scan(*files[place], key, place, &source, nullptr, visit);
            return true;
        }
    }
    return false;
}

template <class State>
template <class Visit>
void scan_walk<State>::read_pieces(const catalog::file& file, const std::string& key, std::size_t place,
                                   std::uint64_t piece, Visit& visit) {
    if constexpr (range_batch_reader<storage_type>) {
        if (batches_ && !key.empty()) {
            wanted_records wanted = records_of(file);
            paged_event_file source{state_.store(), key, std::move(wanted.places), manner_.limits.largest_page,
                                    std::move(wanted.tensor_ends)};
            scan_ranged(file, key, place, source, visit);
            return;
        }
    }
    piecewise_event_file source{state_.store(), key, piece, bound_};
    bool is_there = !key.empty();
    try {
        if (is_there) {
            static_cast<void>(source.at(first_wanted(file)));  // kept, so it is not read twice
        }
    } catch (const not_found&) {
        is_there = false;
    } catch (const error&) {
        // What cannot be read is told record by record.
    } catch (const std::bad_alloc&) {
    }
    scan(file, key, place, is_there ? &source : nullptr, nullptr, visit);
}

template <class State>
template <class Visit>
void scan_walk<State>::scan_collected(const catalog::file& file, std::size_t place, collected_event_file& source,
                                      Visit& visit) {
    std::optional<whole_event_file> whole;
    std::string why_not;
    try {
        whole.emplace(source.at({.offset = 0, .length = extent(file).end}));
    } catch (const unsupported&) {
        read_pieces(file, source.key(), place, manner_.limits.large_piece, visit);
        return;
    } catch (const error& failed) {
        why_not = failed.message();
    }
    scan(file, source.key(), place, whole ? &*whole : nullptr, whole ? nullptr : &why_not, visit);
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
