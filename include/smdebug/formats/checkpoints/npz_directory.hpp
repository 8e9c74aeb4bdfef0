// The arrays of an .npz, numpy's zip of .npy files.
// Needs the component `archive`: a program that nowhere includes <smdebug/archive.hpp> refuses these files.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

struct npz_directory {
    /// The .npy files as objects: array NAME, which may be any text, has the key "NAME.npy"; stored_tensor::where
    /// refers to its unpacked bytes.
    any_storage files;
    std::vector<stored_tensor> tensors = {};  ///< by name
    /// Members that are not .npy, non-numeric arrays, and damaged ones, with the reason.
    std::vector<left_out> not_read = {};
};

/// Opens the .npz under `key` and reads each array's header.  Names of arrays are not paths: "../x", "/x" and "x//y"
/// are ordinary names.  If a name occurs twice, the last one counts, and the others are in `not_read`.
/// Errors:  unsupported without the component `archive`, and for more members than options allow; corrupt_data if the
///          file is not a zip, or has a damaged directory; not_found; those of the storage.
/// Bombs:   a member inflates to at most 1032 times its size, which is deflate's own limit and the ratio of arrays of
///          zeros, and to options.most_bytes; members share no bytes.  Only the first 2 MiB of each member are inflated
///          here.
/// Cost:    two or three reads for the directory, and two for each array; for compressed members, inflating these 2
///          MiB.
[[nodiscard]] npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                               const archive_options& options = {});

/// The typical header of a numeric array has some hundred bytes.
inline constexpr std::uint64_t most_npy_header_bytes = std::uint64_t{64} << 10U;

/// The array in a file of `size` bytes, without a name; `file` names it in errors.  Bytes after the elements are
/// ignored, as by numpy.load; left_behind() names them.
/// Errors:  unsupported, with advice, for elements that are neither numbers nor booleans (Python objects, texts,
///          records, dates, raw bytes) or of an unsupported size (long double), and for other versions; corrupt_data
///          for every other invalid header, such as elements beyond the file's end; those of `read`.
/// Cost:    one read of 4 KiB, for a longer header another.
[[nodiscard]] stored_tensor read_npy_header(const std::string& file, std::uint64_t size, range_reader read);

/// The bytes after an array's elements in a file of `size` bytes, such as a second array, if there are any.
[[nodiscard]] std::vector<left_out> left_behind(const std::string& name, const stored_tensor& array,
                                                std::uint64_t size);

// The arrays of .npz files as objects of a storage: an .npz appears as its unpacked members, concatenated.

/// One .npz.
struct unpacked_npz {
    struct member {
        std::string key;          ///< in `files`
        std::uint64_t begin = 0;  ///< in the concatenation
        std::uint64_t end = 0;
    };

    any_storage files;  ///< the members
    std::vector<member> members = {};
    bool is_stored = false;  ///< nothing is compressed: a part of a member costs a read of that part

    [[nodiscard]] std::uint64_t size() const noexcept { return members.empty() ? 0 : members.back().end; }
    /// A range of one member, cut at its end.      Errors: those of the archive.
    [[nodiscard]] byte_buffer read(byte_range where) const;
    /// The member that contains a byte; null after the last one.
    [[nodiscard]] const member* at(std::uint64_t offset) const noexcept;
};

/// Memory: if it is compressed, the member that was read last.
[[nodiscard]] std::unique_ptr<opened_object> open_npz(std::shared_ptr<const unpacked_npz> npz);

/// The .npz files that a checkpoint_source has read, by key.  Threads: all functions may be called concurrently.
class npz_table {
public:
    [[nodiscard]] std::shared_ptr<const unpacked_npz> find(std::string_view key) const;
    void insert(const std::string& key, std::shared_ptr<const unpacked_npz> one) {
        (*table_.lock())[key] = std::move(one);
    }

private:
    mutable smdebug::detail::synchronized<std::map<std::string, std::shared_ptr<const unpacked_npz>, std::less<>>>
        table_;
};

/// A storage that shows the .npz files of a table unpacked, and everything else as another storage does.
class npz_storage final : public storage_base {
public:
    npz_storage(any_storage store, std::shared_ptr<const npz_table> table)
        : store_(std::move(store)), table_(std::move(table)) {}

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        const auto npz = table_->find(key);
        return npz != nullptr ? npz->read(where) : store_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return store_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        const auto npz = table_->find(key);
        return npz != nullptr ? npz->size() : store_.size(key);
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const override {
        auto npz = table_->find(key);
        return npz != nullptr ? open_npz(std::move(npz)) : store_.open(key);
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
    std::shared_ptr<const npz_table> table_;
};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/npz_directory.ipp>
#endif
