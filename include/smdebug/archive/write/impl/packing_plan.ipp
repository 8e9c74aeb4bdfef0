// The bodies of <smdebug/archive/write/packing_plan.hpp>.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/write/packing_plan.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <tuple>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

SMDEBUG_INLINE std::vector<packed_file> files_of(std::span<const any_storage> runs) {
    std::vector<packed_file> files;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const any_storage& store = runs[i];
        directory there;
        for (const std::string& key : store.list("", "")) {
            const std::optional<std::uint64_t> size = store.size(key);
            if (!size) {
                continue;  // gone again: a temporary file of a job that still writes
            }
            const auto written = store.modified(key);
            const auto since = written ? std::chrono::duration_cast<std::chrono::seconds>(written->time_since_epoch())
                                       : std::chrono::seconds{0};
            files.push_back({.run = i,
                             .key = key,
                             .size = *size,
                             .seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0))});
            there.members.emplace(key, member{});
        }
        if (runs_in(there).empty()) {
            throw not_found("there is no run at " + store.name() + ": no collections, index or event files",
                            {.where = store.name()});
        }
    }
    const auto rank = [](const packed_file& file) {
        return std::tuple{file.run, file.key.ends_with(".tfevents"), std::string_view{file.key}};
    };
    std::sort(files.begin(), files.end(),
              [&](const packed_file& one, const packed_file& other) { return rank(one) < rank(other); });
    return files;
}

SMDEBUG_INLINE std::vector<packed_part> frame_cutter::next() {
    std::vector<packed_part> parts;
    std::uint64_t bytes = 0;
    while (file_ < files_.size() && bytes < enough_bytes) {
        const std::uint64_t size = files_[file_].size;
        if (!parts.empty() && size > small_bytes) {
            break;
        }
        const std::uint64_t length = std::min(size - offset_, most_bytes);
        parts.push_back({.file = file_, .where = {offset_, length}, .has_head = offset_ == 0});
        bytes += length;
        offset_ += length;
        if (offset_ < size) {
            break;
        }
        ++file_;
        offset_ = 0;
    }
    return parts;
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
