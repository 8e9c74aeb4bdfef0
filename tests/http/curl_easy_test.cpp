#include <smdebug/http/curl_transfer.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("outcome_of: what may work another time, and what will not") {
    using enum http::outcome;
    for (const bool connected : {false, true}) {
        for (const CURLcode code : {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
                                    CURLE_SSL_CONNECT_ERROR, CURLE_PROXY}) {
            CHECK(http::detail::outcome_of(code, connected) == unreachable);
        }
        for (const CURLcode code : {CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
                                    CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR}) {
            CHECK(http::detail::outcome_of(code, connected) == interrupted);
        }
        for (const CURLcode code : {CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT}) {
            CHECK(http::detail::outcome_of(code, connected) == refused);
        }
    }
    CHECK(http::detail::outcome_of(CURLE_UNSUPPORTED_PROTOCOL, false) == refused);
    CHECK(http::detail::outcome_of(CURLE_UNSUPPORTED_PROTOCOL, true) == interrupted);
}

TEST_CASE("curl_easy: remembers the first setting that was not taken") {
    http::detail::curl_easy easy;
    easy.set(CURLOPT_NOSIGNAL, 1L);
    CHECK(easy.trouble() == CURLE_OK);
    easy.set(CURLOPT_BUFFERSIZE, -1L);
    easy.set(static_cast<CURLoption>(9999), 1L);
    CHECK(easy.trouble() != CURLE_OK);
    const CURLcode first = easy.trouble();
    easy.set(CURLOPT_NOSIGNAL, 1L);
    CHECK(easy.trouble() == first);
}

TEST_CASE("curl_easy: headers that would be two are not taken") {
    http::detail::curl_easy easy;
    CHECK(easy.set_headers({}));
    CHECK(easy.set_headers(std::vector<http::header>{{"x-a", "1"}, {"x-empty", ""}}));
    for (const std::string& bad : std::vector<std::string>{"a\r\nx-b: 2", "a\n", "\r", {"a\0b", 3}}) {
        CHECK_FALSE(easy.set_headers(std::vector<http::header>{{"x-a", bad}}));
        CHECK_FALSE(easy.set_headers(std::vector<http::header>{{"x-c", "1"}, {bad, "1"}}));
    }
    CHECK(easy.trouble() == CURLE_OK);
}

TEST_CASE("curl_easy: says what a code means, and what happened") {
    http::detail::curl_easy easy;
    const std::string meaning = ::curl_easy_strerror(CURLE_COULDNT_CONNECT);
    CHECK(easy.to_message(CURLE_COULDNT_CONNECT) == meaning);
    easy.set(CURLOPT_URL, "http://127.0.0.1:1/");
    easy.set(CURLOPT_PROXY, "");
    CHECK(::curl_easy_perform(easy.get()) == CURLE_COULDNT_CONNECT);
    CHECK(easy.to_message(CURLE_COULDNT_CONNECT).starts_with(meaning + ": "));
    CHECK(easy.to_message(CURLE_COULDNT_CONNECT).find("127.0.0.1") != std::string::npos);
    easy.forget_words();
    CHECK(easy.to_message(CURLE_COULDNT_CONNECT) == meaning);
    CHECK(easy.asked<long>(CURLINFO_RESPONSE_CODE) == 0);
}
