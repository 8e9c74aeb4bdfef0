// The bodies of <smdebug/batch/search/name_pattern.hpp>.
#pragma once

#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

namespace smdebug::inline v1::detail {

/// A character, or a byte that is not part of one: those have numbers above all characters.
[[nodiscard]] inline utf8_character pattern_character(std::string_view text) noexcept {
    const utf8_character first = first_utf8_character(text);
    return first.length != 0 ? first : utf8_character{0x110000U + static_cast<unsigned char>(text.front()), 1};
}

/// The numbers of bytes of a pattern and of a name that match each other; 0 of the name: no match.
struct matched_bytes {
    std::size_t of_pattern = 0;
    std::size_t of_name = 0;
};

/// The end of the set at whose '[' `pattern` begins: the place after its ']'; 0 if it has none.
[[nodiscard]] inline std::size_t set_end(std::string_view pattern) noexcept {
    std::size_t place = 1;
    place += place < pattern.size() && (pattern[place] == '!' || pattern[place] == '^') ? 1U : 0U;
    place += place < pattern.size() && pattern[place] == ']' ? 1U : 0U;  // a leading ] is a member
    for (; place < pattern.size() && pattern[place] != '/'; ++place) {
        if (pattern[place] == ']') {
            return place + 1;
        }
        place += pattern[place] == '\\' ? 1U : 0U;
    }
    return 0;
}

/// Whether a set, given without its brackets and the '!', contains a character.
[[nodiscard]] inline bool set_has(std::string_view members, std::uint32_t wanted) noexcept {
    const auto take = [&] {
        if (members.front() == '\\' && members.size() > 1) {
            members.remove_prefix(1);
        }
        const utf8_character one = pattern_character(members);
        members.remove_prefix(one.length);
        return one.code;
    };
    while (!members.empty()) {
        const std::uint32_t first = take();
        std::uint32_t last = first;
        if (members.size() > 1 && members.front() == '-') {
            members.remove_prefix(1);
            last = take();
        }
        if (first <= wanted && wanted <= last) {
            return true;
        }
    }
    return false;
}

/// Matches the first element of a pattern that is not '*' with the beginning of a name.
[[nodiscard]] inline matched_bytes match_one(std::string_view pattern, std::string_view name) noexcept {
    const utf8_character one = pattern_character(name);
    if (pattern.front() == '?') {
        return {1, one.length};
    }
    if (const std::size_t end = pattern.front() == '[' ? set_end(pattern) : 0; end != 0) {
        const bool negated = pattern[1] == '!' || pattern[1] == '^';
        const std::size_t begin = negated ? 2 : 1;
        const bool has = set_has(pattern.substr(begin, end - 1 - begin), one.code);
        return {end, has != negated ? one.length : 0};
    }
    const std::size_t place = pattern.front() == '\\' && pattern.size() > 1 ? 1U : 0U;
    return {place + 1, pattern[place] == name.front() ? std::size_t{1} : std::size_t{0}};
}

/// Without braces.  Cost: the product of both lengths at worst.
[[nodiscard]] inline bool matches_one_of(std::string_view pattern, std::string_view name) noexcept {
    if (name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\.")) {
        return false;
    }
    std::size_t in_pattern = 0;
    std::size_t in_name = 0;
    std::optional<matched_bytes> star;  // after the last star, and where the rest was tried last
    while (in_name < name.size()) {
        if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
            star = matched_bytes{++in_pattern, in_name};
            continue;
        }
        if (in_pattern < pattern.size()) {
            const matched_bytes step = match_one(pattern.substr(in_pattern), name.substr(in_name));
            if (step.of_name != 0) {
                in_pattern += step.of_pattern;
                in_name += step.of_name;
                continue;
            }
        }
        if (!star) {
            return false;
        }
        star->of_name += pattern_character(name.substr(star->of_name)).length;
        in_pattern = star->of_pattern;
        in_name = star->of_name;
    }
    return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

/// The place of the brace that closes the one at `begin`, and whether there is a comma between them; npos: it is not
/// closed.
struct brace_group {
    std::size_t end = std::string_view::npos;
    bool has_comma = false;
};

[[nodiscard]] inline brace_group group_at(std::string_view text, std::size_t begin) noexcept {
    brace_group group;
    std::size_t depth = 0;
    for (std::size_t place = begin; place < text.size() && text[place] != '/'; ++place) {
        const char one = text[place];
        if (one == '\\') {
            ++place;
        } else if (one == '{') {
            ++depth;
        } else if (one == ',') {
            group.has_comma = group.has_comma || depth == 1;
        } else if (one == '}' && --depth == 0) {
            group.end = place;
            return group;
        }
    }
    return {};
}

/// Appends all expansions of the braces of `rest`, each after `before`, which has none.
inline void expand_braces(const std::string& before, std::string_view rest, std::vector<std::string>& alternatives) {
    constexpr std::size_t most_alternatives = 1024;
    std::size_t begin = 0;
    brace_group group;
    for (; begin < rest.size(); ++begin) {
        if (rest[begin] == '\\') {
            ++begin;
        } else if (rest[begin] == '{' && (group = group_at(rest, begin)).has_comma) {
            break;
        }
    }
    if (begin >= rest.size()) {
        if (alternatives.size() >= most_alternatives) {
            throw value_error("the braces of a pattern stand for more than " + std::to_string(most_alternatives) +
                              " names: write it with * and ?, or a line for each");
        }
        alternatives.push_back(before + std::string{rest});
        return;
    }
    std::size_t depth = 0;
    std::size_t piece = begin + 1;
    for (std::size_t place = piece; place <= group.end; ++place) {
        const char one = rest[place];
        if (one == '\\') {
            ++place;
        } else if (one == '{') {
            ++depth;
        } else if ((one == ',' && depth == 0) || place == group.end) {
            const std::string inner{rest.substr(piece, place - piece)};
            expand_braces(before + std::string{rest.substr(0, begin)}, inner + std::string{rest.substr(group.end + 1)},
                          alternatives);
            piece = place + 1;
        } else if (one == '}') {
            --depth;
        }
    }
}

SMDEBUG_INLINE std::size_t first_wildcard(std::string_view path) noexcept {
    for (std::size_t place = 0; place < path.size(); ++place) {
        switch (path[place]) {
            case '\\':
                ++place;
                break;
            case '*':
            case '?':
                return place;
            case '[':
                if (set_end(path.substr(place)) != 0) {
                    return place;
                }
                break;
            case '{':
                if (group_at(path, place).has_comma) {
                    return place;
                }
                break;
            default:
                break;
        }
    }
    return std::string_view::npos;
}

SMDEBUG_INLINE name_pattern::name_pattern(std::string_view text) : any_depth_(text == "**") {
    if (first_wildcard(text) == std::string_view::npos) {
        for (std::size_t place = 0; place < text.size(); ++place) {
            place += text[place] == '\\' && place + 1 < text.size() ? 1U : 0U;
            name_.push_back(text[place]);
        }
        return;
    }
    expand_braces({}, text, alternatives_);
}

SMDEBUG_INLINE bool name_pattern::matches(std::string_view name) const noexcept {
    return alternatives_.empty() ? name == name_
                                 : std::any_of(alternatives_.begin(), alternatives_.end(),
                                               [&](const std::string& each) { return matches_one_of(each, name); });
}

SMDEBUG_INLINE path_pattern::path_pattern(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const bool repeats = part == "**" && ends_at_any_depth();
        if (!part.empty() && part != "." && !repeats) {
            parts_.emplace_back(part);
        }
        begin = end + 1;
    }
}

