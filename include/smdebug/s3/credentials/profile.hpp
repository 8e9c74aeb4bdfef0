// The profile that is in force: what ~/.aws/credentials and ~/.aws/config say under its name.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/profile_file.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// What both files say of one profile.  Cost: two small files are read, once.
class profile {
public:
    /// The one that AWS_PROFILE (or AWS_DEFAULT_PROFILE) names, else "default"; of the files that
    /// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name, else of those in ~/.aws.
    /// Errors: value_error when a file is malformed or cannot be read, and when the profile that a variable names is in
    /// neither.  That there are no files, and no "default", is none.
    [[nodiscard]] static profile read(const environment_reader& environment);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// The property; nothing when it is not there, or has no value.  The credentials file comes first.  Borrows.
    [[nodiscard]] const profile_property* find(std::string_view property) const noexcept;
    /// Its value.  Errors: value_error when it goes over several lines.
    [[nodiscard]] std::optional<std::string> value(std::string_view property) const { return value_of(find(property)); }

    /// The keys, from the first of the files that has an id.
    /// Errors: value_error when it has an id alone, or one that can never be right.
    [[nodiscard]] std::optional<access_keys> keys() const;

    /// `endpoint_url` of "s3" in the section [services x] that the property `services` names.
    /// Errors: value_error when there is no such section.
    [[nodiscard]] std::optional<std::string> s3_endpoint() const;

    /// Where keys were looked for, and why there were none: profile "x" in <path> (no such file) and ...
    [[nodiscard]] std::string described() const;

private:
    struct place {
        std::string path;  // empty: not known where it would be
        bool there = false;
        bool named = false;  // has the profile
        std::vector<profile_property> properties = {};
    };

    explicit profile(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] static std::optional<std::string> value_of(const profile_property* property);
    [[nodiscard]] static std::string path_of(const environment_reader& environment, const char* variable_name,
                                             const char* otherwise);
    static void take(place& into, const profile_section* section);

    std::string name_;
    std::array<place, 2> places_;  // credentials, config
    std::vector<profile_section> services_ = {};
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/profile.ipp>
#endif
