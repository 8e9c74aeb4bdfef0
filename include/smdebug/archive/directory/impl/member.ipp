// The bodies of <smdebug/archive/directory/member.hpp>.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace smdebug::inline v1::archive::detail {

SMDEBUG_INLINE std::string without_dots(std::string_view path) {
    std::string made;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part == "..") {
            if (made.empty()) {
                return {};
            }
            made.erase(made.find('/') == std::string::npos ? 0 : made.rfind('/'));
        } else if (!part.empty() && part != ".") {
            made.append(made.empty() ? "" : "/").append(part);
        }
        begin = end + 1;
    }
    return made;
}

SMDEBUG_INLINE std::string key_of(std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
    return stays_inside(name) ? without_dots(name) : std::string{};
}

SMDEBUG_INLINE problem problem_of_name(std::string_view name) {
    if (name.empty()) {
        return {.kind = problem_kind::left_out,
                .what = "a member without a name is not read: pack it again under a name"};
    }
    return {
        .kind = problem_kind::left_out,
        .where = "!/" + std::string{name},
        .what = "the name of this member is not a path within the archive: pack it again under a name without \"..\""};
}

inline constexpr std::size_t most_kept = 16;

SMDEBUG_INLINE void add_damage(directory& to, std::uint64_t offset, std::string what) {
    if (to.damage.size() < most_kept) {
        to.damage.push_back({offset, std::move(what)});
    }
}

SMDEBUG_INLINE void add_problem(directory& to, problem one) {
    if (to.problems.size() < most_kept) {
        to.problems.push_back(std::move(one));
        return;
    }
    if (to.more_problems++ == 0) {
        to.problems.emplace_back();
    }
    to.problems.back() = {one.kind, "", "and " + std::to_string(to.more_problems) + " more in this archive"};
}

SMDEBUG_INLINE std::vector<std::string> runs_in(const directory& of) {
    constexpr std::array<std::string_view, 3> marks{"collections/", "events/", "index/"};
    std::set<std::string> roots;
    for (const auto& [key, file] : of.members) {
        if (is_resource_fork(key)) {
            continue;
        }
        for (const std::string_view mark : marks) {
            // The folder of a step group or of collections has 9 digits: "index/000000000/".
            for (std::size_t place = key.find(mark); place != std::string::npos; place = key.find(mark, place + 1)) {
                const std::string_view rest = std::string_view{key}.substr(place + mark.size());
                const std::size_t digits = rest.find_first_not_of("0123456789");
                if ((place == 0 || key[place - 1] == '/') && digits != std::string_view::npos && digits >= 9 &&
                    rest[digits] == '/') {
                    roots.insert(key.substr(0, place == 0 ? 0 : place - 1));
                    break;
                }
            }
        }
    }
    // A job that has ended, and saved nothing, is one, too.
    for (const auto& [key, file] : of.members) {
        if (const auto job = smdebug::detail::ended_job_of(key)) {
            const std::string below = job->empty() ? std::string{} : std::string{*job} + "/";
            const auto first = roots.lower_bound(below);
            if (!roots.contains(std::string{*job}) && (first == roots.end() || !first->starts_with(below))) {
                roots.emplace(*job);
            }
        }
    }
    return {roots.begin(), roots.end()};
}

