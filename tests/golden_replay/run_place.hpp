// Where a run is opened: the folder that it lies in, or a place in S3 that its files are copied to.
#pragma once

#include <smdebug/archive.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include "support/standard.hpp"

#include <cerrno>
#include <system_error>

namespace golden_replay {

[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file || std::filesystem::is_directory(path)) {
        throw std::system_error(errno != 0 ? errno : EISDIR, std::generic_category(), "cannot read " + path.string());
    }
    return {std::istreambuf_iterator<char>{file}, {}};
}

struct run_place {
    std::string files;   ///< the folder as it was recorded, by its relative path: paths are part of messages
    std::string opened;  ///< the same, or "s3://...": what the library is given

    [[nodiscard]] bool is_copied() const noexcept { return files != opened; }
    /// The folder of a session whose files arrive in stages: beside the copy.  A run opened in place leaves it to the
    /// session.
    [[nodiscard]] run_place for_session(int number) const {
        return is_copied() ? run_place{files, opened + ".session." + std::to_string(number)} : *this;
    }
    [[nodiscard]] bool has_ended() const {
        return smdebug::open_storage(opened).size(smdebug::detail::locations::end_of_job).has_value();
    }
};

/// Writes the files of a folder, by the library's own storage, in the order given.
inline void copy_files(const std::filesystem::path& from, const std::vector<std::string>& keys,
                       smdebug::any_storage& to) {
    for (const std::string& key : keys) {
        to.write(key, smdebug::as_bytes(read_file(from / key)));
    }
}

/// The run in that folder, or in an archive in its place, copied below `copies` ("s3://bucket/prefix") unless that is empty.
[[nodiscard]] inline run_place bring_run(const std::string& folder, const std::string& copies) {
    namespace fs = std::filesystem;
    if (copies.empty()) {
        return {folder, folder};
    }
    run_place made{folder, copies + "/" + folder};
    if (fs::is_regular_file(folder)) {
        made.opened += ".tar";  // of an object in S3 the name alone says that it is an archive
        const fs::path place{made.opened.substr(std::string_view{"s3://"}.size())};
        smdebug::any_storage to = smdebug::detail::open_place("s3://" + place.parent_path().generic_string());
        to.write(place.filename().generic_string(), smdebug::as_bytes(read_file(folder)));
        return made;
    }
    smdebug::any_storage to = smdebug::detail::open_place(made.opened);
    if (!to.list("", "").empty()) {
        throw std::invalid_argument("there is something in " + made.opened + " already");
    }
    std::vector<std::string> keys;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{folder}) {
        if (entry.is_regular_file()) {
            keys.push_back(entry.path().lexically_relative(folder).generic_string());
        }
    }
    copy_files(folder, keys, to);
    return made;
}

/// An answer as it would be of the folder: S3 puts its own name of a place before the names of files.
[[nodiscard]] inline std::string without_copies(std::string answers, const std::string& copies) {
    const std::string before = copies + "/";
    for (std::size_t at = 0; !copies.empty() && (at = answers.find(before, at)) != std::string::npos;) {
        answers.erase(at, before.size());
    }
    return answers;
}

}  // namespace golden_replay
