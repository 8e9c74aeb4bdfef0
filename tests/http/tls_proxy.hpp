// HTTP/2 over TLS in front of an HTTP/1.1 server, by nghttpx, with a fresh certificate.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <support/http_server.hpp>
#include <support/temporary_folder.hpp>
#include "support/standard.hpp"

namespace smdebug_test {

/// A port on 127.0.0.1 that was free a moment ago.
[[nodiscard]] inline std::string free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof address;
    auto* const where = reinterpret_cast<::sockaddr*>(&address);
    const bool known = ::bind(probe, where, size) == 0 && ::getsockname(probe, where, &size) == 0;
    ::close(probe);
    return known ? std::to_string(::ntohs(address.sin_port)) : throw std::runtime_error("no port");
}

/// Makes <folder>/<name>.key and a self-signed .crt for 127.0.0.1.  False: no openssl.
[[nodiscard]] inline bool make_certificate(const temporary_folder& folder, const std::string& name) {
    const std::string path = folder.path() + "/" + name;
    started_program maker{{"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", path + ".key", "-out", path + ".crt"},
                          false};
    static_cast<void>(maker.read_line());
    return maker.finish() == 0;
}

/// Listens on 127.0.0.1 shortly after its start.
class tls_proxy {
public:
    tls_proxy(const http_server& behind, const std::string& key, const std::string& certificate)
        : port_(free_port()),
          program_({"nghttpx", "--conf=/dev/null", "--single-process", "--workers=1", "--no-ocsp",
                    "--frontend=127.0.0.1," + port_, "--backend=127.0.0.1," + behind.port(), key, certificate},
                   false) {}

    [[nodiscard]] std::string url(const std::string& path) const { return "https://127.0.0.1:" + port_ + path; }
    /// Whether it has ended; it does at once if nghttpx is not installed.
    [[nodiscard]] bool has_ended() const { return program_.has_ended(); }
    /// Ends it; returns its exit status.
    [[nodiscard]] int finish() { return program_.finish(); }

private:
    std::string port_;
    started_program program_;
};

}  // namespace smdebug_test
