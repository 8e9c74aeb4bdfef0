// Chooses how to read event files, in which order, and what to prefetch.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smdebug::inline v1::detail {

/// How much of an event file must be read.
struct file_extent {
    std::uint64_t end = 0;      ///< where the last record ends
    std::uint64_t wanted = 0;   ///< bytes of the records that are selected
    std::size_t records = 0;    ///< the number of those records
    std::uint64_t largest = 0;  ///< bytes of the largest of them
    friend constexpr bool operator==(const file_extent&, const file_extent&) = default;
};

/// Where a record ends.  Impossible offsets count as the largest number.
[[nodiscard]] constexpr std::uint64_t end_of(byte_range record) noexcept {
    return bounded_sum(record.offset, record.length);
}

/// The extent of files with this layout.  Impossible offsets count as the largest number.
/// Cost: one pass over its entries.
[[nodiscard]] file_extent extent_of(const layout& entries, const selected_tensors& which) noexcept;

/// Sizes at which the way of reading a file changes.
struct reading_limits {
    std::uint64_t in_place_from = std::uint64_t{256} << 10U;  ///< below that, reading in place costs more than a copy
    /// Below that, opening a file costs more than it saves; 0: each file is opened, also where little of it is wanted.
    std::uint64_t opened_from = std::uint64_t{256} << 10U;
    std::uint64_t hot_piece = std::uint64_t{256} << 10U;  ///< in opened files: fits into the CPU's L2 cache
    std::uint64_t stream_from = std::uint64_t{1} << 20U;  ///< larger records are reduced piece by piece, where possible
    std::uint64_t largest_record = record_bound::trusted_length;  ///< beyond that, a claimed length is not trusted
    std::uint64_t largest_whole = std::uint64_t{64} << 20U;  ///< beyond that, a file is not copied into memory whole
    std::uint64_t large_piece = std::uint64_t{8} << 20U;     ///< in larger files
    /// Files from this size on of which less than an eighth is wanted are read in smaller pieces.
    std::uint64_t sparse_from = std::uint64_t{256} << 10U;
    std::uint64_t small_piece = std::uint64_t{64} << 10U;
    /// For a storage that reads ranges in batches: what is wanted of one file is held at once up to this size, and
    /// beyond it in pages of this size.
    std::uint64_t largest_page = std::uint64_t{64} << 20U;

    /// These limits for a reader that may hold so many bytes.
    [[nodiscard]] constexpr reading_limits within(std::uint64_t bytes) const noexcept {
        reading_limits some = *this;
        some.largest_whole = std::min(largest_whole, bytes / 2);
        some.largest_page = std::min(largest_page, bytes / 2);
        some.large_piece = std::min(large_piece, bytes / 8);
        return some;
    }
};

enum class read_strategy : std::uint8_t {
    untouched,  ///< nothing in it is wanted
    whole,      ///< read into memory, with others
    in_place,   ///< read in place
    opened,     ///< in pieces that fit into the CPU's cache
    sparse,     ///< in small pieces, where something is wanted
    large,      ///< in large pieces
};

/// The most bytes that are held of a file which is read by its ranges together with others.
[[nodiscard]] constexpr std::uint64_t bytes_held(const file_extent& extent, read_strategy way) noexcept {
    return way == read_strategy::whole ? extent.end : extent.wanted;
}

/// How to read a file; `can_view`: in-place reading is possible; `can_open`: it may be opened, and its records are
/// read in the order in which they are stored.
[[nodiscard]] constexpr read_strategy strategy_for(const file_extent& extent, const reading_limits& limits,
                                                   bool can_view, bool can_open = false) noexcept {
    if (extent.records == 0) {
        return read_strategy::untouched;
    }
    const bool is_bounded = extent.end <= limits.largest_whole || extent.largest <= limits.largest_record;
    const bool is_opened = can_open && is_bounded && extent.end >= limits.opened_from;
    const bool opens_all = is_opened && limits.opened_from == 0;
    if (!opens_all && extent.end >= limits.sparse_from && extent.wanted < extent.end / 8) {
        return read_strategy::sparse;
    }
    if (can_view && extent.end >= limits.in_place_from) {
        return read_strategy::in_place;
    }
    if (is_opened) {
        return read_strategy::opened;
    }
    return extent.end <= limits.largest_whole ? read_strategy::whole : read_strategy::large;
}

