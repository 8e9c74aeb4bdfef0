// The bodies of <smdebug/batch/find_runs.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/batch/find_runs.hpp>
#include <smdebug/batch/search/folder_walk.hpp>
#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <streambuf>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

struct run_finder::state {
    using found_place = detail::found_place;

    // How an archive was found: by its path, by a pattern, or among other files in a folder.
    enum class origin : std::uint8_t { line, pattern, folder };

    state(line_source from, settings set) : lines(std::move(from)), how(std::move(set)) {}

    [[nodiscard]] std::optional<found> next();
    void begin(const std::string& line);
    void begin_literal(const std::string& path);
    void begin_pattern(const std::string& path);
    void go_on();
    void end_line();
    void add_left_out(const detail::left_out_files& some);

    // Below a folder of this machine, or an address in S3.
    void take(found_place place, origin came);
    void take_archive(const std::string& path, const std::string& inside, origin came);
    void take_runs(archive::detail::opened_runs all, const std::string& path, const std::string& inside, origin came);

    void mark() { gave = folder_gave = true; }
    void give(found one, const std::string& known_as);
    void give_run(const std::string& path, bool is_beside = false) {
        give({.run = {.path = path, .is_beside = is_beside}}, detail::whole_path_of(path));
    }
    void give_error(const std::string& path, std::string why, bool is_damage = false);

    // The storages that were opened last are cached: places in one bucket, or folder, share connections.
    struct opened_place {
        std::string path = {};
        std::optional<any_storage> store = {};
    };
    [[nodiscard]] const any_storage& bucket_of(const std::string& address);
    [[nodiscard]] const any_storage& archives_in(const std::string& path);
    [[nodiscard]] bool is_there(const std::string& path);

    line_source lines;
    settings how;
    detail::seen_paths seen = {};
    std::uint64_t next_place = 0;
    std::deque<found> ready = {};

    // The current line: its walks, the outer first.
    std::string line = {};
    bool in_line = false;
    bool is_pattern = false;
    bool gave = false;  // the line gave a place, even if that was returned before
    std::optional<detail::pattern_walk> matches = {};
    std::optional<detail::key_walk> keys = {};
    std::string keys_root = {};
    detail::path_pattern keys_pattern = {};
    bool pattern_is_deep = false;            // its last part is **
    std::optional<std::string> inside = {};  // the part of the pattern inside matching archives
    std::optional<detail::folder_walk> folder = {};
    std::string folder_root = {};
    bool folder_gave = false;

    detail::left_out_files left_out = {};

    opened_place listed = {};
    opened_place archives = {};
};

SMDEBUG_INLINE run_finder::run_finder(line_source lines) : run_finder(std::move(lines), settings{}) {}
SMDEBUG_INLINE run_finder::run_finder(line_source lines, settings how)
    : state_(std::make_unique<state>(std::move(lines), std::move(how))) {}
SMDEBUG_INLINE run_finder::run_finder(std::vector<std::string> lines, settings how)
    : run_finder(
          [left = std::move(lines), next = std::size_t{0}]() mutable {
              return next < left.size() ? std::optional{std::move(left[next++])} : std::nullopt;
          },
          std::move(how)) {}
SMDEBUG_INLINE run_finder::run_finder(run_finder&&) noexcept = default;
SMDEBUG_INLINE run_finder& run_finder::operator=(run_finder&&) noexcept = default;
SMDEBUG_INLINE run_finder::~run_finder() = default;

SMDEBUG_INLINE std::optional<run_finder::found> run_finder::next() { return state_->next(); }
SMDEBUG_INLINE const std::map<std::string, std::size_t, std::less<>>& run_finder::left_out() const noexcept {
    return state_->left_out;
}

SMDEBUG_INLINE std::optional<run_finder::found> run_finder::state::next() {
    while (ready.empty()) {
        if (in_line) {
            go_on();
            continue;
        }
        try {
            std::optional<std::string> another = lines();
            if (!another) {
                return std::nullopt;
            }
            line = *std::move(another);
        } catch (const error& failed) {
            give_error(failed.where(), failed.what());
            continue;
        }
        begin(line);
    }
    found first = std::move(ready.front());
    ready.pop_front();
    return first;
}

