// The bodies of <smdebug/formats/checkpoints/joined_object.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/formats/checkpoints/joined_object.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE any_storage open_zip(const any_storage& folder, const std::string& key, archive_options options) {
    constexpr std::uint64_t most_of_deflate = 1'100;  // 1032, and the overhead of a small stream
    options.most_ratio = std::max(options.most_ratio, most_of_deflate);
    return smdebug::detail::openers_of_archives(smdebug::detail::path_of(folder, key))
        .open_files(folder, key, options, archive::detail::member_names::texts);
}

SMDEBUG_INLINE const joined_object::part* joined_object::at(std::uint64_t offset) const noexcept {
    const auto found = std::upper_bound(parts.begin(), parts.end(), offset,
                                        [](std::uint64_t place, const part& one) { return place < one.end; });
    return found != parts.end() ? &*found : nullptr;
}

/// An opened one.
class opened_joined final : public opened_object {
public:
    explicit opened_joined(std::shared_ptr<const joined_object> whole) : whole_(std::move(whole)) {}
    [[nodiscard]] std::uint64_t size() const noexcept override { return whole_->size(); }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        std::size_t done = 0;
        while (done < into.size()) {  // a range may extend over the end of a part
            const joined_object::part* const one = whole_->at(offset + done);
            if (one == nullptr) {
                break;
            }
            const auto most =
                static_cast<std::size_t>(std::min<std::uint64_t>(into.size() - done, one->end - (offset + done)));
            const byte_buffer bytes = piece_of(*one, {.offset = offset + done - one->begin, .length = most});
            std::copy(bytes.view().begin(), bytes.view().end(), into.begin() + static_cast<std::ptrdiff_t>(done));
            done += bytes.size();
            if (bytes.size() < most) {
                break;  // the file has changed
            }
        }
        return done;
    }

private:
    [[nodiscard]] byte_buffer piece_of(const joined_object::part& one, byte_range where) const {
        const byte_range in_object{.offset = one.offset + where.offset, .length = where.length};
        if (whole_->is_stored) {
            return whole_->files.read(one.key, in_object);
        }
        const std::lock_guard lock{mutex_};
        if (last_ != &one) {
            last_ = nullptr;
            bytes_ = {};
            bytes_ = whole_->files.read(one.key);
            last_ = &one;
        }
        return bytes_.slice(in_object);
    }

    std::shared_ptr<const joined_object> whole_;
    mutable std::mutex mutex_;
    mutable const joined_object::part* last_ = nullptr;
    mutable byte_buffer bytes_;
};

SMDEBUG_INLINE std::unique_ptr<opened_object> open_joined(std::shared_ptr<const joined_object> whole) {
    return std::make_unique<opened_joined>(std::move(whole));
}

SMDEBUG_INLINE byte_buffer joined_object::read(byte_range where) const {
    const part* const one = at(where.offset);
    if (one == nullptr) {
        return {};
    }
    const std::uint64_t length = std::min(where.length, size() - where.offset);
    if (where.offset + length <= one->end) {
        return files.read(one->key, {.offset = one->offset + where.offset - one->begin, .length = length});
    }
    std::vector<std::byte> bytes;
    for (std::uint64_t begin = where.offset; begin < where.offset + length;) {
        const part& next = *at(begin);
        const std::uint64_t end = std::min(where.offset + length, next.end);
        const byte_buffer some =
            files.read(next.key, {.offset = next.offset + begin - next.begin, .length = end - begin});
        bytes.insert(bytes.end(), some.view().begin(), some.view().end());
        if (some.size() < end - begin) {
            break;  // the file has changed
        }
        begin = end;
    }
    return byte_buffer::take(std::move(bytes));
}

SMDEBUG_INLINE std::shared_ptr<const joined_object> joined_table::find(std::string_view key) const {
    const auto table = table_.lock();
    const auto found = table->find(key);
    return found != table->end() ? found->second : nullptr;
}

}  // namespace smdebug::inline v1::formats::detail
