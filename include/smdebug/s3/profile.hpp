// The profile that is in force: what ~/.aws/credentials and ~/.aws/config say under its name.
// Used by: s3 (configured_keys, aws_settings).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/environment.hpp>
#include <smdebug/s3/keys.hpp>
#include <smdebug/s3/profile_file.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {

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
    [[nodiscard]] const profile_property* find(std::string_view property) const noexcept {
        for (const place& held : places_) {
            if (const profile_property* found = find_property(held.properties, property);
                found != nullptr && !found->value.empty()) {
                return found;
            }
        }
        return nullptr;
    }
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

    [[nodiscard]] static std::optional<std::string> value_of(const profile_property* property) {
        if (property == nullptr || property->value.empty()) {
            return std::nullopt;
        }
        if (property->value.find('\n') != std::string::npos) {
            throw value_error(property->where + ": " + property->name +
                                  " goes on over lines that are indented deeper; it has to stand on one.",
                              {.where = property->where});
        }
        return property->value;
    }
    [[nodiscard]] static std::string path_of(const environment_reader& environment, const char* variable_name,
                                             const char* otherwise) {
        if (auto named = variable(environment, variable_name)) {
            return from_home(environment, *std::move(named));
        }
        return variable(environment, "HOME") ? from_home(environment, otherwise) : std::string{};
    }
    static void take(place& into, const profile_section* section) {
        if (section != nullptr) {
            into.named = true;
            into.properties = section->properties;
        }
    }

    std::string name_;
    std::array<place, 2> places_;  // credentials, config
    std::vector<profile_section> services_ = {};
};

inline profile profile::read(const environment_reader& environment) {
    const char* naming = variable(environment, "AWS_PROFILE") ? "AWS_PROFILE" : "AWS_DEFAULT_PROFILE";
    const auto named = variable(environment, naming);
    profile made{named.value_or("default")};
    auto& [credentials, config] = made.places_;
    credentials.path = path_of(environment, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
    config.path = path_of(environment, "AWS_CONFIG_FILE", "~/.aws/config");
    if (const auto file = credentials.path.empty() ? std::nullopt : profile_file::read(credentials.path)) {
        credentials.there = true;
        take(credentials, file->find(made.name_));
    }
    if (const auto file = config.path.empty() ? std::nullopt : profile_file::read(config.path)) {
        config.there = true;
        const profile_section* section = file->find("profile " + made.name_);
        take(config, section == nullptr && made.name_ == "default" ? file->find("default") : section);
        const profile_property* services = find_property(config.properties, "services");
        if (services != nullptr) {
            if (const profile_section* found = file->find("services " + services->value)) {
                made.services_.push_back(*found);
            }
        }
    }
    if (named && made.name_ != "default" && !credentials.named && !config.named) {
        throw value_error(std::string{naming} + " names a profile that is not there: " + made.described() +
                          ".  Name one that is, or add it (aws configure --profile " + made.name_ + ").");
    }
    return made;
}

inline std::optional<access_keys> profile::keys() const {
    for (const place& held : places_) {
        const profile_property* id = find_property(held.properties, "aws_access_key_id");
        if (id == nullptr || id->value.empty()) {
            continue;
        }
        const auto value = [&](const char* property) {
            return value_of(find_property(held.properties, property)).value_or("");
        };
        access_keys found{.id = value("aws_access_key_id"),
                          .secret = value("aws_secret_access_key"),
                          .token = value("aws_session_token")};
        check_keys(found, "profile \"" + name_ + "\" (" + id->where + ")");
        return found;
    }
    return std::nullopt;
}

inline std::optional<std::string> profile::s3_endpoint() const {
    const profile_property* services = find_property(places_[1].properties, "services");
    if (services == nullptr || services->value.empty()) {
        return std::nullopt;
    }
    if (services_.empty()) {
        throw value_error(services->where + ": there is no section [services " + services->value +
                              "], which the profile \"" + name_ + "\" names.",
                          {.where = services->where});
    }
    const profile_property* s3 = find_property(services_.front().properties, "s3");
    return s3 == nullptr ? std::nullopt : value_of(find_property(s3->below, "endpoint_url"));
}

inline std::string profile::described() const {
    std::string made = "profile \"" + name_ + "\"";
    const char* between = " in ";
    for (const place& held : places_) {
        if (held.path.empty()) {
            continue;
        }
        made.append(between).append(held.path);
        made += !held.there ? " (no such file)" : held.named ? " (no keys there)" : " (no such profile)";
        between = " and ";
    }
    return places_[0].path.empty() && places_[1].path.empty() ? made + " (HOME is not set: there are no files)" : made;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
