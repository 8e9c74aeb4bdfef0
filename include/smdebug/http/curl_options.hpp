// What can be set of a curl_transport, and what can be asked of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace smdebug {
inline namespace v1 {

/// How requests are carried.
/// Proxies: those of the environment (http_proxy, https_proxy, all_proxy, no_proxy), but none for this machine itself
/// or for 169.254.*, where clouds keep their metadata.
struct curl_options {
    std::size_t most_in_flight = 32;    ///< further requests wait their turn
    std::size_t most_connections = 16;  ///< to one server
    std::string ca_file = {};           ///< certificates that are trusted, PEM; empty: those that libcurl knows
    bool verify_tls = true;             ///< false: whoever sits in between can read and change everything
    bool http2 = true;                  ///< over TLS, where the server offers it: many requests on a connection
};

/// What a transport has done so far, in this process.
struct curl_counters {
    std::uint64_t requests = 0;        ///< whose turn it was, whatever came of them
    std::uint64_t connections = 0;     ///< that were opened
    std::uint64_t bytes_received = 0;  ///< of bodies
    std::uint64_t http2_answers = 0;
};

}  // namespace v1
}  // namespace smdebug
