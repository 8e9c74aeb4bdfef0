// A handle of libcurl as an object: what can be set, what can be asked, and its codes in the words of http/message.hpp.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>

#include <curl/curl.h>

#include <array>
#include <memory>
#include <span>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

static_assert(LIBCURL_VERSION_NUM >= 0x075700, "smdebug needs libcurl 7.87 or later");

/// What became of a request that was not answered.  `connected`: it was on its way.
[[nodiscard]] constexpr outcome outcome_of(CURLcode why, bool connected) noexcept {
    switch (why) {
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
        case CURLE_OPERATION_TIMEDOUT:  // while connecting: libcurl is given no other time limit
        case CURLE_SSL_CONNECT_ERROR:   // among others, cut in the handshake
        case CURLE_PROXY:
            return outcome::unreachable;
        case CURLE_UNSUPPORTED_PROTOCOL:
            return connected ? outcome::interrupted : outcome::refused;  // connected: what came is no HTTP, or cut
        case CURLE_URL_MALFORMAT:
        case CURLE_FAILED_INIT:
        case CURLE_NOT_BUILT_IN:
        case CURLE_UNKNOWN_OPTION:
        case CURLE_BAD_FUNCTION_ARGUMENT:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_CRL_BADFILE:
        case CURLE_SSL_ENGINE_NOTFOUND:
        case CURLE_SSL_ENGINE_SETFAILED:
        case CURLE_SSL_INVALIDCERTSTATUS:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return outcome::refused;
        default:
            return outcome::interrupted;
    }
}

/// Stays where it is: libcurl holds the address of its words.
class curl_easy {
public:
    curl_easy();
    curl_easy(const curl_easy&) = delete;
    curl_easy& operator=(const curl_easy&) = delete;
    ~curl_easy() = default;

    [[nodiscard]] CURL* get() const noexcept { return handle_.get(); }

    /// A setting; the value has the type that libcurl's manual gives: long, curl_off_t, a pointer.
    template <class Value>
    void set(CURLoption what, Value value) noexcept {
        if (const CURLcode done = ::curl_easy_setopt(get(), what, value); trouble_ == CURLE_OK) {
            trouble_ = done;
        }
    }
    /// The first setting that was not taken, if any.
    [[nodiscard]] CURLcode trouble() const noexcept { return trouble_; }

    /// The headers that go out.  False when one of them cannot: it has a line break in it, or there is no memory.
    [[nodiscard]] bool set_headers(std::span<const http::header> headers);

    /// Something that libcurl knows, of that type.
    template <class Value>
    [[nodiscard]] Value asked(CURLINFO what) const noexcept {
        Value value = 0;
        ::curl_easy_getinfo(get(), what, &value);
        return value;
    }

    void forget_words() noexcept { words_.front() = '\0'; }
    /// What a code means, and what libcurl said of this very case.
    [[nodiscard]] std::string words_of(CURLcode why) const;

private:
    struct handle_cleaner {
        void operator()(CURL* handle) const noexcept { ::curl_easy_cleanup(handle); }
    };
    struct list_cleaner {
        void operator()(::curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
    };

    std::array<char, CURL_ERROR_SIZE> words_{};
    std::unique_ptr<::curl_slist, list_cleaner> lines_;
    std::unique_ptr<CURL, handle_cleaner> handle_;
    CURLcode trouble_ = CURLE_OK;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_easy.ipp>
#endif
