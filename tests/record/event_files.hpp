// The event files of the golden runs, for the tests of record, wire and tensor.
#pragma once

#include <smdebug/core/bytes.hpp>

#include "support/standard.hpp"

namespace event_files {

/// The folder of the golden runs.
inline std::filesystem::path golden() { return std::filesystem::path{SMDEBUG_TEST_DATA} / "golden"; }

/// A file's bytes, in a heap block of exactly that size: a sanitizer then sees every read beyond it.
inline std::vector<std::byte> read(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto bytes = smdebug::as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

/// The event files of one run, or of all runs but the damaged ones, in the order of their names.
inline std::vector<std::filesystem::path> of(std::string_view run) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{golden() / run}) {
        if (entry.path().extension() == ".tfevents") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}
inline std::vector<std::filesystem::path> of_all_runs() {
    std::vector<std::filesystem::path> files = of("");
    const std::string damaged = (golden() / "damaged").string();
    std::erase_if(files, [&](const auto& file) { return file.string().starts_with(damaged); });
    return files;
}

}  // namespace event_files
