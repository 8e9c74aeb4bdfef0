// The bodies of <smdebug/http/curl_transfer.hpp>.
#pragma once

#include <smdebug/http/curl_transfer.hpp>

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <utility>

namespace smdebug::inline v1::http::detail {

SMDEBUG_INLINE std::optional<url_parts> origin_of(std::string_view url) noexcept {
    const url_parts parts = parts_of(url);
    const bool has_blanks = std::any_of(
        url.begin(), url.end(), [](char letter) { return static_cast<unsigned char>(letter) <= ' ' || letter == 127; });
    const bool is_cut = parts.host.starts_with('[') && parts.host.find(']') == std::string_view::npos;
    const bool is_web = parts.scheme == "http" || parts.scheme == "https";
    const bool is_bad = has_blanks || !parts.user.empty() || parts.host.empty() || is_cut;
    return is_web && !is_bad ? std::optional{parts} : std::nullopt;
}

SMDEBUG_INLINE outcome outcome_of(CURLcode why, bool connected) noexcept {
    const auto is_one_of = [&](std::initializer_list<CURLcode> codes) {
        return std::find(codes.begin(), codes.end(), why) != codes.end();
    };
    // A time-out is one of connecting: libcurl has no other time limit set.  CURLE_SSL_CONNECT_ERROR includes a
    // connection cut in the handshake.
    if (is_one_of({CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
                   CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR, CURLE_PROXY})) {
        return outcome::unreachable;
    }
    const bool is_refused = is_one_of(
        {CURLE_URL_MALFORMAT, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT,
         CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
         CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_INVALIDCERTSTATUS,
         CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH});
    // CURLE_UNSUPPORTED_PROTOCOL when connected: the answer was no HTTP or cut.
    return is_refused || (why == CURLE_UNSUPPORTED_PROTOCOL && !connected) ? outcome::refused : outcome::interrupted;
}

SMDEBUG_INLINE bool curl_easy::set_headers(std::span<const http::header> headers) {
    std::unique_ptr<::curl_slist, list_cleaner> lines;
    const auto add = [&](const std::string& line) {
        ::curl_slist* longer = ::curl_slist_append(lines.get(), line.c_str());
        if (longer != nullptr) {
            static_cast<void>(lines.release());
            lines.reset(longer);
        }
        return longer != nullptr;
    };
    bool all = add("Expect:");  // sends a body without waiting for 100 Continue
    for (const http::header& header : headers) {
        // libcurl drops an empty header unless it ends in a semicolon.
        const std::string line = header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
        all = all && line.find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos && add(line);
    }
    set(CURLOPT_HTTPHEADER, lines.get());
    lines_ = std::move(lines);
    return all;
}

SMDEBUG_INLINE curl_transfer::clock::time_point curl_transfer::in_time_until() const noexcept {
    if (!has_speed()) {
        return clock::time_point::min();
    }
    const double seconds = static_cast<double>(bytes_received()) / static_cast<double>(now_.ask->least_speed);
    const double most = std::chrono::duration<double>{longest}.count();
    return now_.body_at +
           std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>{std::min(seconds, most)});
}

SMDEBUG_INLINE std::size_t curl_transfer::take_line(char* text, std::size_t, std::size_t size, void* self) noexcept {
    try {
        of(self).now_.moved = true;
        of(self).now_.answer.take_line({text, size});
        return size;
    } catch (const std::exception&) {
        of(self).now_.no_memory = true;
        return 0;
    }
}

