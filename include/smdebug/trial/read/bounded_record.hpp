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

    /// The length that the head of a record says, if it is less than claimed; where it says nothing the head alone, as
    /// decoding it fails for the same reason.  `size_of`: gives record_size() of the bytes in a range.
    template <class SizeOf>
    [[nodiscard]] byte_range by_head(byte_range claimed, SizeOf&& size_of) const {
        if (const std::uint64_t head_size = decoder_->abilities().head_size; head_size > 0) {
            const result<std::uint64_t> size = size_of(byte_range{claimed.offset, head_size});
            claimed.length = std::min(claimed.length, size.ok() ? *size : head_size);
        }
        return claimed;
    }

    /// What is claimed up to that is believed without a look.
    static constexpr std::uint64_t believed = std::uint64_t{16} << 20U;

    /// The part of `claimed` without a look at the record: for storages where what is not there is not sent either.
    [[nodiscard]] byte_range cut(byte_range claimed) const noexcept {
        return {claimed.offset, std::min(claimed.length, most_)};
    }

private:
    const any_decoder* decoder_;
    std::uint64_t most_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