SMDEBUG_INLINE void run_finder::state::begin(const std::string& written) {
    in_line = true;
    is_pattern = gave = pattern_is_deep = false;
    inside.reset();
    try {
        line = detail::plain_path_of(written);
        is_pattern = detail::first_wildcard(line) != std::string::npos && !is_there(line);
        if (is_pattern) {
            begin_pattern(line);
        } else {
            begin_literal(line);
        }
    } catch (const error& failed) {
        give_error(line, failed.what());
    }
}

SMDEBUG_INLINE bool run_finder::state::is_there(const std::string& path) {
    if (!detail::is_in_s3(path)) {
        const auto parts = detail::archive_in(path);
        return detail::may_be_folder(path) || (parts && detail::is_regular_file(parts->folder + "/" + parts->key) &&
                                               detail::first_wildcard(parts->inside) == std::string::npos);
    }
    const detail::address_parts parts = detail::split_address(path);
    if (detail::first_wildcard(parts.bucket.substr(parts.bucket.rfind('/') + 1)) != std::string::npos) {
        return false;
    }
    const any_storage& bucket = bucket_of(path);
    const auto first = bucket.entries(parts.key, "", 1);
    if (!first || first->empty()) {
        return false;
    }
    // "a[1]-b" comes before "a[1]/".
    return first->front().key == parts.key || !bucket.entries(parts.key + "/", "", 1)->empty();
}

SMDEBUG_INLINE void run_finder::state::begin_literal(const std::string& path) {
    const bool far = detail::is_in_s3(path);
    if (!far && detail::may_be_folder(path)) {
        folder.emplace(path);
        folder_root = path;
        folder_gave = false;
        return;
    }
    const detail::address_parts address = detail::split_address(path);
    const auto parts = far && address.key.empty() ? std::nullopt : detail::archive_in(path);
    if (parts) {
        std::string archive = path.substr(0, path.size() - (parts->inside.empty() ? 0 : parts->inside.size() + 2));
        if (archive.ends_with('!') && !parts->key.ends_with('!')) {
            archive.pop_back();
        }
        take_archive(archive, parts->inside, origin::line);
    } else if (far) {
        keys_pattern = {};
        keys.emplace(bucket_of(path),
                     detail::key_walk::where{.root = address.key.empty() ? address.key : address.key + "/"});
        keys_root = path;
    }
}

SMDEBUG_INLINE void run_finder::state::begin_pattern(const std::string& path) {
    std::string outer = path;
    if (auto parts = detail::split_at_archive(path)) {
        inside = std::move(parts->inside);
        outer = std::move(parts->archive);
        if (detail::first_wildcard(outer) == std::string::npos || is_there(outer)) {
            take_archive(outer, *inside, origin::line);
            return;
        }
    }
    detail::rooted_pattern parts = detail::split_at_wildcard(outer);
    detail::path_pattern pattern{parts.pattern};
    pattern_is_deep = pattern.ends_at_any_depth();
    if (detail::is_in_s3(outer)) {
        std::string root = detail::split_address(parts.root).key;
        root += root.empty() ? "" : "/";
        keys_pattern = pattern;
        keys.emplace(bucket_of(outer),
                     detail::key_walk::where{.root = std::move(root), .prefix = std::move(parts.prefix)},
                     std::move(pattern));
        keys_root = std::move(parts.root);
    } else {
        matches.emplace(std::move(parts.root), std::move(pattern));
    }
}

SMDEBUG_INLINE void run_finder::state::go_on() {
    if (folder) {
        if (std::optional<found_place> place = folder->next()) {
            take(*std::move(place), origin::folder);
            return;
        }
        add_left_out(folder->left_out());
        folder.reset();
        if (!folder_gave && !pattern_is_deep) {
            mark();
            give_run(folder_root);
        }
    } else if (keys) {
        try {
            if (std::optional<found_place> place = keys->next()) {
                // An archive that the pattern matches itself, not through a folder above it.
                const std::string above = place->path.substr(0, std::min(place->path.rfind('/'), place->path.size()));
                const bool is_match = !keys_pattern.covers(above == place->path ? std::string{} : above);
                place->path = place->path.empty() ? keys_root : keys_root + "/" + place->path;
                take(*std::move(place), is_match ? origin::pattern : origin::folder);
                return;
            }
        } catch (const error& failed) {
            give_error(line, failed.what());
        }
        if (gave || is_pattern) {  // else the line itself is a place, with all its runs
            add_left_out(keys->left_out());
        }
        keys.reset();
    } else if (std::optional<found_place> place = matches ? matches->next() : std::nullopt) {
        take(*std::move(place), origin::pattern);
    } else {
        end_line();
    }
}