/// Calls one(name_id, const layout::entry*) for each tensor of a file for which wanted(name_id) holds, with the entry
/// that decides its position, null if only a shape was saved.
/// Order: by the values' entries (of two with one name the last counts); a tensor without values has the position of
///        its first reduction (in the order of their names' list); those with only a shape come last.
template <class Wanted, class One>
void each_tensor(const catalog& from, const catalog::file& file, Wanted&& wanted, One&& one) {
    const layout& entries = from.layout_of(file);
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = from.entry_of(file, entries, place);
        if (wanted(entry.what.name) && entries.names().is_visited_at(place)) {
            one(entry.what.name, &entry);
        }
    }
    for (const layout::shape_entry& shape : entries.shapes()) {
        if (wanted(shape.name) && entries.shape(shape.name) == &shape && !entries.has_values(shape.name) &&
            entries.saved_reductions(shape.name).empty()) {
            one(shape.name, static_cast<const layout::entry*>(nullptr));
        }
    }
}

/// Calls one(reduction_key, const layout::entry&) for each saved reduction of a tensor that is in `asked`.
template <class One>
void each_saved(const catalog& from, const catalog::file& file, name_id name, reduction_set asked, One&& one) {
    const layout& entries = from.layout_of(file);
    if (entries.names().values_alone()) {
        return;
    }
    const reduction_set there = entries.saved_reductions(name) & asked;
    for (std::size_t i = 0; !there.empty() && i < 2 * reduction_count; ++i) {
        if (const reduction_key key = reduction_key::from_index(i); there.contains(key)) {
            one(key, *from.reduction_of(file, name, key));
        }
    }
}

/// Calls take(byte_range) for each record that a scan reads, and ended() after those of each tensor: reductions come
/// before the values.
template <class Take, class Ended>
void each_record(const catalog& from, const catalog::file& file, const selected_tensors& which, reduction_set saved,
                 Take&& take, Ended&& ended) {
    const auto wanted = [&](name_id name) { return which.contains(name); };
    const auto take_entry = [&](const layout::entry& entry) {
        if (entry.is_in_object()) {
            take(entry.record);
        }
    };
    each_tensor(from, file, wanted, [&](name_id name, const layout::entry* entry) {
        if (entry == nullptr) {
            return;
        }
        each_saved(from, file, name, saved, [&](reduction_key, const layout::entry& one) { take_entry(one); });
        if (entry->what.kind == 0) {
            take_entry(*entry);
        }
        ended();
    });
}

/// How far a list of files has been prefetched, so that each file is requested once.  Shared by the threads that walk
/// parts of the list.
class files_ahead {
public:
    /// The number of files to prefetch while a file of `bytes` is read, including that file.
    [[nodiscard]] static constexpr std::size_t window(std::uint64_t bytes) noexcept {
        constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;
        return static_cast<std::size_t>(
            std::clamp<std::uint64_t>(most_bytes / std::max<std::uint64_t>(bytes, 1), 2, widest));
    }

    /// The maximum of window().
    static constexpr std::size_t widest = 16;

    /// Whether a place, and with it all before it, is taken or skipped.
    [[nodiscard]] bool is_taken(std::size_t place) const noexcept {
        return place < end_.load(std::memory_order_relaxed);
    }

    /// Takes the first free place from `begin` on, before `end`; nothing if there is none.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t begin, std::size_t end) noexcept;

    /// Reports whether a taken file was cached already: if it was, the files after it probably are, too, and some of
    /// them are not prefetched.
    void report(std::size_t place, bool was_there) noexcept;

private:
    static constexpr std::size_t most_skipped = 32;

