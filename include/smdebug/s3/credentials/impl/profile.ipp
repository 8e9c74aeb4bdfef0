// The bodies of <smdebug/s3/credentials/profile.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE const profile_property* profile::find(std::string_view property) const noexcept {
    for (const place& file : places_) {
        if (const profile_property* found = find_property(file.properties, property);
            found != nullptr && !found->value.empty()) {
            return found;
        }
    }
    return nullptr;
}

SMDEBUG_INLINE std::optional<std::string> profile::value_of(const profile_property* property) {
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

SMDEBUG_INLINE std::string profile::path_of(const environment_reader& environment, const char* variable_name,
                                            const char* otherwise) {
    if (auto named = variable(environment, variable_name)) {
        return from_home(environment, *std::move(named));
    }
    return variable(environment, "HOME") ? from_home(environment, otherwise) : std::string{};
}

SMDEBUG_INLINE void profile::take(place& into, const profile_section* section) {
    if (section != nullptr) {
        into.named = true;
        into.properties = section->properties;
    }
}

SMDEBUG_INLINE profile profile::read(const environment_reader& environment) {
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

SMDEBUG_INLINE std::optional<access_keys> profile::keys() const {
    for (const place& file : places_) {
        const profile_property* id = find_property(file.properties, "aws_access_key_id");
        if (id == nullptr || id->value.empty()) {
            continue;
        }
        const auto value = [&](const char* property) {
            return value_of(find_property(file.properties, property)).value_or("");
        };
        access_keys keys{.id = value("aws_access_key_id"),
                         .secret = value("aws_secret_access_key"),
                         .token = value("aws_session_token")};
        check_keys(keys, "profile \"" + name_ + "\" (" + id->where + ")");
        return keys;
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<std::string> profile::s3_endpoint() const {
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

SMDEBUG_INLINE std::string profile::described() const {
    std::string made = "profile \"" + name_ + "\"";
    const char* between = " in ";
    for (const place& file : places_) {
        if (file.path.empty()) {
            continue;
        }
        made.append(between).append(file.path);
        made += !file.there ? " (no such file)" : file.named ? " (no keys there)" : " (no such profile)";
        between = " and ";
    }
    return places_[0].path.empty() && places_[1].path.empty() ? made + " (HOME is not set: there are no files)" : made;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
