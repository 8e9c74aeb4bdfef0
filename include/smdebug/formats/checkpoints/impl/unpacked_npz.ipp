// The bodies of <smdebug/formats/checkpoints/unpacked_npz.hpp>.
#pragma once

#include <smdebug/formats/checkpoints/unpacked_npz.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

SMDEBUG_INLINE const unpacked_npz::member* unpacked_npz::at(std::uint64_t offset) const noexcept {
    const auto found = std::upper_bound(members.begin(), members.end(), offset,
                                        [](std::uint64_t place, const member& one) { return place < one.end; });
    return found != members.end() ? &*found : nullptr;
}

SMDEBUG_INLINE byte_buffer unpacked_npz::read(byte_range where) const {
    const member* const one = at(where.offset);
    if (one == nullptr) {
        return {};
    }
    return files.read(one->key,
                      {.offset = where.offset - one->begin, .length = std::min(where.length, one->end - where.offset)});
}

/// One that was opened.
class opened_npz final : public smdebug::detail::opened_object {
public:
    explicit opened_npz(std::shared_ptr<const unpacked_npz> npz) : npz_(std::move(npz)) {}
    [[nodiscard]] std::uint64_t size() const noexcept override { return npz_->size(); }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        std::size_t done = 0;
        while (done < into.size()) {  // a piece may reach over the end of a member
            const unpacked_npz::member* const one = npz_->at(offset + done);
            if (one == nullptr) {
                break;
            }
            const auto most =
                static_cast<std::size_t>(std::min<std::uint64_t>(into.size() - done, one->end - (offset + done)));
            const byte_buffer bytes = part_of(*one, {.offset = offset + done - one->begin, .length = most});
            std::copy(bytes.view().begin(), bytes.view().end(), into.begin() + static_cast<std::ptrdiff_t>(done));
            done += bytes.size();
            if (bytes.size() < most) {
                break;  // the archive is not what it was
            }
        }
        return done;
    }

private:
    [[nodiscard]] byte_buffer part_of(const unpacked_npz::member& one, byte_range where) const {
        if (npz_->is_stored) {
            return npz_->files.read(one.key, where);
        }
        const std::lock_guard lock{mutex_};
        if (last_ != &one) {
            last_ = nullptr;
            bytes_ = {};
            bytes_ = npz_->files.read(one.key);
            last_ = &one;
        }
        return bytes_.slice(where);
    }

    std::shared_ptr<const unpacked_npz> npz_;
    mutable std::mutex mutex_;
    mutable const unpacked_npz::member* last_ = nullptr;
    mutable byte_buffer bytes_;
};

SMDEBUG_INLINE std::unique_ptr<smdebug::detail::opened_object> open_npz(std::shared_ptr<const unpacked_npz> npz) {
    return std::make_unique<opened_npz>(std::move(npz));
}

SMDEBUG_INLINE std::shared_ptr<const unpacked_npz> npz_table::find(std::string_view key) const {
    const auto table = table_.lock();
    const auto found = table->find(key);
    return found != table->end() ? found->second : nullptr;
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