SMDEBUG_INLINE void run_finder::state::end_line() {
    in_line = false;
    if (matches) {
        add_left_out(matches->left_out());
    }
    matches.reset();
    if (gave) {
        return;
    }
    if (is_pattern) {
        give_error(line, not_found{"no run, folder or archive matches " + line, {.where = line}}.what());
    } else {
        give_run(line);
    }
}

SMDEBUG_INLINE void run_finder::state::add_left_out(const detail::left_out_files& some) {
    for (const auto& [ending, count] : some) {
        left_out[ending] += count;
    }
}

SMDEBUG_INLINE void run_finder::state::take(found_place place, origin came) {
    using kind = found_place::kind;
    if (place.what == kind::error) {
        give_error(place.path, std::move(place.error));
    } else if (place.what == kind::archive) {
        take_archive(place.path, inside.value_or(std::string{}), came);
    } else if (inside) {
        return;  // only archives have an inside
    } else if (place.what == kind::run) {
        mark();
        give_run(place.path);
    } else {
        folder.emplace(place.path);
        folder_root = std::move(place.path);
        folder_gave = false;
    }
}

SMDEBUG_INLINE void run_finder::state::take_archive(const std::string& path, const std::string& in_it, origin came) {
    const std::string whole = in_it.empty() ? path : path + "!/" + in_it;
    const bool is_pattern_inside = detail::first_wildcard(in_it) != std::string::npos;
    if (!how.open_archives && !is_pattern_inside) {
        mark();
        give_run(whole, in_it.empty() && (came == origin::folder || (came == origin::pattern && pattern_is_deep)));
        return;
    }
    if (!seen.insert("archive " + detail::whole_path_of(whole))) {
        mark();
        return;
    }
    std::optional<archive::detail::opened_runs> all;
    try {
        if (const auto parts = detail::archive_in(path)) {  // else it is a folder by now
            const std::string above = detail::split_address(parts->folder).key;
            const bool far = detail::is_in_s3(path);
            all = archive::detail::open_runs(
                archives_in(parts->folder), far && !above.empty() ? above + "/" + parts->key : parts->key,
                is_pattern_inside ? std::string{} : in_it, detail::archives_with_cache(how.storage));
        }
    } catch (const not_found&) {
        // Opening it will report the same.
    } catch (const std::exception& failed) {
        give_error(whole, failed.what());
        return;
    }
    if (all) {
        take_runs(*std::move(all), path, in_it, came);
    } else {
        mark();
        give_run(whole);
    }
}

SMDEBUG_INLINE void run_finder::state::take_runs(archive::detail::opened_runs all, const std::string& path,
                                                 const std::string& in_it, origin came) {
    constexpr std::array<std::string_view, 3> parts{"collections/", "events/", "index/"};
    const bool selects = detail::first_wildcard(in_it) != std::string::npos;
    const detail::path_pattern wanted{selects ? in_it : std::string{}};
    // The path includes the folder inside the archive wherever that distinguishes runs: one of several, or the only one
    // of a damaged archive.
    const bool names_folders = all.runs.size() > 1 || selects || !in_it.empty() || !all.damage.empty();
    bool gives_none = true;
    for (archive::detail::opened_run& run : all.runs) {
        const bool has_run = std::any_of(parts.begin(), parts.end(),
                                         [&](std::string_view part) { return !run.store.list(part, "").empty(); });
        // An archive without a run that lies among other files is one of those.
        if ((!has_run && (came == origin::folder || !all.damage.empty())) || !wanted.covers(run.inside)) {
            continue;
        }
        gives_none = false;
        mark();
        give({.run = {.path = names_folders ? path + "!/" + run.inside : path}, .store = std::move(run.store)},
             detail::whole_path_of(path) + "!/" + run.inside);
    }
    if (gives_none && came == origin::folder && all.damage.empty()) {
        ++left_out[std::string{detail::archive_extension_of(path)}];
    }
    if (!all.damage.empty()) {
        give_error(path, corrupt_data{archive::detail::damage_text(all), {.where = all.name}}.what(), true);
    }
}

