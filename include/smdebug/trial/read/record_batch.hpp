// The wanted records of event files that lie far away: asked for together, and taken one by one as a scan needs them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Records of one event file that were read beforehand.
class collected_event_file final : public event_source {
public:
    collected_event_file() = default;
    /// `records`: how many there will be.
    collected_event_file(std::string key, std::size_t records) : key_(std::move(key)), slots_(records) {}

    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// The bytes of a record, by its place; nothing where the file is not there.
    void put(std::size_t place, std::optional<byte_buffer> bytes);
    /// Why there are none.
    void fail(std::size_t place, std::exception_ptr why) { slots_[place].why = std::move(why); }

    /// Whether the file is there, as far as the first record tells.
    [[nodiscard]] bool is_there() const noexcept {
        return slots_.empty() || slots_.front().is_there || slots_.front().why != nullptr;
    }

    /// The bytes of the next record, which is `record`, cut at the file's end; gone at the next call.
    /// Errors: why it could not be read; not_found where the file went away after its first record was read.
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;

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
    byte_buffer taken_;
};

/// What is asked for of some event files with one call of read_ranges.
class record_batch {
public:
    /// A file of which these records are wanted, in the order in which they will be taken.
    void add(std::string key, std::span<const byte_range> records);

    /// How many records are asked for.
    [[nodiscard]] std::size_t records() const noexcept { return ranges_.size(); }

    /// Reads everything, with one call where nothing fails, and calls finish(file, collected_event_file&), by the order
    /// of add(), for each file when all of it is there.  Records that cannot be read are told by the source.
    /// The records of a file are of one version of it, as far as the storage tells versions: of a file that is replaced
    /// meanwhile they are read again; where that goes on, the source tells of each.
    /// Where `finish` returns false, it ends, and returns false.  Errors: what `finish` throws.
    /// Memory: the records of one file, and what the storage has in flight.
    template <class Finish>
    bool read(const any_storage& store, Finish&& finish) const {
        std::size_t number = 0;
        incoming_file incoming{*this, 0};
        const auto finish_to = [&](std::size_t end) {
            while (number < files_.size() && files_[number].end == end) {
                if (incoming.is_mixed()) {
                    read_again(store, number, incoming);
                }
                if (!goes_on(finish, number, incoming.collected)) {
                    return false;
                }
                incoming = incoming_file{*this, ++number};
            }
            return true;
        };
        return finish_to(0) && read_ranges_past_errors(
                                   store, ranges_,
                                   [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                                       incoming.put(i, std::move(bytes), version);
                                       return finish_to(i + 1);
                                   },
                                   [&](std::size_t i) {
                                       incoming.collected.fail(places_[i], std::current_exception());
                                       return finish_to(i + 1);
                                   });
    }

private:
    static constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t largest_copy = std::size_t{8} << 20U;

    struct file_part {
        std::size_t end = 0;     // of its ranges
        bool scattered = false;  // most of what lies between its records is not wanted
    };

    // A file whose records are coming.
    class incoming_file {
    public:
        incoming_file(const record_batch& of, std::size_t number);
        void put(std::size_t i, std::optional<byte_buffer> bytes, const object_version& version);
        [[nodiscard]] bool is_mixed() const noexcept { return mixed_; }

        collected_event_file collected;

    private:
        const record_batch* of_;
        bool scattered_ = false;
        object_version version_;
        bool mixed_ = false;
    };

    [[nodiscard]] std::size_t begin_of(std::size_t number) const { return number > 0 ? files_[number - 1].end : 0; }

    // Reads a file alone, until all of it is of one version.
    void read_again(const any_storage& store, std::size_t number, incoming_file& incoming) const {
        const std::size_t begin = begin_of(number);
        for (int version = 1; incoming.is_mixed() && version < most_versions; ++version) {
            incoming = incoming_file{*this, number};
            read_ranges_past_errors(
                store, std::span{ranges_}.subspan(begin, files_[number].end - begin),
                [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version_read) {
                    incoming.put(begin + i, std::move(bytes), version_read);
                },
                [&](std::size_t i) { incoming.collected.fail(places_[begin + i], std::current_exception()); });
        }
        if (incoming.is_mixed()) {
            incoming = incoming_file{*this, number};
            try {
                throw_replaced(keys_[number]);
            } catch (const unavailable&) {
                for (std::size_t i = begin; i < files_[number].end; ++i) {
                    incoming.collected.fail(places_[i], std::current_exception());
                }
            }
        }
    }

    std::deque<std::string> keys_;  // which the ranges borrow
    std::vector<object_range> ranges_;
    std::vector<std::size_t> places_;  // of each range among the records of its file
    std::vector<file_part> files_;
};

/// A file of which more is wanted than is to be held at once.
/// Memory: records of `most` bytes together, or one group, and what the storage has in flight.  Borrows the storage.
class paged_event_file final : public event_source {
public:
    /// `records`: all that will be taken, in that order.  Those that belong together come with one page, and so are of
    /// one version of the file; other pages may be of another.  `group_ends`: where each group ends among them,
    /// ascending; behind the last one each record is a group.
    paged_event_file(const any_storage& store, std::string key, std::vector<byte_range> records, std::uint64_t most,
                     std::vector<std::size_t> group_ends = {});

    /// Whether the file was there at first.
    [[nodiscard]] bool is_there() const noexcept { return is_there_; }

    /// As collected_event_file::at().
    [[nodiscard]] SMDEBUG_INLINE byte_view at(byte_range record) override;

private:
    void read_page();

    [[nodiscard]] std::uint64_t bytes_of(std::size_t begin, std::size_t end) const noexcept;

    const any_storage& store_;
    std::string key_;
    std::vector<byte_range> records_;
    std::vector<std::size_t> group_ends_;
    std::uint64_t most_;
    std::size_t next_ = 0;   // the first that is not in the page, nor was in an earlier one
    std::size_t group_ = 0;  // which begins with it
    collected_event_file page_;
    bool is_there_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/record_batch.ipp>
#endif
