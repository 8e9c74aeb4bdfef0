// The bodies of <smdebug/batch/search/name_pattern.hpp>.
#pragma once

#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A character, or a byte that is none: those have numbers above all characters.
[[nodiscard]] inline utf8_character pattern_character(std::string_view text) noexcept {
    const utf8_character first = first_utf8_character(text);
    return first.length != 0 ? first : utf8_character{0x110000U + static_cast<unsigned char>(text.front()), 1};
}

/// How many bytes of a pattern and of a name belong together; none of the name: they do not match.
struct matched_bytes {
    std::size_t of_pattern = 0;
    std::size_t of_name = 0;
};

/// The end of the set that begins at the '[' with which `pattern` begins: the place behind its ']'; 0: it has none.
[[nodiscard]] inline std::size_t set_end(std::string_view pattern) noexcept {
    std::size_t place = 1;
    place += place < pattern.size() && (pattern[place] == '!' || pattern[place] == '^') ? 1U : 0U;
    place += place < pattern.size() && pattern[place] == ']' ? 1U : 0U;  // the first one is a member
    for (; place < pattern.size() && pattern[place] != '/'; ++place) {
        if (pattern[place] == ']') {
            return place + 1;
        }
        place += pattern[place] == '\\' ? 1U : 0U;
    }
    return 0;
}

/// Whether a set, without its brackets and the '!', has a character.
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

/// The first element of a pattern that is not '*', against the beginning of a name.
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
    std::optional<matched_bytes> star;  // behind the last one, and where what follows it was tried last
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

/// The place of the brace that ends the one at `begin`, and whether there is a comma between them; npos: it has no end.
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

/// Appends what the braces of `rest` stand for, behind `before`, which has none.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
