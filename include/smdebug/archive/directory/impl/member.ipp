// The bodies of <smdebug/archive/directory/member.hpp>.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/core/relative_path.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

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
    return {.kind = problem_kind::left_out,
            .where = "!/" + std::string{name},
            .what = "the name of this member is no path within the archive: pack it again under a name without \"..\""};
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
    return {roots.begin(), roots.end()};
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
