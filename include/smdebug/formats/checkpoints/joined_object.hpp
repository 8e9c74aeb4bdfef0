// Parts of objects that appear as one object: the inflated members of an .npz or a .pt, one after another, and the
// chunks of a distributed checkpoint.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

struct joined_object {
    struct part {
        std::string key;           ///< in `files`
        std::uint64_t begin = 0;   ///< in the whole
        std::uint64_t end = 0;     ///< the same
        std::uint64_t offset = 0;  ///< in the object under `key`
    };

    any_storage files;
    std::vector<part> parts = {};
    bool is_stored = false;  ///< nothing is compressed, so a piece of a part costs a read of that piece

    [[nodiscard]] std::uint64_t size() const noexcept { return parts.empty() ? 0 : parts.back().end; }
    /// A range, cut at the end.      Errors: those of `files`.
    [[nodiscard]] byte_buffer read(byte_range where) const;
    /// The part that contains a byte; null behind the last one.
    [[nodiscard]] const part* at(std::uint64_t offset) const noexcept;
    /// Adds a part behind the others; returns where it begins.
    std::uint64_t add(std::string key, byte_range where) {
        const std::uint64_t begin = size();
        parts.push_back({.key = std::move(key), .begin = begin, .end = begin + where.length, .offset = where.offset});
        return begin;
    }
};

/// Whether a file is a zip, by its first bytes: those of a member, or of an empty zip's end.
[[nodiscard]] inline bool is_zip(std::string_view begin) noexcept {
    return begin.starts_with("PK\3\4") || begin.starts_with("PK\5\6");
}

/// The members of a zip of another tool, whose names are texts, not paths: "../x", "/x" and "x//y" are ordinary names.
/// A member inflates to at most 1032 times its size, which is deflate's own limit and the ratio of zeros.
/// Errors: those of archive_openers::open_files; unsupported in a program without the component `archive`.
[[nodiscard]] any_storage open_zip(const any_storage& folder, const std::string& key, archive_options options);

/// Memory: if it is compressed, the part that was read last.
[[nodiscard]] std::unique_ptr<opened_object> open_joined(std::shared_ptr<const joined_object> whole);

/// The objects that a checkpoint_source has found, by the key under which each appears.  Threads: all functions may be
/// called concurrently.
class joined_table {
public:
    [[nodiscard]] std::shared_ptr<const joined_object> find(std::string_view key) const;
    void insert(const std::string& key, std::shared_ptr<const joined_object> one) {
        (*table_.lock())[key] = std::move(one);
    }

private:
    mutable smdebug::detail::synchronized<std::map<std::string, std::shared_ptr<const joined_object>, std::less<>>>
        table_;
};

/// A storage that shows the objects of a table under their keys, and everything else as another storage does.
class joined_storage final : public storage_base {
public:
    joined_storage(any_storage store, std::shared_ptr<const joined_table> table)
        : store_(std::move(store)), table_(std::move(table)) {}

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        const auto joined = table_->find(key);
        return joined != nullptr ? joined->read(where) : store_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return store_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        const auto joined = table_->find(key);
        return joined != nullptr ? joined->size() : store_.size(key);
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const override {
        auto joined = table_->find(key);
        return joined != nullptr ? open_joined(std::move(joined)) : store_.open(key);
    }
    [[nodiscard]] bool read_ahead(std::string_view key) const override { return store_.read_ahead(key); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return store_.modified(key);
    }
    [[nodiscard]] std::string name() const override { return store_.name(); }
    [[nodiscard]] place_kind place() const override { return store_.place(); }
    [[nodiscard]] storage_abilities abilities() const override {
        const storage_abilities inner = store_.abilities();
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = inner.reads_ahead,
                .one_object = inner.one_object,
                .look_interval = inner.look_interval};
    }
    [[nodiscard]] std::vector<problem> problems() const override { return store_.problems(); }

private:
    any_storage store_;
    std::shared_ptr<const joined_table> table_;
};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/joined_object.ipp>
#endif
