// The places that a search for runs finds, and the names that distinguish a run from other folders.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/hash_set.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

/// A place that a search finds.
struct found_place {
    enum class kind : std::uint8_t {
        run,
        folder,   ///< matched by a pattern; its content is not known yet
        archive,  ///< by its name
        error     ///< cannot be searched, `error` says why
    };
    kind what = kind::run;
    std::string path = {};
    std::string error = {};
};

/// Whether a run can have a folder of that name at its root.
[[nodiscard]] constexpr bool is_run_part(std::string_view name) noexcept {
    return name == "collections" || name == "events" || name == "index";
}

/// Whether that is the name of a folder in such a folder, "000000000": 9 digits or more.
[[nodiscard]] constexpr bool is_step_group(std::string_view name) noexcept {
    return name.size() >= 9 && std::all_of(name.begin(), name.end(), [](char c) { return '0' <= c && c <= '9'; });
}

/// The run that a key belongs to, as its part before "/index/000000000/" and the like; empty for the root; nothing if
/// it belongs to none. For a run in a run, the outer one.
[[nodiscard]] constexpr std::optional<std::string_view> run_of_key(std::string_view key) noexcept {
    std::string_view before;  // the name of the folder before the one at `begin`
    std::size_t begin = 0;
    std::size_t run_end = 0;
    for (std::size_t end = key.find('/'); end != std::string_view::npos; end = key.find('/', begin)) {
        const std::string_view name = key.substr(begin, end - begin);
        if (is_run_part(before) && is_step_group(name)) {
            return key.substr(0, run_end);
        }
        before = name;
        run_end = begin == 0 ? 0 : begin - 1;
        begin = end + 1;
    }
    return std::nullopt;
}

/// Files that a search came across and that belong to no found place: their number, by the ends of their names.
using left_out_files = std::map<std::string, std::size_t, std::less<>>;

/// The category of such a file: data that can be read in a folder of its own, and archives and checkpoints that cannot
/// be read.  Empty for any other file.  A log is recognised by its folder, too, so this takes a path.
[[nodiscard]] inline std::string_view counted_ending_of(std::string_view path) noexcept {
    if (is_resource_fork(path)) {
        return {};
    }
    if (const std::string_view ending = data_ending_of(path); !ending.empty()) {
        return ending;
    }
    constexpr std::array<std::string_view, 10> endings{"/.metadata", ".tar.bz2",  ".tbz2",  ".tar.xz", ".txz",
                                                       ".tar.lz4",   ".tar.lzma", ".tar.Z", ".7z",     ".rar"};
    for (const std::string_view each : endings) {
        if (path.ends_with(each)) {
            return each;
        }
    }
    const std::optional<other_form> form = other_form_of(path);
    if (form && form->is != other_form::kind::unfinished && path.ends_with(form->ending)) {
        return form->ending;
    }
    return is_tensorboard_log(path) ? std::string_view{".tfevents"} : std::string_view{};
}

/// A path below a folder.  The working directory is "."; results that would be misread, "~x" or "s3:x", get the prefix
/// "./".
[[nodiscard]] inline std::string path_below(std::string_view folder, std::string_view name) {
    std::string path;
    path.reserve(folder.size() + 1 + name.size());
    if (folder == ".") {
        const bool is_odd = name.starts_with('~') || name.substr(0, name.find('/')).find(':') != std::string_view::npos;
        path.append(is_odd ? "./" : "");
    } else {
        path.append(folder).append(folder.ends_with('/') ? "" : "/");
    }
    return path.append(name);
}

/// A set of texts, identified by 64 bits.  Two texts are confused by chance once in 2^64 pairs: among a million texts
/// once in 37 million sets.
/// Memory: 10 to 15 bytes a text, and two thirds as much again while it grows.      Threads: one at a time.
class seen_paths {
public:
    /// Adds a text; returns whether it is new.
    bool insert(std::string_view text) {
        const std::uint64_t hash = content_hash(as_bytes(text));
        return hashes_.insert(hash == 0 ? 1 : hash);
    }
    [[nodiscard]] std::size_t size() const noexcept { return hashes_.size(); }

private:
    hash_set<std::uint64_t> hashes_;
};

}  // namespace smdebug::inline v1::detail
