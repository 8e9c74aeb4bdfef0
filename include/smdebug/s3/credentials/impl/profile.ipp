// The bodies of <smdebug/s3/credentials/profile.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <cstdlib>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::optional<std::string> process_environment(const char* name) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? std::nullopt : std::optional<std::string>{text};
}

SMDEBUG_INLINE std::optional<std::string> variable(const environment_reader& environment, const char* name) {
    auto value = environment(name);
    return value && value->empty() ? std::nullopt : std::move(value);
}

SMDEBUG_INLINE std::string from_home(const environment_reader& environment, std::string path) {
    const auto home = variable(environment, "HOME");
    return home && path.starts_with("~/") ? *home + path.substr(1) : std::move(path);
}

SMDEBUG_INLINE const profile_property* find_below(const profile_property* within, std::string_view name) noexcept {
    if (within == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(within->below.begin(), within->below.end(),
                                    [&](const profile_property& property) { return property.name == name; });
    return found == within->below.end() ? nullptr : &*found;
}

/// Takes the lines of a file.
class profile_parser {
public:
    profile_parser(std::vector<profile_property>& sections, const std::string& path)
        : sections_(sections), path_(path) {}

    void take(std::string_view line) {
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
                malformed("is before the first [section]");
            }
            open_ = &put(sections_[section_].below, text);
        }
    }

private:
    static constexpr std::string_view blanks = " \t\r\f\v";
    static constexpr std::size_t no_section = static_cast<std::size_t>(-1);

    [[nodiscard]] static std::string_view trimmed(std::string_view text) noexcept {
        return smdebug::detail::trimmed(text, blanks);
    }
    [[nodiscard]] static std::string_view without_quotes(std::string_view text) noexcept {
        const bool quoted =
            text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
        return quoted ? text.substr(1, text.size() - 2) : text;
    }

    [[nodiscard]] static std::string_view without_comment(std::string_view value) noexcept {
        for (std::size_t at = 1; at < value.size(); ++at) {
            if ((value[at] == '#' || value[at] == ';') && blanks.find(value[at - 1]) != std::string_view::npos) {
                return trimmed(value.substr(0, at));
            }
        }
        return value;
    }

    [[nodiscard]] std::string here() const { return path_ + ", line " + std::to_string(number_); }
    [[noreturn]] void malformed(const std::string& how) const {
        throw value_error(here() + " " + how + ".  Expected are lines of the form [profile name] or name = value.",
                          {.where = here()});
    }

    void open_section(std::string_view text) {
        const std::size_t end = text.find(']');
        const std::string_view rest = end == std::string_view::npos ? text : trimmed(text.substr(end + 1));
        if (!rest.empty() && rest.front() != '#' && rest.front() != ';') {
            malformed("is an incomplete [section]");
        }
        const std::string name = section_name(trimmed(text.substr(1, end - 1)));
        if (name.empty()) {
            malformed("is a [section] without a name");
        }
        open_ = nullptr;
        const auto found = std::find_if(sections_.begin(), sections_.end(),
                                        [&](const profile_property& section) { return section.name == name; });
        section_ = static_cast<std::size_t>(found - sections_.begin());
        if (found == sections_.end()) {
            sections_.push_back({.name = name});
        }
    }

    [[nodiscard]] static std::string section_name(std::string_view text) {
        for (const std::string_view kind : std::array<std::string_view, 3>{"profile", "services", "sso-session"}) {
            if (text.starts_with(kind) && blanks.find(text.substr(kind.size(), 1)) != std::string_view::npos &&
                text.size() > kind.size()) {
                return std::string{kind}.append(" ").append(without_quotes(trimmed(text.substr(kind.size()))));
            }
        }
        return std::string{without_quotes(text)};
    }

    void go_on(std::string_view text) {
        if (open_->value.empty()) {
            put(open_->below, text);
        } else {
            open_->value.append("\n").append(text);
        }
    }

    profile_property& put(std::vector<profile_property>& into, std::string_view text) const {
        const std::size_t middle = text.find_first_of("=:");
        if (middle == std::string_view::npos) {
            malformed("has no '='");
        }
        const std::string name = smdebug::detail::in_small_letters(trimmed(text.substr(0, middle)));
        if (name.empty()) {
            malformed("has no name before the '='");
        }
        profile_property made{
            .name = name, .value = std::string{without_comment(trimmed(text.substr(middle + 1)))}, .where = here()};
        std::erase_if(into, [&](const profile_property& property) { return property.name == name; });
        return into.emplace_back(std::move(made));
    }

    std::vector<profile_property>& sections_;
    const std::string& path_;
    std::size_t number_ = 0;
    std::size_t section_ = no_section;
    profile_property* open_ = nullptr;  // the last property, which the next line may continue
    std::size_t indent_ = 0;            // its indentation
};

