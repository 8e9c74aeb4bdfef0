// How much of an event file is read for one record: what is claimed of its length is believed within bounds only.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/tensor/any_decoder.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Cuts what an index file claims for a record down to what the record's own head says, before memory is asked for.
/// A sparse file of a hundred bytes may look like terabytes, so the file's size alone is no bound.
/// Borrows: the decoder, for its life.
class record_bound {
public:
    /// `most`: size_limits::record.
    record_bound(const any_decoder& decoder, std::uint64_t most) noexcept : decoder_(&decoder), most_(most) {}

    /// The part of `claimed` to read.  Errors: corrupt_data for a record above the limit; those of the storage.
    /// Cost: none for records up to 16 MiB, else a read of the record's head, where the decoder knows of heads.
    [[nodiscard]] byte_range operator()(const any_storage& store, const std::string& key, byte_range claimed) const {
        if (claimed.length <= std::min(most_, believed)) {
            return claimed;
        }
        if (const std::uint64_t head_size = decoder_->abilities().head_size; head_size > 0) {
            const byte_range head{claimed.offset, head_size};
            const result<std::uint64_t> size = decoder_->record_size(store.read(key, head).view());
            if (!size.ok()) {
                return head;  // decoding it fails for the same reason
            }
            claimed.length = std::min(claimed.length, *size);
        }
        if (claimed.length > most_) {
            throw corrupt_data("the record claims " + std::to_string(claimed.length) + " bytes, more than the " +
                                   std::to_string(most_) + " that trial_options::limits.record allows",
                               {.where = key, .offset = claimed.offset});
        }
        return claimed;
    }

    /// The same without a look at the record: for storages where what is not there is not sent either.
    [[nodiscard]] byte_range cut(byte_range claimed) const noexcept {
        return {claimed.offset, std::min(claimed.length, most_)};
    }

private:
    static constexpr std::uint64_t believed = std::uint64_t{16} << 20U;

    const any_decoder* decoder_;
    std::uint64_t most_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
