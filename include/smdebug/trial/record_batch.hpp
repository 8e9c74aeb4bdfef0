// The wanted records of event files that lie far away: asked for together, and taken one by one as a scan needs them.
// Used by: trial/scan_walk.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_ranges.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Records of one event file that were read beforehand.  An event source, see event_source.hpp.
class collected_event_file {
public:
    collected_event_file() = default;
    /// `records`: how many there will be.
    collected_event_file(std::string key, std::size_t records) : key_(std::move(key)), slots_(records) {}

    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// The bytes of a record, by its place; nothing where the file is not there.
    void put(std::size_t place, std::optional<byte_buffer> bytes) {
        slots_[place].is_there = bytes.has_value();
        slots_[place].bytes = std::move(bytes).value_or(byte_buffer{});
    }
    /// Why there are none.
    void fail(std::size_t place, std::exception_ptr why) { slots_[place].why = std::move(why); }

    /// Whether the file is there, as far as the first record tells.
    [[nodiscard]] bool is_there() const noexcept {
        return slots_.empty() || slots_.front().is_there || slots_.front().why != nullptr;
    }

    /// The bytes of the next record, which is `record`, cut at the file's end; gone at the next call.
    /// Errors: why it could not be read; not_found where the file went away after its first record was read.
    [[nodiscard]] byte_view at(byte_range record) {
        slot& next = slots_[next_++];
        held_ = std::exchange(next.bytes, {});
        if (next.why != nullptr) {
            std::rethrow_exception(next.why);
        }
        if (!next.is_there) {
            throw not_found("event file " + key_ + " was removed while it was read", {.where = key_});
        }
        return held_.slice({.offset = 0, .length = record.length}).view();
    }

    /// Whether every record was taken.
    [[nodiscard]] bool taken() const noexcept { return next_ == slots_.size(); }

private:
    struct slot {
        byte_buffer bytes = {};
        bool is_there = false;
        std::exception_ptr why = {};
    };

    std::string key_;
    std::vector<slot> slots_;
    std::size_t next_ = 0;
    byte_buffer held_;
};

/// What is asked for of some event files with one call of read_ranges.
class record_batch {
public:
    /// A file of which these records are wanted, in the order in which they will be taken.
    void add(std::string key, std::span<const byte_range> records) {
        const std::string& kept = keys_.emplace_back(std::move(key));
        // Asked for by ascending offset, which is what storages merge.
        std::vector<std::size_t> order(records.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return records[a].offset < records[b].offset; });
        std::uint64_t wanted = 0;
        for (const std::size_t place : order) {
            ranges_.push_back({kept, records[place]});
            places_.push_back(place);
            wanted += std::min(records[place].length, most - wanted);
        }
        const std::uint64_t span = order.empty() ? 0 : records[order.back()].offset - records[order.front()].offset;
        files_.push_back({.end = ranges_.size(), .scattered = wanted < span / 2});
    }

    /// How many records are asked for.
    [[nodiscard]] std::size_t records() const noexcept { return ranges_.size(); }

    /// Reads everything, with one call where nothing fails, and calls finish(file, collected_event_file&), by the order
    /// of add(), for each file when all of it is there.  Records that cannot be read are told by the source.
    /// Errors: what `finish` throws, which ends it.
    /// Memory: the records of one file, and what the storage has in flight.
    template <storage Storage, class Finish>
    void read(const Storage& store, Finish&& finish) const {
        std::size_t file = 0;
        collected_event_file collected = file_at(0);
        const auto finish_to = [&](std::size_t end) {
            while (file < files_.size() && files_[file].end == end) {
                finish(file, collected);
                collected = file_at(++file);
            }
        };
        finish_to(0);
        read_ranges_past_errors(
            store, ranges_,
            [&](std::size_t i, std::optional<byte_buffer> bytes) {
                if (bytes && files_[file].scattered && bytes->size() <= largest_copy) {
                    // Else a small record would keep all that came with the same request.
                    bytes = byte_buffer::take(std::vector<std::byte>(bytes->view().begin(), bytes->view().end()));
                }
                collected.put(places_[i], std::move(bytes));
                finish_to(i + 1);
            },
            [&](std::size_t i) {
                collected.fail(places_[i], std::current_exception());
                finish_to(i + 1);
            });
    }

private:
    static constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t largest_copy = std::size_t{8} << 20U;

    struct file_part {
        std::size_t end = 0;     // of its ranges
        bool scattered = false;  // most of what lies between its records is not wanted
    };

    [[nodiscard]] collected_event_file file_at(std::size_t number) const {
        if (number == files_.size()) {
            return {};
        }
        return {keys_[number], files_[number].end - (number > 0 ? files_[number - 1].end : 0)};
    }

    std::deque<std::string> keys_;  // which the ranges borrow
    std::vector<object_range> ranges_;
    std::vector<std::size_t> places_;  // of each range among the records of its file
    std::vector<file_part> files_;
};

/// A file of which more is wanted than is to be held at once.  An event source.
/// Memory: records of `most` bytes together, or one, and what the storage has in flight.  Borrows the storage.
template <storage Storage>
class paged_event_file {
public:
    /// `records`: all that will be taken, in that order.
    paged_event_file(const Storage& store, std::string key, std::vector<byte_range> records, std::uint64_t most)
        : store_(store), key_(std::move(key)), records_(std::move(records)), most_(most) {
        read_page();
        is_there_ = page_.is_there();
    }

    /// Whether the file was there at first.
    [[nodiscard]] bool is_there() const noexcept { return is_there_; }

    /// As collected_event_file::at().
    [[nodiscard]] byte_view at(byte_range record) {
        if (page_.taken()) {
            read_page();
        }
        return page_.at(record);
    }

private:
    void read_page() {
        page_ = {};
        const std::size_t begin = next_;
        for (std::uint64_t bytes = 0; next_ < records_.size(); ++next_) {
            if (next_ > begin && records_[next_].length > most_ - bytes) {
                break;
            }
            bytes += std::min(records_[next_].length, most_ - bytes);
        }
        record_batch batch;
        batch.add(key_, std::span{records_}.subspan(begin, next_ - begin));
        batch.read(store_, [&](std::size_t, collected_event_file& page) { page_ = std::move(page); });
    }

    const Storage& store_;
    std::string key_;
    std::vector<byte_range> records_;
    std::uint64_t most_;
    std::size_t next_ = 0;  // the first that is not in the page, nor was in an earlier one
    collected_event_file page_;
    bool is_there_ = false;
};

}  // namespace v1
}  // namespace smdebug
