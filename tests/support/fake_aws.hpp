// Keys that are none, an environment that is a map, and the metadata service of an instance, for a fake_s3.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include "support/fake_s3.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

inline constexpr const char* fake_id = "FAKEACCESSKEY0000001";
inline constexpr const char* fake_secret = "fakesecretkey/for+tests+only=0000000001";
inline constexpr const char* fake_token = "fakesessiontoken/for+tests+only==";
inline constexpr const char* fake_bearer = "fakebearer-for-tests-only";

/// Whether a text holds any of them.
[[nodiscard]] inline bool tells_secrets(std::string_view text) {
    for (const std::string_view secret : {fake_id, fake_secret, fake_token, fake_bearer}) {
        if (text.find(secret) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

using variables = std::map<std::string, std::string>;

[[nodiscard]] inline smdebug::s3::detail::environment_reader environment_of(variables set) {
    return [set = std::move(set)](const char* name) -> std::optional<std::string> {
        const auto found = set.find(name);
        return found == set.end() ? std::nullopt : std::optional{found->second};
    };
}

/// As a metadata service hands keys out.
[[nodiscard]] inline std::string keys_json(const std::string& expiration, const std::string& id = fake_id) {
    return R"({"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": ")" + id + R"(", "SecretAccessKey": ")" +
           fake_secret + R"(", "Token": ")" + fake_token + R"(", "Expiration": ")" + expiration + "\"}";
}

/// The metadata service of an instance: what it answers to each of the three questions.
struct fake_instance {
    smdebug::http::response token = answer(200, {}, fake_bearer);
    smdebug::http::response roles = answer(200, {}, "trainer\n");
    smdebug::http::response keys = answer(200, {}, keys_json("2026-11-21T16:00:00Z"));

    [[nodiscard]] smdebug::http::response operator()(const smdebug::http::request& ask) const {
        const std::string_view path = std::string_view{ask.url}.substr(ask.url.find("/latest"));
        if (path == "/latest/api/token") {
            return ask.method == smdebug::http::method::put ? token : answer(405);
        }
        if (ask.headers != std::vector<smdebug::http::header>{{"x-aws-ec2-metadata-token", fake_bearer}}) {
            return answer(401);
        }
        if (path == "/latest/meta-data/iam/security-credentials/") {
            return roles;
        }
        return path == "/latest/meta-data/iam/security-credentials/trainer" ? keys : answer(404);
    }
};

}  // namespace smdebug_test