SMDEBUG_INLINE path_pattern::progress path_pattern::begin() const {
    progress reached(parts_.size() + 1);
    reached.front() = true;
    pass_over_any_depth(reached);
    return reached;
}

SMDEBUG_INLINE path_pattern::progress path_pattern::after(const progress& before, std::string_view name,
                                                          bool at_link) const {
    progress reached(before.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!before[i]) {
            continue;
        }
        if (parts_[i].is_any_depth()) {
            reached[i] = reached[i] || !at_link;
        } else if (parts_[i].matches(name)) {
            reached[i + 1] = true;
        }
    }
    reached.back() = reached.back() || before.back();
    pass_over_any_depth(reached);
    return reached;
}

SMDEBUG_INLINE bool path_pattern::goes_on(const progress& reached) const noexcept {
    return std::find(reached.begin(), reached.end(), true) != reached.end();
}

SMDEBUG_INLINE const std::string& path_pattern::only_name(const progress& reached) const noexcept {
    static const std::string none;
    const auto first = std::find(reached.begin(), reached.end(), true);
    if (first == reached.end() || std::count(reached.begin(), reached.end(), true) != 1) {
        return none;
    }
    const auto part = static_cast<std::size_t>(first - reached.begin());
    return part < parts_.size() ? parts_[part].name() : none;
}

SMDEBUG_INLINE bool path_pattern::covers(std::string_view path) const {
    progress reached = begin();
    for (std::size_t from = 0; from < path.size() && !is_end(reached) && goes_on(reached);) {
        const std::size_t end = std::min(path.find('/', from), path.size());
        reached = after(reached, path.substr(from, end - from));
        from = end + 1;
    }
    return is_end(reached);
}

SMDEBUG_INLINE void path_pattern::pass_over_any_depth(progress& reached) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (reached[i] && parts_[i].is_any_depth()) {
            reached[i + 1] = true;
        }
    }
}

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
    // "./~" and "./s3:x" are files here; without "./" they would have another meaning.
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
    // An escaped character is literal.
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

}  // namespace smdebug::inline v1::detail