namespace zip {

inline constexpr std::uint32_t end_mark = 0x06054b50;
inline constexpr std::uint32_t end64_mark = 0x06064b50;
inline constexpr std::uint32_t locator64_mark = 0x07064b50;
inline constexpr std::uint32_t entry_mark = 0x02014b50;
inline constexpr std::uint32_t head_mark = 0x04034b50;
inline constexpr std::uint32_t signature_mark = 0x05054b50;
inline constexpr std::size_t end_bytes = 22;
inline constexpr std::size_t locator64_bytes = 20;
inline constexpr std::size_t end64_bytes = 56;
inline constexpr std::size_t entry_bytes = 46;
inline constexpr std::size_t head_bytes = 30;
inline constexpr std::uint64_t most_comment = 65'535;

template <class Type>
[[nodiscard]] std::uint64_t field(byte_view bytes, std::size_t at) {
    return load_le<Type>(bytes.data() + at);
}

[[noreturn]] inline void damaged(const byte_source& from, std::uint64_t offset, const std::string& what) {
    throw corrupt_data("the archive " + from.name() + ", a zip: at byte " + std::to_string(offset) + " " + what,
                       {.where = from.name(), .offset = offset});
}

/// The central directory's place and the number of its entries.
struct where_entries_lie {
    byte_range where;
    std::uint64_t count = 0;
    std::uint64_t shift =
        0;  // bytes before the archive that its offsets do not count, as of a program that unpacks itself
};

/// The archive's last bytes, and the position of its end record in them; nothing if there is none.
struct tail {
    byte_buffer bytes;
    std::optional<std::size_t> end;
};
[[nodiscard]] inline tail find_end(const byte_source& from) {
    const std::uint64_t size = from.size();
    const std::uint64_t length = std::min<std::uint64_t>(size, end_bytes + most_comment + locator64_bytes);
    tail last{.bytes = from.read({size - length, length}), .end = {}};
    const byte_view bytes = last.bytes.view();
    for (std::size_t i = bytes.size() < end_bytes ? 0 : bytes.size() - end_bytes + 1; i-- > 0 && !last.end;) {
        // A mark inside the comment has no length that fits.
        if (field<std::uint32_t>(bytes, i) == end_mark &&
            field<std::uint16_t>(bytes, i + 20) == bytes.size() - i - end_bytes) {
            last.end = i;
        }
    }
    return last;
}

[[nodiscard]] inline where_entries_lie find_entries(const byte_source& from) {
    const std::uint64_t size = from.size();
    const tail last = find_end(from);
    const byte_view bytes = last.bytes.view();
    const std::optional<std::size_t> end = last.end;
    if (!end) {
        damaged(from, size, "there should be the end of its directory: it is cut, or something was added");
    }
    const std::uint64_t end_at = size - bytes.size() + *end;
    where_entries_lie found{.where = {field<std::uint32_t>(bytes, *end + 16), field<std::uint32_t>(bytes, *end + 12)},
                            .count = field<std::uint16_t>(bytes, *end + 10)};
    std::uint64_t disk = field<std::uint16_t>(bytes, *end + 4);
    std::uint64_t behind = end_at;  // where the directory ends
    if (*end >= locator64_bytes && field<std::uint32_t>(bytes, *end - locator64_bytes) == locator64_mark) {
        const std::uint64_t told = field<std::uint64_t>(bytes, *end - locator64_bytes + 8);
        const byte_buffer record = from.read({told, end64_bytes});
        if (record.size() < end64_bytes || field<std::uint32_t>(record.view(), 0) != end64_mark) {
            damaged(from, told, "there should be the 64-bit end of its directory");
        }
        found = {.where = {field<std::uint64_t>(record.view(), 48), field<std::uint64_t>(record.view(), 40)},
                 .count = field<std::uint64_t>(record.view(), 32)};
        disk = field<std::uint32_t>(record.view(), 16);
        behind = told;
    }
    if (disk != 0) {
        throw unsupported("the archive " + from.name() + " is one of several files: join them (zip -s 0)",
                          {.where = from.name()});
    }
    if (found.where.length > behind || found.where.offset > behind - found.where.length) {
        damaged(from, end_at, "its directory is said to lie beyond its end");
    }
    found.shift = behind - found.where.length - found.where.offset;
    found.where.offset += found.shift;
    return found;
}

/// The values of a zip64 field for the entry's fields that are all ones; false if one is missing.
[[nodiscard]] inline bool widen(byte_view extra, std::uint64_t& size, std::uint64_t& packed, std::uint64_t& offset) {
    constexpr std::uint64_t ones = std::numeric_limits<std::uint32_t>::max();
    if (size != ones && packed != ones && offset != ones) {
        return true;
    }
    for (std::size_t i = 0; i + 4 <= extra.size();) {
        const std::uint64_t kind = field<std::uint16_t>(extra, i);
        const auto length = std::size_t{field<std::uint16_t>(extra, i + 2)};
        if (length > extra.size() - i - 4) {
            return false;
        }
        if (kind == 1) {
            byte_view values = extra.subspan(i + 4, length);
            for (std::uint64_t* const value : {&size, &packed, &offset}) {
                if (*value == ones) {
                    if (values.size() < 8) {
                        return false;
                    }
                    *value = field<std::uint64_t>(values, 0);
                    values = values.subspan(8);
                }
            }
            return true;
        }
        i += 4 + length;
    }
    return false;
}

[[nodiscard]] inline member refused(std::string why) { return {.how = packing::refused, .why = std::move(why)}; }

/// How a member with this method and these flags is stored.
[[nodiscard]] inline member how_to_read(std::uint64_t method, std::uint64_t flags) {
    if ((flags & 1U) != 0) {
        return refused("it is encrypted");
    }
    switch (method) {
        case 0:
            return {.how = packing::stored};
        case 8:
            return {.how = packing::deflated};
        case 93:
            return {.how = packing::zstd};
        default:
            return refused("it is compressed by method " + std::to_string(method) +
                           " of zip; stored, deflated and zstd are read");
    }
}

/// Whether any name in a directory has a '/'.
[[nodiscard]] inline bool has_slash(byte_view entries) {
    while (entries.size() >= entry_bytes && field<std::uint32_t>(entries, 0) == entry_mark) {
        const auto name_bytes = std::size_t{field<std::uint16_t>(entries, 28)};
        const std::size_t length = entry_bytes + name_bytes + std::size_t{field<std::uint16_t>(entries, 30)} +
                                   std::size_t{field<std::uint16_t>(entries, 32)};
        if (length > entries.size()) {
            return false;
        }
        if (as_text(entries.subspan(entry_bytes, name_bytes)).find('/') != std::string_view::npos) {
            return true;
        }
        entries = entries.subspan(length);
    }
    return false;
}

[[nodiscard]] inline std::string with_slashes(std::string name) {
    std::replace(name.begin(), name.end(), '\\', '/');
    return name;
}

}  // namespace zip