    void skip_to(std::size_t end) noexcept;

    std::atomic<std::size_t> end_{0};
    std::atomic<std::size_t> skipped_{0};  // files to skip after one that was cached
};

class trial_state;

/// Prefetches for a walk over the steps of a run in a remote storage: the event files of the next steps are fetched
/// before they are needed, each once, and kept until the walk has passed them.  Whole ones, or, where little of a file is
/// wanted, its wanted records.
/// Memory: `most_bytes`: half for the steps ahead, a quarter for the last steps, which rules compare with.
/// Threads: one at a time; any thread may read what is kept.
class step_prefetch {
public:
    step_prefetch(std::shared_ptr<const trial_state> state, std::uint64_t most_bytes);

    /// Whether event files are prefetched here: if the storage can hold parts of its objects.  A second prefetch at the
    /// same time would fetch them twice.
    [[nodiscard]] bool fetches() const noexcept { return objects_ != nullptr; }

    /// Advances to a step: begins to fetch the event files of this step and of the available steps after it, below
    /// `end`, as far as they contain these tensors and there is room.  Returns at once.
    void begin_step(step_number step, std::optional<step_number> end, std::vector<std::string> names);

    /// Fetches a tensor that is unexpectedly needed at this step: files up to 16 MiB whole, since other tensors will
    /// follow.
    void fetch(const std::string& name);

    /// The next complete steps after `step`, below `end`; if event files are prefetched, those whose fetch has begun.
    [[nodiscard]] std::vector<step_number> steps_after(step_number step, std::optional<step_number> end,
                                                       std::size_t most) const;

private:
    static constexpr std::size_t most_files_ahead = 256;  // as many as are worth naming to a storage at once
    static constexpr std::uint64_t most_gap = std::uint64_t{1} << 20U;  // between two records that are fetched together
    static constexpr std::uint64_t small = std::uint64_t{1} << 20U;     // a file up to this size is fetched whole
    static constexpr std::uint64_t unexpected = std::uint64_t{16} << 20U;  // the same if more of it will be needed

    struct file_plan {
        std::string key;
        std::uint64_t bytes = 0;
        std::vector<byte_range> parts = {};
    };
    struct kept_step {
        std::uint64_t bytes = 0;
        std::set<std::string, std::less<>> keys;
    };
    struct kept_files {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
    };

    /// The files of a step, or parts of them, that are wanted and not kept yet; those up to `whole_up_to` bytes whole.
    [[nodiscard]] std::vector<file_plan> planned(const catalog& from, step_number step, const selected_tensors& which,
                                                 std::uint64_t whole_up_to) const;
    /// Begins to fetch what is wanted of this step, as far as there is room.
    void fetch_step(const catalog& from, const selected_tensors& which, std::uint64_t whole_up_to);
    /// Plans to fetch everything that is wanted of a later step, or nothing.  Returns false if there is no room yet.
    [[nodiscard]] bool plan_ahead(const catalog& from, step_number step, const selected_tensors& which);
    void fetch_planned();

    [[nodiscard]] kept_files ahead() const noexcept;
    /// Whether half of the room for steps ahead is free: fetching many files together costs less.
    [[nodiscard]] bool wants_more() const noexcept;
    /// Drops past steps, the oldest first, until so many more bytes can be kept.
    [[nodiscard]] bool make_room(std::uint64_t bytes);
    void drop_oldest();
    void keep(step_number step, const file_plan& file);

    std::shared_ptr<const trial_state> state_;
    std::unique_ptr<pinned_ranges> objects_;
    std::uint64_t most_;
    step_number at_ = -1;
    std::map<step_number, kept_step> steps_;
    std::uint64_t kept_bytes_ = 0;       // of all steps_
    std::vector<object_range> planned_;  // borrows its keys from steps_
    step_number begun_ = 0;              // the event files of earlier steps were requested
    // Those of steps before this one were requested without the tensor that fetch() was last called for.
    step_number begun_for_fewer_ = 0;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/reading_plan.ipp>
#endif
