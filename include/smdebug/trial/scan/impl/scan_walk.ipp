// The bodies of <smdebug/trial/scan/scan_walk.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/scan/scan_walk.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE scan_walk::scan_walk(const trial_state& state, const catalog& from, const selected_tensors& which,
                                    reduction_set saved, const walk_manner& manner)
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
    const bool streams = manner_.stream && file_scanner::can_stream(state);
    if (abilities_of(state.store()).opens_small) {
        manner_.limits.opened_from = 0;
    }
    manner_.limits.largest_record = streams ? most : std::min(manner_.limits.largest_record, most);
}

SMDEBUG_INLINE file_extent scan_walk::extent(const catalog::file& file) {
    if (!last_layout_ || *last_layout_ != file.layout) {
        last_extent_ = extent_of(from_.layout_of(file), which_);
        last_layout_ = file.layout;
        last_in_order_ = last_extent_.end >= manner_.limits.opened_from && in_order(file);
    }
    return last_extent_;
}

SMDEBUG_INLINE file_way scan_walk::way(const catalog::file& file, std::size_t ahead) {
    const bool can_view = views_ && manner_.in_place && unviewed_ <= ahead;
    const file_extent size = extent(file);
    const bool can_open = !batches_ && unopened_ <= ahead && last_in_order_;
    return way_of(size, manner_.limits, can_view, can_open);
}

SMDEBUG_INLINE void scan_walk::walk(std::span<const catalog::file* const> all, std::size_t begin, std::size_t last,
                                    walk_visit visit, walk_done done) {
    const std::span<const catalog::file* const> files = all.first(last);
    while (begin < files.size()) {
        std::size_t end = begin;
        while (end < files.size() && end - begin < most_at_once && way(*files[end], end - begin) == file_way::whole) {
            ++end;
        }
        const std::size_t ranged = batches_ && end - begin < most_at_once ? ranged_to(files, begin) : begin;
        if (ranged > end) {
            read_ranged(files, begin, end = ranged, visit, done);
        } else if (end > begin) {
            bring(all, begin);
            read_whole(all, begin, end, visit, done);
        } else {
            bring(all, begin);
            read_apart(files, end++, visit, done);
        }
        unviewed_ -= std::min(unviewed_, end - begin);
        unopened_ -= std::min(unopened_, end - begin);
        begin = end;
    }
}

SMDEBUG_INLINE void scan_walk::read_whole(std::span<const catalog::file* const> files, std::size_t begin,
                                          std::size_t end, walk_visit visit, walk_done done) {
    std::vector<std::string> keys;
    keys.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        keys.push_back(trial_state::event_key(from_, *files[i]));
    }
    const auto take = [&](std::size_t i, whole_event_file* source, const std::string* why_not) {
        bring(files, begin + i + 1);
        scan(*files[begin + i], keys[i], begin + i, source, why_not, visit);
        done(begin + i);
    };
    read_each_past_errors(
        state_.store(), keys,
        [&](std::size_t i, std::optional<byte_view> bytes) {
            std::optional<whole_event_file> source;
            if (bytes) {
                source.emplace(*bytes);
            }
            take(i, source ? &*source : nullptr, nullptr);
        },
        [&](std::size_t i, const error& failed) {
            if (dynamic_cast<const unsupported*>(&failed) != nullptr) {  // larger than its index file says
                read_pieces(*files[begin + i], keys[i], begin + i, manner_.limits.large_piece, visit);
                done(begin + i);
                return;
            }
            const std::string why_not{failed.message()};
            take(i, nullptr, &why_not);
        });
}