SMDEBUG_INLINE bool has_zip_end(const byte_source& from) { return zip::find_end(from).end.has_value(); }

SMDEBUG_INLINE directory read_zip(const byte_source& from, const archive_options& options, member_names names) {
    const zip::where_entries_lie entries = zip::find_entries(from);
    if (entries.count > options.most_members) {
        throw unsupported("the archive " + from.name() + " has " + std::to_string(entries.count) +
                              " members, more than archive_options allow",
                          {.where = from.name()});
    }
    const byte_buffer all = from.read(entries.where);
    directory made;
    // Some programs write '\\' for '/': then no name has a '/', or the entry says that it is from such a system.
    const bool has_slash = zip::has_slash(all.view());
    byte_view left = all.view();
    for (std::uint64_t i = 0; i < entries.count; ++i) {
        const std::uint64_t place = entries.where.offset + (all.size() - left.size());
        const bool is_entry = left.size() >= zip::entry_bytes && zip::field<std::uint32_t>(left, 0) == zip::entry_mark;
        const std::size_t name_bytes = is_entry ? std::size_t{zip::field<std::uint16_t>(left, 28)} : 0;
        const std::size_t extra_bytes = is_entry ? std::size_t{zip::field<std::uint16_t>(left, 30)} : 0;
        const std::size_t comment_bytes = is_entry ? std::size_t{zip::field<std::uint16_t>(left, 32)} : 0;
        const std::size_t length = zip::entry_bytes + name_bytes + extra_bytes + comment_bytes;
        if (!is_entry || length > left.size()) {
            made.damage.push_back(
                {place, "its directory is damaged: " + std::to_string(entries.count - i) + " members are lost"});
            break;
        }
        member file = zip::how_to_read(zip::field<std::uint16_t>(left, 10), zip::field<std::uint16_t>(left, 8));
        std::uint64_t packed = zip::field<std::uint32_t>(left, 20);
        std::uint64_t offset = zip::field<std::uint32_t>(left, 42);
        file.size = zip::field<std::uint32_t>(left, 24);
        file.sum = load_le<std::uint32_t>(left.data() + 16);
        file.behind_own_head = true;
        std::string name{as_text(left.subspan(zip::entry_bytes, name_bytes))};
        const bool is_whole =
            zip::widen(left.subspan(zip::entry_bytes + name_bytes, extra_bytes), file.size, packed, offset);
        const std::uint64_t made_by = zip::field<std::uint16_t>(left, 4) >> 8U;
        const std::uint64_t unix_kind = zip::field<std::uint32_t>(left, 38) >> 28U;
        left = left.subspan(length);
        if (!is_whole || offset > entries.where.offset || packed > entries.where.offset - offset) {
            add_damage(made, place, "the entry of a member says that it lies beyond the archive's end");
            continue;
        }
        file.where = {offset + entries.shift, packed};
        if (names == member_names::paths && name.find('/') == std::string::npos && (!has_slash || made_by == 0)) {
            name = zip::with_slashes(std::move(name));
        }
        if (name.ends_with('/')) {
            if (file.size > 0) {
                add_damage(made, place, "the entry of a folder says that it has bytes");
            }
            continue;
        }
        std::string key = names == member_names::paths ? key_of(name) : name;
        if (key.empty()) {
            add_problem(made, problem_of_name(name));
            continue;
        }
        if (made_by == 3 && unix_kind == 10) {  // Unix; a symbolic link
            file.how = packing::refused;
            file.why = "it is a symbolic link";
        }
        const auto [entry, is_new] = made.members.insert_or_assign(std::move(key), std::move(file));
        if (!is_new && names == member_names::texts) {
            add_problem(made, {problem_kind::replaced, "!/" + entry->first,
                               "the name stands more than once in the archive: the last one is read"});
        }
    }
    if (made.damage.empty() && !left.empty() &&
        !(left.size() >= 4 && zip::field<std::uint32_t>(left, 0) == zip::signature_mark)) {
        made.damage.push_back(
            {entries.where.offset + (all.size() - left.size()),
             "its directory has more than the " + std::to_string(entries.count) + " members of its end record"});
    }
    return made;
}

