// Bytes that can be read from any place on: an archive where it lies, a part of it, or what it inflates to.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// What read_many() calls for each range: its place in the list, and the bytes.
using part_sink = function_ref<void(std::size_t, byte_buffer)>;

/// Threads: everything may be called at once.
class byte_source {
public:
    byte_source() = default;
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    /// A part of it, cut at its end.  Errors: unavailable (it changed since it was opened), corrupt_data, and those of the
    /// storage that it lies in.
    [[nodiscard]] virtual byte_buffer read(byte_range where) const = 0;
    /// Reads from `offset` on until `into` is full or it ends; returns how many bytes there were.  Errors: as read().
    [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const {
        const byte_buffer bytes = read({offset, into.size()});
        std::copy(bytes.view().begin(), bytes.view().end(), into.begin());
        return bytes.size();
    }
    /// At most so many bytes from `offset` on, where they are in memory as they are; fewer, or none, where not.
    /// Errors: as read().
    [[nodiscard]] virtual byte_buffer part(std::uint64_t /*offset*/, std::uint64_t /*most*/) const { return {}; }
    /// Many parts, handed over in the order of the list, on this thread.
    virtual void read_many(std::span<const byte_range> ranges, part_sink sink) const {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            sink(i, read(ranges[i]));
        }
    }
    /// How many bytes it has.  Of a compressed stream: inflates it to its end, where nothing tells it before.
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Which of all that were ever under its name it is: a tag, or when it was written; empty: nothing tells.
    [[nodiscard]] virtual std::string version() const { return {}; }
    /// What lies beside it, under its name and more; null: nothing.  Errors: those of the storage.
    [[nodiscard]] virtual std::shared_ptr<const byte_source> sibling(std::string_view /*more*/) const {
        return nullptr;
    }
    /// For messages: the archive's path, or "part of" it.
    [[nodiscard]] virtual std::string name() const = 0;
    /// Whether many ranges at once cost less than one by one.
    [[nodiscard]] virtual bool batches_ranges() const { return false; }
};

/// A part of another source, which it keeps alive.
class part_source final : public byte_source {
public:
    part_source(std::shared_ptr<const byte_source> whole, byte_range part) : whole_(std::move(whole)), part_(part) {}

    [[nodiscard]] byte_buffer read(byte_range where) const override {
        if (where.offset >= part_.length) {
            return {};
        }
        const std::uint64_t left = part_.length - where.offset;
        return whole_->read({part_.offset + where.offset, where.length < left ? where.length : left});
    }
    [[nodiscard]] std::uint64_t size() const override { return part_.length; }
    [[nodiscard]] std::string name() const override { return whole_->name(); }

private:
    std::shared_ptr<const byte_source> whole_;
    byte_range part_;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
