// The bodies of <smdebug/trial/read/event_source.hpp>.
#pragma once

#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE byte_view event_source::entry_bytes(const layout::entry& entry) { return at(entry.record); }

SMDEBUG_INLINE opened_event_file* event_source::opened() noexcept { return nullptr; }

SMDEBUG_INLINE byte_view whole_event_file::at(byte_range record) { return part(record); }

SMDEBUG_INLINE byte_view whole_event_file::part(byte_range record) const noexcept {
    const auto begin = static_cast<std::size_t>(std::min<std::uint64_t>(record.offset, bytes_.size()));
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(record.length, bytes_.size() - begin));
    return bytes_.subspan(begin, length);
}

/// An object that is read by ranges.
class ranged_object final : public opened_object {
public:
    ranged_object(any_storage store, std::string key, std::uint64_t size)
        : store_(std::move(store)), key_(std::move(key)), size_(size) {}
    [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        const byte_buffer bytes = store_.read(key_, {.offset = offset, .length = into.size()});
        std::copy(bytes.view().begin(), bytes.view().end(), into.begin());
        return bytes.size();
    }

private:
    any_storage store_;
    std::string key_;
    std::uint64_t size_;
};

SMDEBUG_INLINE std::unique_ptr<opened_object> open_or_range(const any_storage& store, const std::string& key) {
    if (auto object = store.open(key)) {
        return object;
    }
    const std::optional<std::uint64_t> size = store.size(key);
    return size ? std::make_unique<ranged_object>(store, key, *size) : nullptr;
}

SMDEBUG_INLINE byte_view piecewise_event_file::at(byte_range record) {
    const bool inside =
        record.offset >= begin_ && record.length <= asked_ && record.offset - begin_ <= asked_ - record.length;
    if (!inside) {
        const std::uint64_t length = std::max(record.length, least_);
        asked_ = 0;  // should the reading fail
        piece_ = {};
        piece_ = store_.read(key_, {.offset = record.offset, .length = length});
        begin_ = record.offset;
        asked_ = length;
    }
    return whole_event_file{piece_.view()}.part({.offset = record.offset - begin_, .length = record.length});
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
