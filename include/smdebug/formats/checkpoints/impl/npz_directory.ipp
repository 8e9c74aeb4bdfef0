// The bodies of <smdebug/formats/checkpoints/npz_directory.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/npy_header.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

SMDEBUG_INLINE npz_directory read_npz_directory(const any_storage& folder, const std::string& key,
                                                const archive_options& options) {
    constexpr std::string_view ending = ".npy";
    constexpr std::uint64_t most_of_deflate = 1'100;  // 1032, and what heads add to a small stream
    const std::string file = folder.name() + "/" + key;
    if (!smdebug::detail::opens_archives()) {
        throw unsupported("this program was built without archives, so that it cannot open " + file +
                              ": include <smdebug/archive.hpp> in one of its files and link smdebug::archive (zlib, "
                              "libzstd)",
                          {.where = file});
    }
    const byte_buffer head = folder.read(key, {0, 4});
    const std::string_view mark = as_text(head.view());
    if (mark != "PK\3\4" && mark != "PK\5\6") {  // of a member, or of the end of one without
        throw corrupt_data("the file " + file + ": it is no zip as numpy writes it", {.where = file});
    }
    archive_options how = options;
    how.most_ratio = std::max(how.most_ratio, most_of_deflate);
    npz_directory all{.files = archive::detail::open_files(folder, key, how)};
    for (const std::string& member : all.files.list("", "")) {
        if (!member.ends_with(ending)) {
            all.not_read.push_back({member, "it is no .npy"});
            continue;
        }
        try {
            stored_tensor array = read_npy_header(file + "!/" + member, all.files.size(member).value_or(0),
                                                  [&](byte_range where) { return all.files.read(member, where); });
            array.name = member.substr(0, member.size() - ending.size());
            all.tensors.push_back(std::move(array));
        } catch (const unsupported& refused) {
            all.not_read.push_back({member, std::string{refused.message()}});
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
