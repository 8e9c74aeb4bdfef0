// The bodies of <smdebug/s3/credentials/profile_file.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile_file.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE const profile_property* find_property(const std::vector<profile_property>& among,
                                                     std::string_view name) noexcept {
    const auto found = std::find_if(among.begin(), among.end(),
                                    [&](const profile_property& property) { return property.name == name; });
    return found == among.end() ? nullptr : &*found;
}

SMDEBUG_INLINE const profile_section* profile_file::find(std::string_view name) const noexcept {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const profile_section& section) { return section.name == name; });
    return found == sections_.end() ? nullptr : &*found;
}

SMDEBUG_INLINE void profile_file::parser::take(std::string_view line) {
    ++number_;
    const std::size_t indent = std::min(line.find_first_not_of(blanks), line.size());
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') {
        return;
    }
    if (open_ != nullptr && indent > indent_) {
        go_on(text);
    } else if (text.front() == '[') {
        open_section(text);
    } else {
        indent_ = indent;
        if (section_ == no_section) {
            malformed("stands before the first [section]");
        }
        open_ = &put(sections_[section_].properties, text);
    }
}

SMDEBUG_INLINE std::string_view profile_file::parser::trimmed(std::string_view text) noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

SMDEBUG_INLINE std::string_view profile_file::parser::without_quotes(std::string_view text) noexcept {
    const bool quoted =
        text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
    return quoted ? text.substr(1, text.size() - 2) : text;
}

SMDEBUG_INLINE std::string_view profile_file::parser::without_comment(std::string_view value) noexcept {
    for (std::size_t at = 1; at < value.size(); ++at) {
        if ((value[at] == '#' || value[at] == ';') && blanks.find(value[at - 1]) != std::string_view::npos) {
            return trimmed(value.substr(0, at));
        }
    }
    return value;
}

SMDEBUG_INLINE void profile_file::parser::malformed(const std::string& how) const {
    throw value_error(here() + " " + how + ".  Wanted are lines of the form [profile name] or name = value.",
                      {.where = here()});
}

SMDEBUG_INLINE void profile_file::parser::open_section(std::string_view text) {
    const std::size_t end = text.find(']');
    const std::string_view rest = end == std::string_view::npos ? text : trimmed(text.substr(end + 1));
    if (!rest.empty() && rest.front() != '#' && rest.front() != ';') {
        malformed("is no whole [section]");
    }
    const std::string name = section_name(trimmed(text.substr(1, end - 1)));
    if (name.empty()) {
        malformed("is a [section] without a name");
    }
    open_ = nullptr;
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const profile_section& section) { return section.name == name; });
    section_ = static_cast<std::size_t>(found - sections_.begin());
    if (found == sections_.end()) {
        sections_.push_back({.name = name});
    }
}

SMDEBUG_INLINE std::string profile_file::parser::section_name(std::string_view text) {
    for (const std::string_view kind : std::array<std::string_view, 3>{"profile", "services", "sso-session"}) {
        if (text.starts_with(kind) && blanks.find(text.substr(kind.size(), 1)) != std::string_view::npos &&
            text.size() > kind.size()) {
            return std::string{kind}.append(" ").append(without_quotes(trimmed(text.substr(kind.size()))));
        }
    }
    return std::string{without_quotes(text)};
}

SMDEBUG_INLINE void profile_file::parser::go_on(std::string_view text) {
    if (open_->value.empty()) {
        put(open_->below, text);
    } else {
        open_->value.append("\n").append(text);
    }
}

SMDEBUG_INLINE profile_property& profile_file::parser::put(std::vector<profile_property>& into,
                                                           std::string_view text) const {
    const std::size_t middle = text.find_first_of("=:");
    if (middle == std::string_view::npos) {
        malformed("has no '='");
    }
    const std::string name = in_small_letters(trimmed(text.substr(0, middle)));
    if (name.empty()) {
        malformed("has no name before the '='");
    }
    profile_property made{
        .name = name, .value = std::string{without_comment(trimmed(text.substr(middle + 1)))}, .where = here()};
    std::erase_if(into, [&](const profile_property& property) { return property.name == name; });
    return into.emplace_back(std::move(made));
}

SMDEBUG_INLINE profile_file profile_file::parse(std::string_view text, const std::string& path) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    profile_file made;
    parser reader{made.sections_, path};
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        reader.take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return made;
}

SMDEBUG_INLINE std::optional<profile_file> profile_file::read(const std::string& path) {
    constexpr std::uint64_t most = std::uint64_t{16} << 20U;
    if (path == "/dev/null") {  // how one says that there is to be no such file
        return std::nullopt;
    }
    std::string why;
    try {
        const smdebug::detail::posix::file file{path};
        if (file.size() <= most) {
            smdebug::detail::posix::scratch_buffer buffer;
            return parse(as_text(file.read_all(buffer)), path);
        }
        why = path + " is too large for what it should be";
    } catch (const not_found&) {
        return std::nullopt;
    } catch (const invalid_argument&) {
        throw;
    } catch (const error& thrown) {
        why = thrown.message();
    }
    throw value_error("The settings for AWS cannot be read: " + why +
                          ".  Make the file readable, or name another one (AWS_CONFIG_FILE, "
                          "AWS_SHARED_CREDENTIALS_FILE).",
                      {.where = path});
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
