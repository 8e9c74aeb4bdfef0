// The bodies of <smdebug/formats/checkpoints/npz_directory.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/formats/checkpoints/npy_header.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/path_openers.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// What macOS puts beside each file of a zip; by its first bytes, as an array may have any name.
[[nodiscard]] inline bool is_apple_double(const any_storage& files, const std::string& member) {
    try {
        return as_text(files.read(member, {0, 4}).view()) == std::string_view{"\0\5\x16\7", 4};
    } catch (const error&) {
        return false;  // reading it as an array says what is wrong
    }
}

SMDEBUG_INLINE npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                                const archive_options& options) {
    constexpr std::string_view ending = ".npy";
    constexpr std::uint64_t most_of_deflate = 1'100;  // 1032, and what heads add to a small stream
    const std::string file = smdebug::detail::path_of(folder, key);
    const smdebug::detail::archive_openers* const archives = smdebug::detail::known_openers().archives;
    if (archives == nullptr) {
        throw unsupported("this program was built without archives, so that it cannot open " + file +
                              ": include <smdebug/archive.hpp> in one of its files and link smdebug::archive (zlib, "
                              "libzstd)",
                          {.where = file});
    }
    const byte_buffer head = folder.read(key, {0, lfs_pointer_begin.size()});
    const std::string_view mark = as_text(head.view());
    if (mark == lfs_pointer_begin) {
        throw corrupt_data("the file " + file + ": " + std::string{lfs_pointer_text}, {.where = file});
    }
    if (!mark.starts_with("PK\3\4") && !mark.starts_with("PK\5\6")) {  // of a member, or of the end of one without
        throw corrupt_data("the file " + file + ": it is no zip as numpy writes it", {.where = file});
    }
    archive_options how = options;
    how.most_ratio = std::max(how.most_ratio, most_of_deflate);
    npz_directory all{.files = archives->open_files(folder, key, how, archive::detail::member_names::texts)};
    for (const problem& one : all.files.problems()) {
        const std::size_t inside = one.where.starts_with(file + "!/") ? file.size() + 2 : 0;
        all.not_read.push_back({one.where.substr(inside), one.what, one.kind});
    }
    for (const std::string& member : all.files.list("", "")) {
        if (is_resource_fork(member) && is_apple_double(all.files, member)) {
            continue;
        }
        if (!member.ends_with(ending)) {
            all.not_read.push_back({member, "it is no .npy", problem_kind::left_out});
            continue;
        }
        try {
            stored_tensor array = read_npy_header(file + "!/" + member, all.files.size(member).value_or(0),
                                                  [&](byte_range where) { return all.files.read(member, where); });
            array.name = member.substr(0, member.size() - ending.size());
            all.tensors.push_back(std::move(array));
        } catch (const unsupported& refused) {
            all.not_read.push_back({member, std::string{refused.message()}, problem_kind::unsupported});
        } catch (const corrupt_data& damaged) {
            all.not_read.push_back({member, std::string{damaged.message()}});
        }
    }
    std::sort(all.tensors.begin(), all.tensors.end(),
              [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
    return all;
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
