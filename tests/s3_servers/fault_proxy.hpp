// A server with faults: fault_proxy.py before a real one, started and controlled by a test.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>

#include <s3_servers/plain_http.hpp>
#include <support/http_server.hpp>
#include "support/standard.hpp"

namespace smdebug_test {

class fault_proxy {
public:
    struct seen_request {
        std::string method = {};
        std::string target = {};     ///< path and query, as received
        std::string range = {};      ///< the header's value; empty: no header
        std::string fault = {};      ///< the kind of the fault that hit it; empty: none
        std::size_t connection = 0;  ///< a number
    };
    struct counts {
        std::size_t connections = 0;  ///< that carried requests
        std::size_t fired = 0;        ///< faults
        std::vector<seen_request> requests = {};
    };

    /// In front of the server at `endpoint` ("http://127.0.0.1:port").  Ends with this object, or with this process.
    explicit fault_proxy(const std::string& endpoint) : program_("s3_servers/fault_proxy.py", {endpoint}) {}

    [[nodiscard]] std::string endpoint() const { return program_.url(""); }

    /// A fault as fault_proxy.py describes it, or a list of them: {"kind": "slow_down", "times": 2}.  They add up.
    void arm(std::string_view fault) const { static_cast<void>(control("PUT", "/__fault__", fault)); }
    /// Clears faults and counters, and releases stalled requests.
    void reset() const { static_cast<void>(control("PUT", "/__reset__")); }

    /// The requests since the last reset.
    [[nodiscard]] counts count() const {
        const std::string said = control("GET", "/__count__");
        smdebug::detail::json::document document;
        const auto whole = document.parse(smdebug::as_bytes(said));
        if (!whole) {
            throw std::runtime_error("the proxy did not answer in JSON: " + said);
        }
        const auto number = [](smdebug::detail::json::value of, std::string_view name) {
            return static_cast<std::size_t>(of[name].value().unsigned_integer().value());
        };
        const auto text = [](smdebug::detail::json::value of, std::string_view name) {
            return std::string{of[name].value().string().value()};
        };
        counts found{.connections = number(*whole, "connections"), .fired = number(*whole, "fired")};
        (*whole)["requests"].value().for_each_element([&](smdebug::detail::json::value one) {
            found.requests.push_back({.method = text(one, "method"),
                                      .target = text(one, "target"),
                                      .range = text(one, "range"),
                                      .fault = text(one, "fault"),
                                      .connection = number(one, "connection")});
            return true;
        });
        return found;
    }

private:
    [[nodiscard]] std::string control(std::string_view method, std::string_view path,
                                      std::string_view body = {}) const {
        const plain_answer said = ask_plainly(port_of(endpoint()), method, path, {}, body);
        if (said.status != 200) {
            throw std::runtime_error("the proxy refuses: " + said.body);
        }
        return said.body;
    }

    python_server program_;
};

}  // namespace smdebug_test
