// The bodies of <smdebug/http/curl_easy.hpp>.
#pragma once

#include <smdebug/http/curl_easy.hpp>

#include <new>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

SMDEBUG_INLINE curl_easy::curl_easy() : handle_(::curl_easy_init()) {
    if (!handle_) {
        throw std::bad_alloc{};
    }
    set(CURLOPT_ERRORBUFFER, words_.data());
}

SMDEBUG_INLINE std::string curl_easy::words_of(CURLcode why) const {
    std::string said = ::curl_easy_strerror(why);
    return words_.front() == '\0' ? said : said + ": " + words_.data();
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
    bool all = add("Expect:");  // not to wait for leave to send a body
    for (const http::header& header : headers) {
        // Without a semicolon a header that is empty would be left out.
        const std::string line = header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
        all = all && line.find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos && add(line);
    }
    set(CURLOPT_HTTPHEADER, lines.get());
    lines_ = std::move(lines);
    return all;
}

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug
