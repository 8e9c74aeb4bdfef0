// Settings of curl_transport, and what it has done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace smdebug::inline v1 {

/// How requests are carried.
/// Proxies: those of the environment (http_proxy, https_proxy, all_proxy, no_proxy), but none for this machine itself
/// or for 169.254.*, where clouds serve their metadata.
struct curl_options {
    std::size_t most_in_flight = 32;    ///< further requests wait their turn
    std::size_t most_connections = 16;  ///< to one server
    std::string ca_file = {};           ///< trusted certificates, PEM; libcurl's default if empty
    bool verify_tls = true;             ///< without it anyone on the path can read and change everything
    bool http2 = true;                  ///< over TLS, if the server offers it: many requests share a connection
};

namespace http {

/// What a transport has done so far in this process.
struct curl_counters {
    std::uint64_t requests = 0;        ///< started, whatever their outcome
    std::uint64_t connections = 0;     ///< opened
    std::uint64_t bytes_received = 0;  ///< of bodies
    std::uint64_t http2_answers = 0;
};

}  // namespace http
}  // namespace smdebug::inline v1
