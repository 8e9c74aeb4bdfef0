// The S3 server that ctest provides to a test: its address, its keys, and fresh buckets.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/options.hpp>

#include "support/standard.hpp"

#include <s3_servers/plain_http.hpp>

namespace smdebug_test {

/// The settings in s3.env, written by start_s3.sh into the folder that SMDEBUG_S3_RGW or SMDEBUG_S3_SWIFT names.
class s3_server {
public:
    s3_server() {
        for (const char* const variable : {"SMDEBUG_S3_RGW", "SMDEBUG_S3_SWIFT"}) {
            if (const char* const folder = std::getenv(variable)) {
                read(std::string{folder} + "/s3.env");
                return;
            }
        }
        throw std::runtime_error(
            "this test needs an S3 server: run it by ctest, or as tests/s3_servers/with_server.sh FOLDER PROGRAM");
    }

    [[nodiscard]] bool is_rgw() const { return value("S3_SERVER") == "rgw"; }
    [[nodiscard]] bool is_swift() const { return value("S3_SERVER") == "swift"; }
    [[nodiscard]] const std::string& endpoint() const { return value("S3_ENDPOINT"); }
    [[nodiscard]] const std::string& region() const { return value("AWS_DEFAULT_REGION"); }
    [[nodiscard]] smdebug::s3::access_keys keys() const {
        return {.id = value("AWS_ACCESS_KEY_ID"), .secret = value("AWS_SECRET_ACCESS_KEY")};
    }
    /// Temporary ones, with a session token; only rgw hands them out.
    [[nodiscard]] std::optional<smdebug::s3::access_keys> temporary_keys() const {
        if (!held_.contains("S3_TEMP_SESSION_TOKEN")) {
            return std::nullopt;
        }
        return smdebug::s3::access_keys{.id = value("S3_TEMP_ACCESS_KEY_ID"),
                                        .secret = value("S3_TEMP_SECRET_ACCESS_KEY"),
                                        .token = value("S3_TEMP_SESSION_TOKEN")};
    }
    /// The options for access to the server.
    [[nodiscard]] smdebug::s3_options options() const {
        smdebug::s3_options made;
        made.region = region();
        made.endpoint = endpoint();
        made.keys = keys();
        return made;
    }

    /// A signed request; `target`: path and query in the encoding required by signatures.
    [[nodiscard]] plain_answer ask(smdebug::http::method method, std::string_view target,
                                   std::string_view body = {}) const {
        return ask_at(endpoint(), method, target, body);
    }
    /// The same through a proxy of this server.
    [[nodiscard]] plain_answer ask_at(const std::string& where, smdebug::http::method method, std::string_view target,
                                      std::string_view body = {}) const {
        smdebug::http::request asked;
        asked.method = method;
        asked.url = where + std::string{target};
        const auto hash = smdebug::s3::detail::to_hex(smdebug::s3::detail::sha256(smdebug::as_bytes(body)));
        smdebug::s3::detail::signer{}.sign(asked, hash, keys(), {.region = region()}, std::chrono::system_clock::now());
        std::string headers;
        for (const auto& [name, held] : asked.headers) {
            headers.append(name).append(": ").append(held).append("\r\n");
        }
        return ask_plainly(port_of(where), name_of(method), target, headers, body);
    }

    /// Makes a bucket with a unique name; returns the name.
    [[nodiscard]] std::string fresh_bucket() const {
        std::random_device random;
        const std::string name = "test-" + std::to_string(random()) + "-" + std::to_string(random());
        const plain_answer made = ask(smdebug::http::method::put, "/" + name);
        if (made.status != 200) {
            throw std::runtime_error("no bucket could be made: " + made.head + made.body);
        }
        return name;
    }

private:
    void read(const std::string& path) {
        std::ifstream file{path};
        for (std::string line; std::getline(file, line);) {
            const std::size_t equals = line.find('=');
            if (equals == std::string::npos) {
                continue;
            }
            std::string held = line.substr(equals + 1);
            if (held.size() > 1 && held.front() == '\'' && held.back() == '\'') {
                held = held.substr(1, held.size() - 2);
            }
            held_.insert_or_assign(line.substr(0, equals), held);
        }
        if (held_.empty()) {
            throw std::runtime_error("no server runs: cannot read " + path);
        }
    }
    [[nodiscard]] const std::string& value(const std::string& name) const {
        const auto found = held_.find(name);
        if (found == held_.end()) {
            throw std::runtime_error("s3.env has no " + name);
        }
        return found->second;
    }

    std::map<std::string, std::string> held_;
};

}  // namespace smdebug_test
