// The wanted records of remote event files, requested together, or in pages, and taken one by one as a scan needs them;
// every record of a file, read front to back; and how far the length that an index file claims is trusted.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Records of one event file that were fetched in advance.
class collected_event_file final : public event_source {
public:
    collected_event_file() = default;
    /// `records`: how many records there will be.
    collected_event_file(std::string key, std::size_t records) : key_(std::move(key)), slots_(records) {}

    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// Sets the bytes of a record, by its index; nothing if the file does not exist.
    void put(std::size_t place, std::optional<byte_buffer> bytes);
    /// Sets why a record has no bytes.
    void fail(std::size_t place, std::exception_ptr why) { slots_[place].why = std::move(why); }

    /// Whether the file exists, judging by its first record.
    [[nodiscard]] bool is_there() const noexcept {
        return slots_.empty() || slots_.front().is_there || slots_.front().why != nullptr;
    }

    /// The bytes of the next record, which must be `record`, cut at the file's end; valid until the next call.
    /// Errors: why it could not be read; not_found if the file disappeared after its first record was read.
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

/// The ranges of some event files that one call of read_ranges requests.
class record_batch {
public:
    /// Adds a file and its wanted records, in the order in which they will be taken.
    void add(std::string key, std::span<const byte_range> records);

    /// The number of requested records.
    [[nodiscard]] std::size_t records() const noexcept { return ranges_.size(); }

    /// Reads everything, with one call if nothing fails, and calls finish(file, collected_event_file&) for each file
    /// when it is complete, in the order of add().  A record that cannot be read makes at() of its source throw.
    /// All records of a file come from one version of it, if the storage knows versions: when a file is replaced
    /// meanwhile they are read again; if that keeps happening, at() throws for each record.
    /// Stops and returns false when `finish` returns false.  Errors: what `finish` throws.
    /// Memory: the records of one file, and what the storage has in flight.
    bool read(const any_storage& store, visitor_ref<std::size_t, collected_event_file&> finish) const;

private:
    static constexpr std::size_t largest_copy = std::size_t{8} << 20U;

    struct file_part {
        std::size_t end = 0;     // of its ranges
        bool scattered = false;  // most of what lies between its records is not wanted
    };

    // A file whose records are arriving.
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

    // Reads one file separately, until all of it is of one version.
    void read_again(const any_storage& store, std::size_t number, incoming_file& incoming) const;

    std::deque<std::string> keys_;  // which the ranges borrow
    std::vector<object_range> ranges_;
    std::vector<std::size_t> places_;  // the index of each range among the records of its file
    std::vector<file_part> files_;
};

/// A file of which more is wanted than may be in memory at once.
/// Memory: records of `most` bytes together, or one group, and what the storage has in flight.  Borrows the storage.
class paged_event_file final : public event_source {
public:
    /// `records`: all that will be taken, in that order.  A group's records come with one page, so they are of one
    /// version of the file; other pages may be of another version.  `group_ends`: the index at which each group ends,
    /// ascending; after the last one each record is a group.
    paged_event_file(const any_storage& store, std::string key, std::vector<byte_range> records, std::uint64_t most,
                     std::vector<std::size_t> group_ends = {});

