// The files ~/.aws/credentials and ~/.aws/config: sections of properties, read as the tools of AWS read them.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials/environment.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// `name = value`.  The value may be a secret, and is never printed.
struct profile_property {
    std::string name = {};   ///< in small letters
    std::string value = {};  ///< lines that are indented deeper go on with it, each behind a '\n'
    std::string where = {};  ///< "<path>, line 3"
    /// The indented block below a name without a value.
    std::vector<profile_property> below = {};
};

/// The property of that name.  Borrows.
[[nodiscard]] const profile_property* find_property(const std::vector<profile_property>& among,
                                                    std::string_view name) noexcept;

/// `[name]` and what follows.
struct profile_section {
    std::string name = {};  ///< without quotes and needless blanks: "default", "profile x", "services y"
    std::vector<profile_property> properties = {};
};

/// One of the files.  A section that stands twice is one; of a property that stands twice the last counts.
///  - '#' and ';' begin a comment, alone on a line or behind a blank.
///  - A line that is indented deeper than the property above goes on with it.
///  - Blanks round names, values and '=' do not count; ':' is as good as '='.
class profile_file {
public:
    /// Nothing when there is no such file.
    /// Errors: value_error for one that cannot be read or is malformed, naming the line, and never what stands there.
    [[nodiscard]] static std::optional<profile_file> read(const std::string& path);
    /// The same of a file's content; the path is for messages.
    [[nodiscard]] static profile_file parse(std::string_view text, const std::string& path);

    /// Nothing when there is none of that name.  Borrows.
    [[nodiscard]] const profile_section* find(std::string_view name) const noexcept;

private:
    class parser;
    std::vector<profile_section> sections_;
};

class profile_file::parser {
public:
    parser(std::vector<profile_section>& sections, const std::string& path) : sections_(sections), path_(path) {}

    void take(std::string_view line);

private:
    static constexpr std::string_view blanks = " \t\r\f\v";
    static constexpr std::size_t no_section = static_cast<std::size_t>(-1);

    [[nodiscard]] static std::string_view trimmed(std::string_view text) noexcept;
    [[nodiscard]] static std::string_view without_quotes(std::string_view text) noexcept;
    [[nodiscard]] static std::string_view without_comment(std::string_view value) noexcept;

    [[nodiscard]] std::string here() const { return path_ + ", line " + std::to_string(number_); }
    [[noreturn]] void malformed(const std::string& how) const;

    void open_section(std::string_view text);
    [[nodiscard]] static std::string section_name(std::string_view text);

    void go_on(std::string_view text);

    profile_property& put(std::vector<profile_property>& into, std::string_view text) const;

    std::vector<profile_section>& sections_;
    const std::string& path_;
    std::size_t number_ = 0;
    std::size_t section_ = no_section;
    profile_property* open_ = nullptr;  // the last property, which the next line may go on with
    std::size_t indent_ = 0;            // of that one
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/profile_file.ipp>
#endif