SMDEBUG_INLINE std::size_t curl_transfer::take_body(char* bytes, std::size_t, std::size_t size, void* self) noexcept {
    state& now = of(self).now_;
    now.moved = true;
    try {
        const auto said = of(self).easy_.asked<curl_off_t>(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
        const auto length = said < 0 ? std::nullopt : std::optional{static_cast<std::uint64_t>(said)};
        std::byte* const room = now.answer.room_for(size, length);
        now.too_long = room == nullptr;
        return now.too_long
                   ? 0
                   : static_cast<std::size_t>(std::copy_n(reinterpret_cast<std::byte*>(bytes), size, room) - room);
    } catch (const std::exception&) {
        now.no_memory = true;
        return 0;
    }
}

SMDEBUG_INLINE std::size_t curl_transfer::give_body(char* to, std::size_t, std::size_t room, void* self) noexcept {
    state& now = of(self).now_;
    const byte_view left = now.ask->body.subspan(now.sent);
    const std::size_t count = std::min(room, left.size());
    std::copy_n(left.begin(), count, reinterpret_cast<std::byte*>(to));
    now.sent += count;
    return count;
}

SMDEBUG_INLINE int curl_transfer::seek_body(void* self, curl_off_t offset, int origin) noexcept {
    state& now = of(self).now_;
    if (origin != SEEK_SET || offset < 0 || static_cast<std::uint64_t>(offset) > now.ask->body.size()) {
        return CURL_SEEKFUNC_FAIL;
    }
    now.sent = static_cast<std::size_t>(offset);
    return CURL_SEEKFUNC_OK;
}

SMDEBUG_INLINE int curl_transfer::watch(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded) noexcept {
    state& now = of(self).now_;
    now.moved = std::exchange(now.uploaded, uploaded) != uploaded || now.moved;
    return 0;
}

SMDEBUG_INLINE int curl_transfer::connection_is_there(void* self, char*, char*, int, int) noexcept {
    state& now = of(self).now_;
    const bool may_again = now.ask->method == http::method::get || now.ask->method == http::method::head;
    now.moved = true;
    now.died = std::exchange(now.connected, true);
    return now.died && !may_again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

SMDEBUG_INLINE void curl_transfer::set_once() {
    const std::string agent = "smdebug-cpp/" + std::to_string(SMDEBUG_VERSION_MAJOR) + "." +
                              std::to_string(SMDEBUG_VERSION_MINOR) + "." + std::to_string(SMDEBUG_VERSION_PATCH);
    easy_.set(CURLOPT_USERAGENT, agent.c_str());
    easy_.set(CURLOPT_PROTOCOLS_STR, "http,https");
    easy_.set(CURLOPT_NOSIGNAL, 1L);
    easy_.set(CURLOPT_QUICK_EXIT, 1L);  // otherwise giving up a request waits for a name server that does not answer
    easy_.set(CURLOPT_PATH_AS_IS, 1L);
    easy_.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    easy_.set(CURLOPT_TCP_NODELAY, 1L);
    easy_.set(CURLOPT_TCP_KEEPALIVE, 1L);
    easy_.set(CURLOPT_BUFFERSIZE, buffer_bytes);
    easy_.set(CURLOPT_UPLOAD_BUFFERSIZE, buffer_bytes);
    easy_.set(CURLOPT_HEADERFUNCTION, &take_line);
    easy_.set(CURLOPT_HEADERDATA, this);
    easy_.set(CURLOPT_WRITEFUNCTION, &take_body);
    easy_.set(CURLOPT_WRITEDATA, this);
    easy_.set(CURLOPT_READFUNCTION, &give_body);
    easy_.set(CURLOPT_READDATA, this);
    easy_.set(CURLOPT_SEEKFUNCTION, &seek_body);
    easy_.set(CURLOPT_SEEKDATA, this);
    easy_.set(CURLOPT_PREREQFUNCTION, &connection_is_there);
    easy_.set(CURLOPT_PREREQDATA, this);
    easy_.set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    easy_.set(CURLOPT_XFERINFOFUNCTION, &watch);
    easy_.set(CURLOPT_XFERINFODATA, this);
    easy_.set(CURLOPT_NOPROGRESS, 0L);
    if (!options_.ca_file.empty()) {
        easy_.set(CURLOPT_CAINFO, options_.ca_file.c_str());
    }
    if (!options_.verify_tls) {
        easy_.set(CURLOPT_SSL_VERIFYPEER, 0L);
        easy_.set(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    // Bypasses set(): a libcurl without HTTP/2 refuses this and continues with HTTP/1.1.
    const long version = options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    static_cast<void>(::curl_easy_setopt(handle(), CURLOPT_HTTP_VERSION, version));
}

SMDEBUG_INLINE std::optional<http::response> curl_transfer::begin(const http::request& ask) {
    now_ = {.ask = &ask, .answer = response_builder{ask.most}};
    easy_.forget_words();
    const auto refused = [](std::string why) { return not_answered(outcome::refused, std::move(why)); };
    const auto where = origin_of(ask.url);
    if (!where) {
        return refused("The URL has to begin with http:// or https:// and a host, without a user's name or blanks.");
    }
    if (!easy_.set_headers(ask.headers)) {
        return refused("A header cannot be sent: it has a line break in it, or there is no memory.");
    }
    set_method(ask);
    easy_.set(CURLOPT_URL, ask.url.c_str());
    // Null takes the environment's proxy, an empty text none.
    easy_.set(CURLOPT_PROXY, is_near(where->host) ? "" : static_cast<const char*>(nullptr));
    // Over HTTP/2, waiting for a connection in progress is quicker than opening one for each request.
    easy_.set(CURLOPT_PIPEWAIT, where->scheme == "https" && options_.http2 ? 1L : 0L);
    const auto within = std::clamp(ask.connect_within, std::chrono::milliseconds{1}, longest);
    easy_.set(CURLOPT_CONNECTTIMEOUT_MS, long{within.count()});
    return easy_.trouble() == CURLE_OK ? std::nullopt : std::optional{refused(easy_.to_message(easy_.trouble()))};
}

SMDEBUG_INLINE void curl_transfer::set_method(const http::request& ask) {
    easy_.set(CURLOPT_HTTPGET, 1L);  // resets the previous request's method
    easy_.set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
    if (ask.method == http::method::head) {
        easy_.set(CURLOPT_NOBODY, 1L);
    } else if (ask.method == http::method::remove) {
        easy_.set(CURLOPT_CUSTOMREQUEST, "DELETE");
    } else if (ask.method != http::method::get) {
        easy_.set(CURLOPT_UPLOAD, 1L);
        easy_.set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(ask.body.size()));
        if (ask.method == http::method::post) {
            easy_.set(CURLOPT_CUSTOMREQUEST, "POST");  // CURLOPT_POST would add a content-type
        }
    }
}

SMDEBUG_INLINE std::optional<http::response> curl_transfer::overdue(clock::time_point now) {
    if (std::exchange(now_.moved, false)) {
        now_.moved_at = now;
    }
    if (now_.ask->least_speed > 0 && now_.body_at == clock::time_point{} && bytes_received() > 0) {
        now_.body_at = now_.window_at = now;
    }
    if (std::max(now_.ask->deadline, in_time_until()) <= now) {
        return not_answered(outcome::timed_out, "The deadline has passed.");
    }
    if (now_.connected && now_.moved_at + patience() <= now) {
        return not_answered(outcome::stalled,
                            "No byte came or went for " + std::to_string(patience().count()) + " ms.");
    }
    if (is_slow(now)) {
        return not_answered(outcome::stalled, "The body came with less than " + std::to_string(now_.ask->least_speed) +
                                                  " bytes a second for " + std::to_string(patience().count()) + " ms.");
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool curl_transfer::is_slow(clock::time_point now) {
    if (!has_speed() || now < now_.window_at + patience()) {
        return false;
    }
    const double seconds = std::chrono::duration<double>{now - now_.window_at}.count();
    const std::uint64_t came = bytes_received() - now_.window_begin;
    now_.window_at = now;
    now_.window_begin = bytes_received();
    return static_cast<double>(came) < static_cast<double>(now_.ask->least_speed) * seconds;
}

SMDEBUG_INLINE http::response curl_transfer::finish(CURLcode how) {
    const long status = easy_.asked<long>(CURLINFO_RESPONSE_CODE);
    if (how == CURLE_OK && status < 200) {
        how = CURLE_GOT_NOTHING;
    } else if (how == CURLE_OK && !now_.answer.whole()) {
        how = CURLE_PARTIAL_FILE;
    }
    state was = std::exchange(now_, {});
    reusable_ = how == CURLE_OK && !was.died;
    if (was.too_long) {
        return not_answered(outcome::too_long, "The answer's body is longer than the limit of " +
                                                   std::to_string(was.ask->most) + " bytes.");
    }
    if (was.no_memory) {
        return not_answered(outcome::interrupted, "Not enough memory for the answer.");
    }
    if ((was.died && how == CURLE_ABORTED_BY_CALLBACK) || how == CURLE_SEND_FAIL_REWIND) {
        return not_answered(outcome::interrupted, "The connection was closed before any answer arrived.");
    }
    if (how != CURLE_OK) {
        return not_answered(outcome_of(how, was.connected), easy_.to_message(how));
    }
    was.answer.made.status = static_cast<int>(status);
    return std::move(was.answer.made);
}

}  // namespace smdebug::inline v1::http::detail