    /// Whether the file existed when it was first read.
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
    std::size_t next_ = 0;   // the first record that is neither in this page nor in an earlier one
    std::size_t group_ = 0;  // the group that begins with it
    collected_event_file page_;
    bool is_there_ = false;
};

/// One record.
struct event_record {
    byte_range where;
    status state = status::ok;  ///< its checksum, or its content, is wrong
    step_number step = 0;       ///< global
    std::string tag = {};       ///< of its first value
    bool has_value = false;     ///< a record without a value, such as a file's version, belongs to no tensor
    std::optional<smdebug::mode> mode = {};
    std::optional<step_number> mode_step = {};
    std::optional<shape_type> shape = {};     ///< of a tensor
    std::optional<std::int64_t> digest = {};  ///< of a tensor's values, where wanted
    std::optional<std::int64_t> number = {};  ///< the value of an int64 scalar, where digests are wanted
};

/// What a file holds.
struct event_records {
    std::vector<event_record> records;  ///< in the file's order, up to the first one that cannot be located
    status end = status::ok;            ///< why reading stopped before the file's end
    std::uint64_t end_offset = 0;       ///< where it stopped
};

/// The decimal integer that a text consists of; nothing if there is no text, or if it is anything else.
[[nodiscard]] std::optional<step_number> whole_number(std::optional<std::string_view> text) noexcept;

/// Fills in what the payload contains; returns at the first error.
[[nodiscard]] status read_event_facts(byte_view payload, event_record& out);

/// Fills in the digest of the tensor that the payload contains, if it is one that can be decoded.
void read_event_digest(byte_view payload, event_record& out);

/// Reads a file from front to back and verifies every checksum.  `most`: size_limits::record; a larger record ends the
/// file.  `digests`: also those of all tensors.
/// Errors: those of the storage; not_found if there is no such file.
/// Cost: one pass over the file.  Memory: 4 MiB or the largest record, and the result.
[[nodiscard]] event_records read_event_records(const any_storage& store, const std::string& key, std::uint64_t most,
                                               bool digests = false);

// How much of an event file is read for one record: its claimed length is trusted within bounds only.

/// Cuts the length that an index file claims for a record to what the record's own head says, before memory is
/// allocated.
/// A sparse file of a hundred bytes may look like terabytes, so the file's size alone is no bound.
/// Borrows: the decoder, for its life.
class record_bound {
public:
    /// `most`: size_limits::record.
    record_bound(const any_decoder& decoder, std::uint64_t most) noexcept : decoder_(&decoder), most_(most) {}

    /// The part of `claimed` to read.  Errors: corrupt_data for a record above the limit; those of the storage.
    /// Cost: none for records up to 16 MiB, else a read of the record's head, if the decoder supports heads.
    [[nodiscard]] byte_range operator()(const any_storage& store, const std::string& key, byte_range claimed) const {
        if (claimed.length <= std::min(most_, trusted_length)) {
            return claimed;
        }
        claimed =
            by_head(claimed, [&](byte_range head) { return decoder_->record_size(store.read(key, head).view()); });
        if (claimed.length > std::max(most_, decoder_->abilities().head_size)) {
            throw corrupt_data("the record claims " + std::to_string(claimed.length) + " bytes, more than the " +
                                   std::to_string(most_) + " allowed",
                               {.where = key,
                                .offset = claimed.offset,
                                .remedy = error_remedy::raise_limit,
                                .advice = " (trial_options::limits.record)"});
        }
        return claimed;
    }

    /// The length in a record's head, if it is less than claimed; for an invalid head the head alone, as decoding that
    /// fails for the same reason.  `size_of`: returns record_size() of the bytes in a range.
    template <class SizeOf>
    [[nodiscard]] byte_range by_head(byte_range claimed, SizeOf&& size_of) const {
        if (const std::uint64_t head_size = decoder_->abilities().head_size; head_size > 0) {
            const result<std::uint64_t> size = size_of(byte_range{claimed.offset, head_size});
            claimed.length = std::min(claimed.length, size.ok() ? *size : head_size);
        }
        return claimed;
    }

    /// Claims up to this size are trusted without a check.
    static constexpr std::uint64_t trusted_length = std::uint64_t{16} << 20U;

    /// The part of `claimed`, without reading the head: for storages that never send more bytes than exist.
    [[nodiscard]] byte_range cut(byte_range claimed) const noexcept {
        return {claimed.offset, std::min(claimed.length, most_)};
    }

private:
    const any_decoder* decoder_;
    std::uint64_t most_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/record_batch.ipp>
#endif
