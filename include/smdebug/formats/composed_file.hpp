// An event file that is put together, as it is read, from parts of other objects and from what is kept in memory.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/run_contents.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The objects of a storage from which event files are put together; those that were read last stay open.
/// Threads: everything may be called at once.
class part_objects {
public:
    explicit part_objects(any_storage store) : store_(std::move(store)) {}

    /// An object, and the name that tells it apart.
    struct place {
        std::string name = {};
        std::optional<object_elsewhere> elsewhere = {};  ///< else the name is its key in the storage
    };

    /// Reads bytes of an object; returns how many there were.      Errors: those of the storage.
    [[nodiscard]] std::size_t read_at(const place& where, std::uint64_t offset, std::span<std::byte> into) const;
    /// At most so many bytes, where they are in memory as they are.
    [[nodiscard]] byte_buffer part(const place& where, std::uint64_t offset, std::uint64_t most) const;

    [[nodiscard]] const any_storage& store() const noexcept { return store_; }

private:
    static constexpr std::size_t most_open = 32;

    // Null: it is read through the storage.  One that has grown beyond what was opened is opened again.
    [[nodiscard]] std::shared_ptr<const opened_object> open(const place& where, std::uint64_t end) const;
    [[nodiscard]] const any_storage& store_of(const place& where) const {
        return where.elsewhere ? where.elsewhere->store : store_;
    }
    [[nodiscard]] static const std::string& key_of(const place& where) {
        return where.elsewhere ? where.elsewhere->key : where.name;
    }

    any_storage store_;
    mutable std::mutex mutex_;
    mutable std::vector<std::pair<std::string, std::shared_ptr<const opened_object>>> open_;  // the last used behind
};

/// One event file.  Copies nothing but what is asked for.
/// Threads: everything may be called at once.
class composed_file final : public opened_object {
public:
    /// `places`: of the objects that the file's pieces name, by number.
    composed_file(std::shared_ptr<const part_objects> objects, std::shared_ptr<const presented_file> file,
                  std::map<std::uint32_t, part_objects::place> places);

    [[nodiscard]] std::uint64_t size() const noexcept override { return file_->size; }
    [[nodiscard]] SMDEBUG_INLINE std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override;
    [[nodiscard]] SMDEBUG_INLINE byte_buffer part(std::uint64_t offset, std::uint64_t most) const override;

    /// A range, cut at the file's end.
    [[nodiscard]] byte_buffer read(byte_range where) const;

private:
    // The piece that holds a byte of the file, and where it begins.
    [[nodiscard]] std::pair<std::size_t, std::uint64_t> piece_at(std::uint64_t offset) const;
    [[nodiscard]] std::size_t read_piece(const event_piece& piece, std::uint64_t from, std::span<std::byte> into) const;
    [[nodiscard]] byte_buffer made(std::uint64_t maker) const;

    std::shared_ptr<const part_objects> objects_;
    std::shared_ptr<const presented_file> file_;
    std::map<std::uint32_t, part_objects::place> places_;
    std::vector<std::uint64_t> ends_;  // of the pieces, in the file
    mutable std::mutex mutex_;
    mutable std::uint64_t made_last_ = UINT64_MAX;
    mutable byte_buffer last_made_;  // pieces of it are asked for one after another
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/composed_file.ipp>
#endif
