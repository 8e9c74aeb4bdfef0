// The selected profile: its sections in ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/s3/credentials.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::s3::detail {

/// How the search of one source of keys ended.
enum class keys_outcome : std::uint8_t {
    found,
    nothing_there,  ///< the source is not configured or has no keys: another one may have some
    unreachable,    ///< no answer
    failing,        ///< an answer without keys for now: trying again may help
    refused,        ///< an answer that denies keys for good
};

/// The result of it.
struct keys_answer {
    keys_outcome outcome = keys_outcome::nothing_there;
    std::optional<access_keys> keys = {};  ///< if found
    std::string seen = {};                 ///< the source and its state, for messages: never a secret
};

/// Returns the value of a variable, or nothing if it is not set.
using environment_reader = std::function<std::optional<std::string>(const char*)>;

/// The process's variables.  Threads: any, while no thread changes the environment.
[[nodiscard]] std::optional<std::string> process_environment(const char* name);

/// The value of a variable.  An empty one counts as not set, as in the AWS tools.
[[nodiscard]] std::optional<std::string> variable(const environment_reader& environment, const char* name);

/// Whether a variable is "true", in any case.
[[nodiscard]] inline bool switched_on(const environment_reader& environment, const char* name) {
    return smdebug::detail::in_small_letters(variable(environment, name).value_or("")) == "true";
}

/// Expands "~/" at the start of a path, if HOME is set.
[[nodiscard]] std::string from_home(const environment_reader& environment, std::string path);

/// Errors: those of the file system; unsupported for a file that is larger than `most` bytes.
[[nodiscard]] std::string text_of_file(const std::string& path, std::uint64_t most);

// The files ~/.aws/credentials and ~/.aws/config: sections of properties, read as the AWS tools read them.

/// A property, `name = value`; a section, `[name]`, with its properties below; or a file, with its sections below.
struct profile_property {
    std::string name = {};   ///< a property's in lower case, a section's without quotes and extra blanks: "profile x"
    std::string value = {};  ///< including continuation lines, each after a '\n'.  May be secret and is never printed
    std::string where = {};  ///< "<path>, line 3"
    /// Of a property: the indented block under a name without a value.
    std::vector<profile_property> below = {};
};

/// What is below it under that name; null if nothing is, or if `within` is null.  Borrows.
[[nodiscard]] const profile_property* find_below(const profile_property* within, std::string_view name) noexcept;

/// One of the files.  Sections of the same name are merged; the last of several equal properties counts.
///  - '#' and ';' begin a comment at the start of a line or after a blank.
///  - A line indented deeper than the property above continues its value.
///  - Blanks around names, values and '=' are ignored; ':' is equivalent to '='.
/// Nothing if there is no such file.
/// Errors: value_error for one that cannot be read or is malformed; it names the line, but never quotes it.
[[nodiscard]] std::optional<profile_property> read_profile_file(const std::string& path);
/// Parses a file's content; the path is for messages.
[[nodiscard]] profile_property parse_profile_file(std::string_view text, const std::string& path);

/// One profile from both files.  Cost: two small files are read, once.
class profile {
public:
    /// The profile named by AWS_PROFILE (or AWS_DEFAULT_PROFILE), else "default", in the files named by
    /// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, else in those in ~/.aws.
    /// Errors: value_error when a file is malformed or cannot be read, and when neither has the profile that a variable
    /// names.  Missing files, or a missing "default", are no error.
    [[nodiscard]] static profile read(const environment_reader& environment);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// The property; nothing if it is missing or has no value.  The credentials file takes precedence.  Borrows.
    [[nodiscard]] const profile_property* find(std::string_view property) const noexcept;
    /// Its value.  Errors: value_error if it spans several lines.
    [[nodiscard]] std::optional<std::string> value(std::string_view property) const { return value_of(find(property)); }

    /// The keys, from the first file with an id.
    /// Errors: value_error if it has an id alone, or invalid keys.
    [[nodiscard]] std::optional<access_keys> keys() const;

    /// `endpoint_url` of "s3" in the section [services x] that the property `services` names.
    /// Errors: value_error if there is no such section.
    [[nodiscard]] std::optional<std::string> s3_endpoint() const;

    /// The files searched for keys, and why each has none: profile "x" in <path> (no such file) and ...
    [[nodiscard]] std::string described() const;

private:
    struct place {
        std::string path;  // empty if its place is unknown
        bool there = false;
        profile_property file = {};
        const profile_property* section = nullptr;  // of this profile, in `file`, which is moved but never copied
    };

    explicit profile(std::string name) : name_(std::move(name)) {}
    profile(profile&&) = default;

    [[nodiscard]] static std::optional<std::string> value_of(const profile_property* property);

    std::string name_;
    std::array<place, 2> places_;  // credentials, config
};

/// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
/// Errors: value_error for an id without a secret, and for invalid keys.
[[nodiscard]] keys_answer keys_of_environment(const environment_reader& environment);

/// From the selected profile.
/// Errors: value_error, as profile::read() and profile::keys(); unsupported when the profile, or after it the
/// environment, obtains its keys from another service or program: these are not used.
[[nodiscard]] keys_answer keys_of_profile(const environment_reader& environment);

/// The raw values, unchecked.
struct aws_settings {
    std::optional<std::string> region = {};     ///< "eu-central-1"
    std::optional<std::string> endpoint = {};   ///< "https://host:port"
    std::optional<std::string> ca_bundle = {};  ///< path of a file of certificates
};

/// The environment takes precedence over the profile, and a variable for S3 alone over one for all services:
///  - AWS_REGION, AWS_DEFAULT_REGION, `region`;
///  - AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of the profile's [services], `endpoint_url`; none of them
///    if AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or `ignore_configured_endpoint_urls` is true;
///  - AWS_CA_BUNDLE, `ca_bundle`.
/// Errors: value_error, as profile::read().
[[nodiscard]] aws_settings read_aws_settings(const environment_reader& environment = process_environment);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/profile.ipp>
#endif