SMDEBUG_INLINE profile_property parse_profile_file(std::string_view text, const std::string& path) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    profile_property made;
    profile_parser reader{made.below, path};
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        reader.take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return made;
}

SMDEBUG_INLINE std::string text_of_file(const std::string& path, std::uint64_t most) {
    const smdebug::detail::posix::file file{path};
    if (file.size() > most) {
        throw unsupported(path + " is too large for what it should be", {.where = path});
    }
    return std::string{as_text(file.read().view())};
}

SMDEBUG_INLINE std::optional<profile_property> read_profile_file(const std::string& path) {
    if (path == "/dev/null") {  // conventional way to disable the file
        return std::nullopt;
    }
    std::string text;
    try {
        text = text_of_file(path, std::uint64_t{16} << 20U);
    } catch (const not_found&) {
        return std::nullopt;
    } catch (const error& thrown) {
        throw value_error("The settings for AWS cannot be read: " + std::string{thrown.message()} +
                              ".  Make the file readable, or name another one (AWS_CONFIG_FILE, "
                              "AWS_SHARED_CREDENTIALS_FILE).",
                          {.where = path});
    }
    return parse_profile_file(text, path);
}

SMDEBUG_INLINE const profile_property* profile::find(std::string_view property) const noexcept {
    for (const place& file : places_) {
        if (const profile_property* found = find_below(file.section, property);
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
        throw value_error(
            property->where + ": " + property->name + " continues on indented lines; it must be on a single line.",
            {.where = property->where});
    }
    return property->value;
}

SMDEBUG_INLINE profile profile::read(const environment_reader& environment) {
    const char* naming = variable(environment, "AWS_PROFILE") ? "AWS_PROFILE" : "AWS_DEFAULT_PROFILE";
    const auto named = variable(environment, naming);
    profile made{named.value_or("default")};
    const auto open = [&](place& into, const char* variable_name, const char* otherwise) {
        const auto path = variable(environment, variable_name);
        if (path || variable(environment, "HOME")) {
            into.path = from_home(environment, path.value_or(otherwise));
        }
        auto file = into.path.empty() ? std::nullopt : read_profile_file(into.path);
        into.there = file.has_value();
        into.file = std::move(file).value_or(profile_property{});
    };
    auto& [credentials, config] = made.places_;
    open(credentials, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
    open(config, "AWS_CONFIG_FILE", "~/.aws/config");
    credentials.section = find_below(&credentials.file, made.name_);
    config.section = find_below(&config.file, "profile " + made.name_);
    if (config.section == nullptr && made.name_ == "default") {
        config.section = find_below(&config.file, "default");
    }
    if (named && made.name_ != "default" && credentials.section == nullptr && config.section == nullptr) {
        throw value_error(std::string{naming} + " names a profile that is not there: " + made.described() +
                          ".  Name one that is, or add it (aws configure --profile " + made.name_ + ").");
    }
    return made;
}

SMDEBUG_INLINE std::optional<access_keys> profile::keys() const {
    for (const place& file : places_) {
        const profile_property* id = find_below(file.section, "aws_access_key_id");
        if (id == nullptr || id->value.empty()) {
            continue;
        }
        const auto value = [&](const char* property) {
            return value_of(find_below(file.section, property)).value_or("");
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
    const profile_property* services = find_below(places_[1].section, "services");
    if (services == nullptr || services->value.empty()) {
        return std::nullopt;
    }
    const profile_property* named = find_below(&places_[1].file, "services " + services->value);
    if (named == nullptr) {
        throw value_error(services->where + ": there is no section [services " + services->value +
                              "], which the profile \"" + name_ + "\" names.",
                          {.where = services->where});
    }
    return value_of(find_below(find_below(named, "s3"), "endpoint_url"));
}

SMDEBUG_INLINE std::string profile::described() const {
    std::string made = "profile \"" + name_ + "\"";
    const char* between = " in ";
    for (const place& file : places_) {
        if (file.path.empty()) {
            continue;
        }
        made.append(between).append(file.path);
        made += !file.there ? " (no such file)" : file.section != nullptr ? " (no keys there)" : " (no such profile)";
        between = " and ";
    }
    return places_[0].path.empty() && places_[1].path.empty() ? made + " (HOME is not set: there are no files)" : made;
}

SMDEBUG_INLINE keys_answer keys_of_environment(const environment_reader& environment) {
    auto id = variable(environment, "AWS_ACCESS_KEY_ID");
    if (!id) {
        return {keys_outcome::nothing_there, {}, "the environment (AWS_ACCESS_KEY_ID is not set)"};
    }
    access_keys found{.id = *std::move(id),
                      .secret = variable(environment, "AWS_SECRET_ACCESS_KEY").value_or(""),
                      .token = variable(environment, "AWS_SESSION_TOKEN").value_or("")};
    check_keys(found, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN");
    return {keys_outcome::found, std::move(found), "the environment"};
}

SMDEBUG_INLINE keys_answer keys_of_profile(const environment_reader& environment) {
    const profile chosen = profile::read(environment);
    const auto refuse = [&](const std::string& where, const std::string& what) {
        throw unsupported(where + " gets its keys by way of " + what +
                              ", which this library does not do.  Let the AWS CLI get them, and hand them over in the "
                              "environment: eval \"$(aws configure export-credentials --profile " +
                              chosen.name() + " --format env)\"",
                          {.where = where});
    };
    const auto refuse_property = [&](const profile_property& found) {
        refuse("Profile \"" + chosen.name() + "\" (" + found.where + ")", found.name);
    };
    // Keys beside a role are for assuming the role, not for use with S3.
    const profile_property* role = chosen.find("role_arn");
    if (role != nullptr) {
        refuse_property(*role);
    }
    if (auto found = chosen.keys()) {
        return {keys_outcome::found, std::move(found), "profile \"" + chosen.name() + "\""};
    }
    for (const char* other : std::array{"credential_process", "sso_session", "sso_start_url", "sso_account_id",
                                        "login_session", "web_identity_token_file"}) {
        if (const profile_property* found = chosen.find(other)) {
            refuse_property(*found);
        }
    }
    for (const char* half : std::array{"source_profile", "credential_source"}) {
        if (const profile_property* found = chosen.find(half)) {
            throw value_error(
                "Profile \"" + chosen.name() + "\" (" + found->where + ") has " + half +
                    ", but no role_arn to use it for, and no keys.  Set AWS_PROFILE to a profile that has "
                    "keys, or add aws_access_key_id and aws_secret_access_key.",
                {.where = found->where});
        }
    }
    if (variable(environment, "AWS_WEB_IDENTITY_TOKEN_FILE") && variable(environment, "AWS_ROLE_ARN")) {
        refuse("The environment", "AWS_WEB_IDENTITY_TOKEN_FILE");
    }
    return {keys_outcome::nothing_there, {}, chosen.described()};
}

SMDEBUG_INLINE aws_settings read_aws_settings(const environment_reader& environment) {
    const profile chosen = profile::read(environment);
    const auto first = [&](auto... names) {
        std::optional<std::string> found;
        static_cast<void>(((found = variable(environment, names)).has_value() || ...));
        return found;
    };
    aws_settings made{.region = first("AWS_REGION", "AWS_DEFAULT_REGION"), .ca_bundle = first("AWS_CA_BUNDLE")};
    if (!made.region) {
        made.region = chosen.value("region");
    }
    if (!made.ca_bundle) {
        made.ca_bundle = chosen.value("ca_bundle");
    }
    if (made.ca_bundle) {
        made.ca_bundle = from_home(environment, *made.ca_bundle);
    }

    const auto ignored = variable(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if (smdebug::detail::in_small_letters(
            ignored ? *ignored : chosen.value("ignore_configured_endpoint_urls").value_or("")) == "true") {
        return made;
    }
    made.endpoint = first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    if (!made.endpoint) {
        made.endpoint = chosen.s3_endpoint();
    }
    if (!made.endpoint) {
        made.endpoint = chosen.value("endpoint_url");
    }
    return made;
}

}  // namespace smdebug::inline v1::s3::detail
