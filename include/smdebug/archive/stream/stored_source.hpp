// An archive as an object of a storage.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Reads the object as it was when this was made: one that has another size, version or time since is `unavailable`.
/// Cost of that check: none where the storage tells versions when it reads, else a look at size and time a read.
template <storage Inner>
class stored_source final : public byte_source {
public:
    /// Errors: not_found, and those of the storage.
    stored_source(Inner inner, std::string key)
        : stored_source(std::make_shared<const Inner>(std::move(inner)), std::move(key)) {}
    stored_source(std::shared_ptr<const Inner> inner, std::string key)
        : inner_(std::move(inner)), key_(std::move(key)) {
        const std::optional<std::uint64_t> bytes = inner_->size(key_);
        if (!bytes) {
            throw not_found("there is no archive " + name(), {.where = name()});
        }
        size_ = *bytes;
        written_ = modified();
        if constexpr (smdebug::detail::opening_storage<Inner>) {
            opened_ = inner_->open(key_);
        }
        const object_range head{key_, {0, 1}};
        read_ranges_versioned(
            *inner_, {&head, 1},
            [&](std::size_t, const std::optional<byte_buffer>&, const object_version& version) { version_ = version; });
    }

    [[nodiscard]] byte_buffer read(byte_range where) const override {
        byte_buffer part;
        read_many({&where, 1}, [&](std::size_t, byte_buffer bytes) { part = std::move(bytes); });
        return part;
    }

    void read_many(std::span<const byte_range> ranges, part_sink sink) const override {
        std::vector<object_range> parts;
        parts.reserve(ranges.size());
        for (const byte_range& range : ranges) {
            parts.push_back({key_, cut(range)});
        }
        read_ranges_versioned(
            *inner_, parts, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                if (!bytes || version.differs_from(version_) || bytes->size() < parts[i].where.length || changed()) {
                    fail_changed(parts[i].where.offset);
                }
                sink(i, std::move(*bytes));
            });
    }

    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        if (opened_ == nullptr) {
            return byte_source::read_at(offset, into);
        }
        const byte_range part = cut({offset, into.size()});
        const std::size_t length = opened_->read_at(part.offset, into.first(static_cast<std::size_t>(part.length)));
        if (length < part.length || changed()) {
            fail_changed(part.offset);
        }
        return length;
    }

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] std::string version() const override {
        if (!version_.tag.empty()) {
            return "tag " + version_.tag;
        }
        return written_ ? "time " + std::to_string(written_->time_since_epoch().count()) : std::string{};
    }
    [[nodiscard]] std::shared_ptr<const byte_source> sibling(std::string_view more) const override {
        std::string key = key_ + std::string{more};
        return inner_->size(key) ? std::make_shared<const stored_source>(inner_, std::move(key)) : nullptr;
    }
    [[nodiscard]] std::string name() const override { return smdebug::detail::path_of(*inner_, key_); }
    [[nodiscard]] bool batches_ranges() const override { return abilities_of(*inner_).batches_ranges; }

private:
    [[noreturn]] void fail_changed(std::uint64_t offset) const {
        throw unavailable("the archive " + name() + " has changed while it was read: open it again",
                          {.where = name(), .offset = offset});
    }
    [[nodiscard]] byte_range cut(byte_range where) const noexcept {
        const std::uint64_t begin = where.offset < size_ ? where.offset : size_;
        return {begin, where.length < size_ - begin ? where.length : size_ - begin};
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified() const {
        if constexpr (dated_storage<Inner>) {
            return inner_->modified(key_);
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] bool changed() const {
        if (!version_.tag.empty()) {
            return false;  // each reading tells
        }
        return inner_->size(key_) != size_ || modified() != written_;
    }

    std::shared_ptr<const Inner> inner_;
    std::string key_;
    std::uint64_t size_ = 0;
    std::optional<std::chrono::system_clock::time_point> written_;
    object_version version_;
    std::unique_ptr<smdebug::detail::opened_object> opened_;  // null: the storage reads as well without
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
