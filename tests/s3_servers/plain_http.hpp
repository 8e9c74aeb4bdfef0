// One request over a plain socket, without any code of the library.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/standard.hpp"

#include <charconv>

namespace smdebug_test {

struct plain_answer {
    int status = 0;
    std::string head = {};
    std::string body = {};  ///< as received: chunks are not joined
};

/// The port of "http://127.0.0.1:port".
[[nodiscard]] inline std::uint16_t port_of(std::string_view endpoint) {
    constexpr std::string_view start = "http://127.0.0.1:";
    std::uint16_t port = 0;
    if (!endpoint.starts_with(start) ||
        std::from_chars(endpoint.data() + start.size(), endpoint.data() + endpoint.size(), port).ec != std::errc{}) {
        throw std::invalid_argument("not an endpoint on this machine: " + std::string{endpoint});
    }
    return port;
}

/// Sends a request to a server on 127.0.0.1 with "Connection: close", and reads until the server closes.
/// `headers`: lines that end in "\r\n".
[[nodiscard]] inline plain_answer ask_plainly(std::uint16_t port, std::string_view method, std::string_view target,
                                              std::string_view headers = {}, std::string_view body = {}) {
    struct connection {
        int handle = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        connection() = default;
        connection(const connection&) = delete;
        connection& operator=(const connection&) = delete;
        ~connection() { ::close(handle); }
    } const to;
    const ::timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(to.handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(to.handle, reinterpret_cast<const ::sockaddr*>(&address), sizeof(address)) != 0) {
        throw std::runtime_error("no server listens on port " + std::to_string(port));
    }
    std::string out{method};
    out.append(" ").append(target).append(" HTTP/1.1\r\nhost: 127.0.0.1:").append(std::to_string(port));
    out.append("\r\nconnection: close\r\ncontent-length: ").append(std::to_string(body.size())).append("\r\n");
    out.append(headers).append("\r\n").append(body);
    for (std::string_view rest = out; !rest.empty();) {
        const ::ssize_t sent = ::send(to.handle, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            throw std::runtime_error("the connection was cut while the request was sent");
        }
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    plain_answer found;
    std::array<char, 65536> piece{};
    for (::ssize_t got = 0; (got = ::recv(to.handle, piece.data(), piece.size(), 0)) > 0;) {
        found.body.append(piece.data(), static_cast<std::size_t>(got));
    }
    const std::size_t end = found.body.find("\r\n\r\n");
    if (end == std::string::npos || !found.body.starts_with("HTTP/1.")) {
        throw std::runtime_error("no answer from port " + std::to_string(port));
    }
    found.head = found.body.substr(0, end + 2);
    found.body.erase(0, end + 4);
    std::from_chars(found.head.data() + 9, found.head.data() + 12, found.status);
    return found;
}

}  // namespace smdebug_test