SMDEBUG_INLINE std::uint64_t zip_head_bytes(std::string_view key) noexcept { return zip::head_bytes + key.size(); }

SMDEBUG_INLINE std::uint64_t zip_content_begin(const byte_source& from, std::string_view key, const member& of) {
    constexpr std::uint64_t usual_name = 226;
    return zip_content_begin(from, key, of, from.read({of.where.offset, zip::head_bytes + usual_name}).view());
}

SMDEBUG_INLINE std::uint64_t zip_content_begin(const byte_source& from, std::string_view key, const member& of,
                                               byte_view head) {
    if (head.size() < zip::head_bytes || zip::field<std::uint32_t>(head, 0) != zip::head_mark) {
        zip::damaged(from, of.where.offset, "there should be the head of a member");
    }
    const std::uint64_t name_bytes = zip::field<std::uint16_t>(head, 26);
    const std::uint64_t extra_bytes = zip::field<std::uint16_t>(head, 28);
    byte_buffer longer;
    if (zip::head_bytes + name_bytes > head.size()) {
        longer = from.read({of.where.offset, zip::head_bytes + name_bytes});
        head = longer.view();
    }
    const std::size_t begin = std::min(zip::head_bytes, head.size());
    const std::string name{as_text(head.subspan(begin, std::min<std::size_t>(name_bytes, head.size() - begin)))};
    if (name != key && key_of(name) != key && key_of(zip::with_slashes(name)) != key) {
        zip::damaged(from, of.where.offset, "a member has another name than in the archive's directory");
    }
    return of.where.offset + zip::head_bytes + name_bytes + extra_bytes;
}

}  // namespace smdebug::inline v1::archive::detail
