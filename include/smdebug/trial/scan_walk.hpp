// The files of a scan, one after another: read whole, looked at in place, or read in pieces where only some of a file
// is wanted or where it is too large for memory. Used by: trial/scan.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/event_source.hpp>
#include <smdebug/trial/layout.hpp>
#include <smdebug/trial/scan_file.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How much of an event file there is to read, by its index file.
struct file_extent {
    std::uint64_t end = 0;     ///< where the last record ends
    std::uint64_t wanted = 0;  ///< bytes of the records that are selected
    std::size_t records = 0;   ///< how many those are
    friend constexpr bool operator==(const file_extent&, const file_extent&) = default;
};

/// What a layout says of its files.      Cost: one pass over its entries.
[[nodiscard]] inline file_extent extent_of(const layout& entries, const selected_tensors& which) noexcept {
    file_extent found;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = entries[place];
        // Index files are not to be trusted: numbers that overflow make a file that is read whole, and found damaged.
        found.end = std::max(found.end, entry.record.offset + entry.record.length);
        if (which.contains(entry.what.name)) {
            found.wanted += entry.record.length;
            ++found.records;
        }
    }
    return found;
}

/// When a file is not read whole.
struct reading_limits {
    std::uint64_t largest_whole = std::uint64_t{64} << 20U;  ///< beyond that it is looked at in place, or in pieces
    std::uint64_t large_piece = std::uint64_t{8} << 20U;     ///< of such
    /// Files from that size on of which less than an eighth is wanted are read in pieces, too, smaller ones.
    std::uint64_t sparse_from = std::uint64_t{256} << 10U;
    std::uint64_t small_piece = std::uint64_t{64} << 10U;
};

/// Reads some files of one run, in order.  One thread at a time; several may share state, catalog and selection.
/// Borrows: all that it is made of.
template <class State>
class scan_walk {
public:
    scan_walk(const State& state, const catalog& from, const selected_tensors& which, reduction_set saved,
              bool defer_checks = false, const reading_limits& limits = {})
        : state_(state),
          from_(from),
          which_(which),
          limits_(limits),
          scanner_(state, from, saved, which.names(), defer_checks) {}

    /// The extent of a file; files of the same layout cost nothing after the first.
    [[nodiscard]] file_extent extent(const catalog::file& held) {
        if (!last_layout_ || *last_layout_ != held.layout) {
            last_extent_ = extent_of(from_.layout_of(held), which_);
            last_layout_ = held.layout;
        }
        return last_extent_;
    }

    /// Calls visit(place, const scanned_tensor&) for each selected tensor of each file, and done(place) after each
    /// file. A file that cannot be read is handed over as a failure of each of its tensors, and the next one is read.
    /// Errors: what `visit` and `done` throw, which ends the walk.
    template <class Visit, class Done>
    void walk(std::span<const catalog::file* const> files, Visit&& visit, Done&& done) {
        for (std::size_t begin = 0; begin < files.size();) {
            std::size_t end = begin;
            while (end < files.size() && end - begin < most_at_once && is_read_whole(extent(*files[end]))) {
                ++end;
            }
            read_whole(files, begin, end, visit, done);
            if (end < files.size() && end == begin) {
                read_apart(files, end, visit, done);
                ++end;
            }
            begin = end;
        }
    }

private:
    static constexpr std::size_t most_at_once = 256;  // files that are named to the storage in one call
    // A file of which little is wanted is not worth reading whole.
    [[nodiscard]] bool is_sparse(const file_extent& extent) const noexcept {
        return extent.end >= limits_.sparse_from && extent.wanted < extent.end / 8;
    }
    [[nodiscard]] bool is_read_whole(const file_extent& extent) const noexcept {
        return extent.end <= limits_.largest_whole && !is_sparse(extent);
    }

    template <class Visit, class Done>
    void read_whole(std::span<const catalog::file* const> files, std::size_t begin, std::size_t end, Visit& visit,
                    Done& done) {
        std::vector<std::string> keys;
        keys.reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            keys.push_back(State::event_key(from_, *files[i]));
        }
        const auto take = [&](std::size_t i, whole_event_file* source, const std::string* why_not) {
            const std::size_t place = begin + i;
            scanner_.scan(*files[place], keys[i], source, why_not,
                          [&](const scanned_tensor& tensor) { visit(place, tensor); });
            done(place);
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
                const std::string why_not{failed.message()};
                take(i, nullptr, &why_not);
            });
    }

    template <class Visit, class Done>
    void read_apart(std::span<const catalog::file* const> files, std::size_t place, Visit& visit, Done& done) {
        const catalog::file& held = *files[place];
        const std::string key = State::event_key(from_, held);
        const auto take = [&](auto* source, const std::string* why_not) {
            scanner_.scan(held, key, source, why_not, [&](const scanned_tensor& tensor) { visit(place, tensor); });
            done(place);
        };
        const bool sparse = is_sparse(extent(held));
        std::optional<byte_buffer> shown;
        bool is_there = false;
        std::string why_not;
        try {
            if constexpr (viewing_storage<typename State::storage_type>) {
                if (!sparse) {
                    shown = state_.store().view(key);
                }
            }
            is_there = shown || (!key.empty() && state_.store().size(key));
        } catch (const error& failed) {
            why_not = failed.message();
        }
        if (shown) {
            whole_event_file source{shown->view()};
            take(&source, nullptr);
        } else if (is_there) {
            piecewise_event_file source{state_.store(), key, sparse ? limits_.small_piece : limits_.large_piece};
            take(&source, nullptr);
        } else {
            take(static_cast<whole_event_file*>(nullptr), why_not.empty() ? nullptr : &why_not);
        }
    }

    const State& state_;
    const catalog& from_;
    const selected_tensors& which_;
    reading_limits limits_;
    file_scanner<State> scanner_;
    std::optional<std::uint32_t> last_layout_;
    file_extent last_extent_;
};

}  // namespace v1
}  // namespace smdebug