SMDEBUG_INLINE void scan_walk::read_ranged(std::span<const catalog::file* const> files, std::size_t begin,
                                           std::size_t end, walk_visit visit, walk_done done) {
    record_batch batch;
    std::vector<file_way> ways;
    for (std::size_t i = begin; i < end; ++i) {
        const catalog::file& file = *files[i];
        ways.push_back(way(file, i - begin));
        std::string key = trial_state::event_key(from_, file);
        std::vector<byte_range> records;
        if (!key.empty()) {
            records =
                ways.back() == file_way::whole ? std::vector{byte_range{0, extent(file).end}} : records_of(file).places;
        }
        batch.add(std::move(key), records);
    }
    batch.read(state_.store(), [&](std::size_t i, collected_event_file& source) {
        const catalog::file& file = *files[begin + i];
        if (ways[i] == file_way::whole && source.is_there() && !source.key().empty()) {
            scan_collected(file, begin + i, source, visit);
        } else {
            scan_ranged(file, source.key(), begin + i, source, visit);
        }
        done(begin + i);
    });
}

SMDEBUG_INLINE void scan_walk::read_apart(std::span<const catalog::file* const> files, std::size_t place,
                                          walk_visit visit, walk_done done) {
    const catalog::file& file = *files[place];
    const std::string key = trial_state::event_key(from_, file);
    const reading_limits& limits = manner_.limits;
    switch (way(file, 0)) {
        case file_way::untouched: {  // saved shapes at most, which are in the index file
            whole_event_file nothing{byte_view{}};
            scan(file, key, place, &nothing, nullptr, visit);
            break;
        }
        case file_way::opened:
            if (!read_opened(files, place, key, visit)) {
                unopened_ = opens_skipped;
                if (way(file, 0) == file_way::whole) {
                    read_whole(files, place, place + 1, visit, done);
                } else {
                    read_apart(files, place, visit, done);
                }
                return;
            }
            break;
        case file_way::in_place:
            if (!look_in_place(files, place, key, visit)) {
                unviewed_ = views_skipped;
                if (extent(file).end <= limits.largest_whole) {
                    read_whole(files, place, place + 1, visit, done);
                    return;
                }
                read_pieces(file, key, place, limits.large_piece, visit);
            }
            break;
        case file_way::sparse:
            read_pieces(file, key, place, limits.small_piece, visit);
            break;
        case file_way::large:
        case file_way::whole:
            read_pieces(file, key, place, limits.large_piece, visit);
            break;
    }
    done(place);
}

SMDEBUG_INLINE void scan_walk::bring(std::span<const catalog::file* const> files, std::size_t place) {
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
            manner_.ahead->tell(*next, state_.store().read_ahead(trial_state::event_key(from_, *files[*next])));
        }
    }
}

SMDEBUG_INLINE bool scan_walk::in_order(const catalog::file& file) {
    std::uint64_t last = 0;
    bool ascending = true;
    scanner_.each_record(
        file, [&](byte_range record) { ascending = ascending && record.offset >= std::exchange(last, record.offset); },
        [] {});
    return ascending;
}

SMDEBUG_INLINE std::size_t scan_walk::ranged_to(std::span<const catalog::file* const> files, std::size_t begin) {
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

SMDEBUG_INLINE bool scan_walk::read_opened(std::span<const catalog::file* const> files, std::size_t place,
                                           const std::string& key, walk_visit visit) {
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
    return false;
}

SMDEBUG_INLINE bool scan_walk::look_in_place(std::span<const catalog::file* const> files, std::size_t place,
                                             const std::string& key, walk_visit visit) {
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
    return false;
}

SMDEBUG_INLINE void scan_walk::read_pieces(const catalog::file& file, const std::string& key, std::size_t place,
                                           std::uint64_t piece, walk_visit visit) {
    if (batches_ && !key.empty()) {
        wanted_records wanted = records_of(file);
        paged_event_file source{state_.store(), key, std::move(wanted.places), manner_.limits.largest_page,
                                std::move(wanted.tensor_ends)};
        scan_ranged(file, key, place, source, visit);
        return;
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

SMDEBUG_INLINE void scan_walk::scan_collected(const catalog::file& file, std::size_t place,
                                              collected_event_file& source, walk_visit visit) {
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

SMDEBUG_INLINE scan_walk::wanted_records scan_walk::records_of(const catalog::file& file) {
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

SMDEBUG_INLINE byte_range scan_walk::first_wanted(const catalog::file& file) const noexcept {
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