SMDEBUG_INLINE const any_storage& run_finder::state::bucket_of(const std::string& address) {
    std::string bucket = detail::split_address(address).bucket;
    if (!listed.store || listed.path != bucket) {
        listed.store = how.open_place ? how.open_place(bucket) : detail::open_place(bucket, how.storage.s3);
        listed.path = std::move(bucket);
    }
    return *listed.store;
}

SMDEBUG_INLINE const any_storage& run_finder::state::archives_in(const std::string& path) {
    std::string place = detail::is_in_s3(path) ? detail::split_address(path).bucket : path;
    if (!archives.store || archives.path != place) {
        archives.store = how.open_place ? how.open_place(place) : detail::open_folder(place, how.storage);
        archives.path = std::move(place);
    }
    return *archives.store;
}

SMDEBUG_INLINE void run_finder::state::give(found one, const std::string& known_as) {
    if (seen.insert(known_as)) {
        one.run.place = next_place++;
        ready.push_back(std::move(one));
    }
}

SMDEBUG_INLINE void run_finder::state::give_error(const std::string& path, std::string why, bool is_damage) {
    mark();
    found one{.run = {.path = path, .error = std::move(why)}, .is_damage = is_damage};
    const std::string known_as = "error " + path + " " + one.run.error;
    give(std::move(one), known_as);
}

SMDEBUG_INLINE run_list::run_list(std::istream& from, std::string name) : from_(&from), name_(std::move(name)) {}

SMDEBUG_INLINE bool run_list::read_line(std::string& text) {
    // Not std::getline: it would take a file without line ends into memory whole.
    text.clear();
    const std::istream::sentry ready{*from_, true};
    if (!ready) {
        return false;
    }
    using traits = std::istream::traits_type;
    std::streambuf& bytes = *from_->rdbuf();
    bool any = false;
    for (traits::int_type one = bytes.sbumpc(); one != traits::eof(); one = bytes.sbumpc()) {
        any = true;
        const char byte = traits::to_char_type(one);
        if (byte == '\n') {
            return true;
        }
        if (text.size() <= most_line_bytes) {
            text.push_back(byte);
        }
    }
    from_->setstate(any ? std::ios::eofbit : std::ios::eofbit | std::ios::failbit);
    return any;
}

SMDEBUG_INLINE std::optional<std::string> run_list::next() {
    constexpr std::string_view blanks = " \t\r\v\f";
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::string text;
    for (;;) {
        bool is_line = false;
        try {
            is_line = read_line(text);
        } catch (const std::exception& failed) {
            from_->setstate(std::ios::badbit);
            throw unavailable(name_ + " cannot be read behind line " + std::to_string(line_) + ": " + failed.what(),
                              {.where = name_});
        }
        if (!is_line) {
            return std::nullopt;
        }
        ++line_;
        std::string_view path = text;
        if (line_ == 1 && path.starts_with(byte_order_mark)) {
            path.remove_prefix(byte_order_mark.size());
        }
        if (path.size() > most_line_bytes) {
            throw value_error(place() + " has more than " + std::to_string(most_line_bytes) +
                                  " bytes, which is not a path: is that a list of paths, one a line?",
                              {.where = place()});
        }
        if (path.find('\0') != std::string_view::npos) {
            throw value_error(place() + " has a byte 0, which no path has: is that a text file, in UTF-8?",
                              {.where = place()});
        }
        const std::size_t begin = path.find_first_not_of(blanks);
        if (begin == std::string_view::npos || path[begin] == '#') {
            continue;
        }
        return std::string{path.substr(begin, path.find_last_not_of(blanks) + 1 - begin)};
    }
}

}  // namespace smdebug::inline v1
