// The bodies of <smdebug/batch/search/written_path.hpp>.
#pragma once

#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/batch/search/written_path.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace detail {

inline constexpr std::string_view s3_scheme = "s3://";

SMDEBUG_INLINE std::string plain_path_of(std::string_view written) {
    if (is_in_s3(written)) {
        while (written.size() > s3_scheme.size() && written.ends_with('/')) {
            written.remove_suffix(1);
        }
        return std::string{written};
    }
    constexpr std::string_view scheme = "file://";
    written.remove_prefix(written.starts_with(scheme) ? scheme.size() : 0);
    std::string home;
    if (written == "~" || written.starts_with("~/")) {
        home = local_path("~") + std::string{written.substr(1)};
        written = home;
    }
    std::string plain{written.starts_with('/') ? "/" : ""};
    for (std::size_t begin = 0; begin < written.size();) {
        const std::size_t end = std::min(written.find('/', begin), written.size());
        const std::string_view part = written.substr(begin, end - begin);
        if (!part.empty() && part != ".") {
            plain.append(plain.empty() || plain == "/" ? "" : "/").append(part);
        }
        begin = end + 1;
    }
    // "./~" and "./s3:x" are files here; without "./" they would be something else.
    const std::string_view first = std::string_view{plain}.substr(0, plain.find('/'));
    if (first.starts_with('~') || first.find(':') != std::string_view::npos) {
        return "./" + plain;
    }
    return plain.empty() ? "." : plain;
}

SMDEBUG_INLINE address_parts split_address(std::string_view address) {
    const std::size_t slash = std::min(address.find('/', std::min(s3_scheme.size(), address.size())), address.size());
    return {.bucket = std::string{address.substr(0, slash)},
            .key = std::string{address.substr(std::min(slash + 1, address.size()))}};
}

SMDEBUG_INLINE std::string whole_path_of(const std::string& plain) {
    if (plain.starts_with(s3_scheme)) {
        return plain;
    }
    const std::string_view path = plain;
    std::string whole =
        posix::absolute_path(std::string{plain == "." ? path : path.substr(path.starts_with("./") ? 2 : 0)});
    if (plain == ".") {
        whole.resize(std::max<std::size_t>(whole.size() - 2, 1));
    }
    const auto is_part = [&](std::size_t at) { return at + 3 == whole.size() || whole[at + 3] == '/'; };
    std::size_t up = whole.rfind("/..");
    while (up != std::string::npos && !is_part(up)) {
        up = up == 0 ? std::string::npos : whole.rfind("/..", up - 1);
    }
    if (up != std::string::npos) {
        std::error_code missing;
        const std::string above = std::filesystem::canonical(whole.substr(0, up + 3), missing).string();
        whole = missing ? std::filesystem::path{whole}.lexically_normal().string()
                        : (above == "/" && up + 3 < whole.size() ? std::string{} : above) + whole.substr(up + 3);
    }
    return whole;
}

SMDEBUG_INLINE std::string run_key_of(std::string_view written) {
    try {
        return whole_path_of(plain_path_of(written));
    } catch (const value_error&) {
        return std::string{written};
    }
}

SMDEBUG_INLINE std::optional<path_in_archive> split_at_archive(std::string_view path) {
    for (std::size_t mark = path.find('!'); mark != std::string_view::npos; mark = path.find('!', mark + 1)) {
        const std::string_view before = path.substr(0, mark);
        if ((mark + 1 == path.size() || path[mark + 1] == '/') && !archive_extension_of(before).empty()) {
            return path_in_archive{.archive = std::string{before},
                                   .inside = std::string{path.substr(std::min(mark + 2, path.size()))}};
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE rooted_pattern split_at_wildcard(const std::string& plain) {
    const bool far = plain.starts_with(s3_scheme);
    const std::size_t before_names = far ? s3_scheme.size() : 0;
    const std::size_t first = first_wildcard(std::string_view{plain}.substr(before_names));
    const std::size_t wildcard = first == std::string::npos ? plain.size() : before_names + first;
    const std::size_t slash = plain.rfind('/', wildcard);
    if (far && slash < before_names) {
        throw value_error("the bucket of " + plain + " is a pattern: name the bucket", {.where = plain});
    }
    rooted_pattern parts{.root = slash == std::string::npos ? "." : plain.substr(0, std::max<std::size_t>(slash, 1)),
                         .pattern = slash == std::string::npos ? plain : plain.substr(slash + 1)};
    // What a backslash stands before is meant as it is.
    if (parts.root.find('\\') != std::string::npos) {
        std::string unescaped;
        for (std::size_t place = 0; place < parts.root.size(); ++place) {
            place += parts.root[place] == '\\' && place + 1 < parts.root.size() ? 1U : 0U;
            unescaped.push_back(parts.root[place]);
        }
        parts.root = std::move(unescaped);
    }
    parts.prefix = parts.pattern.substr(0, parts.pattern.find_first_of("*?[{\\/"));
    return parts;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
