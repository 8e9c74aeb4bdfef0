// A server with faults: fault_proxy.py before a real one, started and controlled by a test.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <s3_servers/plain_http.hpp>
#include <support/child_process.hpp>

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
    explicit fault_proxy(const std::string& endpoint)
        : child_([&] { return become_proxy(endpoint); }), port_(first_line_of_child()) {}
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;
    ~fault_proxy() { child_.kill(); }

    [[nodiscard]] std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

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
    // Prepared before the fork: the child inherits them.
    struct channel {
        std::array<int, 2> ends{};
        channel() {
            if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
                throw std::runtime_error("no pipe");
            }
        }
        channel(const channel&) = delete;
        channel& operator=(const channel&) = delete;
        ~channel() {
            ::close(ends[0]);
            ::close(ends[1]);
        }
    };

    // In the child.
    [[nodiscard]] int become_proxy(const std::string& endpoint) const {
        ::alarm(0);  // it ends when its stdin closes
        ::dup2(input_.ends[0], STDIN_FILENO);
        ::dup2(output_.ends[1], STDOUT_FILENO);
        ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
        const char* const given = std::getenv("SMDEBUG_PYTHON");
        const char* const python = given != nullptr ? given : "python3";
        const std::string program = std::string{SMDEBUG_TEST_DATA} + "/../s3_servers/fault_proxy.py";
        ::execlp(python, python, program.c_str(), endpoint.c_str(), static_cast<char*>(nullptr));
        return 98;
    }

    [[nodiscard]] std::uint16_t first_line_of_child() {
        ::close(std::exchange(output_.ends[1], -1));  // otherwise the child's end would go unnoticed
        std::string line;
        for (char c = 0; ::read(output_.ends[0], &c, 1) == 1 && c != '\n';) {
            line += c;
        }
        std::uint16_t port = 0;
        std::from_chars(line.data(), line.data() + line.size(), port);
        if (port == 0) {
            throw std::runtime_error("fault_proxy.py does not start, status " + std::to_string(child_.wait()));
        }
        return port;
    }

    [[nodiscard]] std::string control(std::string_view method, std::string_view path,
                                      std::string_view body = {}) const {
        const plain_answer said = ask_plainly(port_, method, path, {}, body);
        if (said.status != 200) {
            throw std::runtime_error("the proxy refuses: " + said.body);
        }
        return said.body;
    }

    channel input_;
    channel output_;
    child_process child_;
    std::uint16_t port_ = 0;
};

}  // namespace smdebug_test
