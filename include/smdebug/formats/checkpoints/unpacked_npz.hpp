// The arrays of .npz files as the objects of a storage: an .npz is its members, unpacked, one behind the other.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// One .npz.
struct unpacked_npz {
    struct member {
        std::string key;          ///< in `files`
        std::uint64_t begin = 0;  ///< in the whole
        std::uint64_t end = 0;
    };

    any_storage files;  ///< the members
    std::vector<member> members = {};
    bool is_stored = false;  ///< nothing in it is compressed, so that a part of a member costs a part of reading it

    [[nodiscard]] std::uint64_t size() const noexcept { return members.empty() ? 0 : members.back().end; }
    /// A range of one member, cut at its end.      Errors: those of the archive.
    [[nodiscard]] byte_buffer read(byte_range where) const;
    /// The member that has a byte; null behind the last one.
    [[nodiscard]] const member* at(std::uint64_t offset) const noexcept;
};

/// Memory: where it is compressed, the member that was read last.
[[nodiscard]] std::unique_ptr<smdebug::detail::opened_object> open_npz(std::shared_ptr<const unpacked_npz> npz);

/// Those that a checkpoint_source has looked into, by key.  Threads: everything may be called at once.
class npz_table {
public:
    [[nodiscard]] std::shared_ptr<const unpacked_npz> find(std::string_view key) const;
    void insert(const std::string& key, std::shared_ptr<const unpacked_npz> one) {
        (*table_.lock())[key] = std::move(one);
    }

private:
    mutable smdebug::detail::guarded<std::map<std::string, std::shared_ptr<const unpacked_npz>, std::less<>>> table_;
};

/// A storage in which the .npz of a table are unpacked, and all else is as it is in another one.
class npz_storage {
public:
    npz_storage(any_storage store, std::shared_ptr<const npz_table> table)
        : store_(std::move(store)), table_(std::move(table)) {}

    [[nodiscard]] byte_buffer read(std::string_view key) const { return read(key, {0, UINT64_MAX}); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        const auto npz = table_->find(key);
        return npz != nullptr ? npz->read(where) : store_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return store_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        const auto npz = table_->find(key);
        return npz != nullptr ? npz->size() : store_.size(key);
    }
    [[nodiscard]] std::unique_ptr<smdebug::detail::opened_object> open(std::string_view key) const {
        auto npz = table_->find(key);
        return npz != nullptr ? open_npz(std::move(npz)) : store_.open(key);
    }
    [[nodiscard]] bool read_ahead(std::string_view key) const { return store_.read_ahead(key); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return store_.modified(key);
    }
    [[nodiscard]] std::chrono::milliseconds look_interval() const { return store_.look_interval(); }
    [[nodiscard]] std::string name() const { return store_.name(); }
    [[nodiscard]] bool exists() const { return store_.exists(); }
    [[nodiscard]] bool is_file() const { return store_.is_file(); }
    [[nodiscard]] std::vector<problem> problems() const { return store_.problems(); }

private:
    any_storage store_;
    std::shared_ptr<const npz_table> table_;
};

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/unpacked_npz.ipp>
#endif
