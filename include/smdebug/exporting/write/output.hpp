// Outputs of exports, which appear whole or not at all: a file that is written in small pieces, and a folder.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Small pieces are buffered, large ones go to the system without a copy. The file appears under its path when it is
/// whole. Errors: as posix::whole_file_output.
class buffered_output {
public:
    explicit buffered_output(std::string path) : path_(std::move(path)), file_(path_) {}

    void append(byte_view piece);
    void append(std::string_view text) { append(as_bytes(text)); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// The number of bytes appended.
    [[nodiscard]] std::uint64_t size() const noexcept { return written_ + pending_.size(); }

    /// Overwrites appended bytes.
    void overwrite(std::uint64_t offset, byte_view bytes);
    /// Moves everything from `offset` on towards the end, by so many bytes; the gap counts as appended and is
    /// unspecified.
    /// Cost: reading and writing the moved bytes.
    void make_room(std::uint64_t offset, std::uint64_t distance);

    /// Renames the file to its path.
    void finish(durability how);

private:
    static constexpr std::size_t small = std::size_t{32} << 10U;

    void flush() { put({}); }
    // Writes the pending bytes, and then this.
    void put(byte_view piece);

    std::string path_;
    posix::whole_file_output file_;
    std::vector<std::byte> pending_;
    std::uint64_t written_ = 0;
};

/// Whether the path exists: a file, a folder, a dangling link. Errors: access_denied, unavailable.
[[nodiscard]] bool is_there(const std::string& path);

/// Checks what an output at that path would replace. A no-op if the path does not exist, or is an empty folder.
/// Errors: run_exists if something is there, unless `replace`; with `replace` if it is not a folder, or contains files
/// for which ours(key) is false: they belong to someone else.
void check_output_folder(const std::string& path, bool replace, function_ref<bool(std::string_view)> ours);

/// A folder that is filled under a temporary name beside its place, and removed with its contents unless it was
/// renamed.
/// Errors: access_denied, unavailable (disk full, a folder above it removed meanwhile), not_found.
class output_folder {
public:
    /// Makes the folders above it, and the one with the temporary name. A link to a folder stays a link.
    explicit output_folder(std::string path);
    output_folder(const output_folder&) = delete;
    output_folder& operator=(const output_folder&) = delete;
    ~output_folder();

    /// The folder to put files into until it is renamed, without a trailing slash.
    [[nodiscard]] const std::string& place() const noexcept { return place_; }

    /// Syncs the files, and renames the folder to its path. An older folder there is removed if `replace`; one that
    /// appeared meanwhile is an error: run_exists.
    /// Cost: waits for everything that the file system has not written yet, also of other processes.
    void take_its_place(bool replace);

private:
    std::string path_;
    std::string place_;  // of the new folder, or of the replaced one; empty if nothing is to be removed
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/output.ipp>
#endif
