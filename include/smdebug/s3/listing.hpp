// Listing a bucket, page by page.
// Used by: s3/s3_storage.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/call_window.hpp>
#include <smdebug/s3/failure.hpp>
#include <smdebug/s3/list_page.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// The objects whose keys start with `prefix`, in byte order, strictly after `after` (empty: from the start); at most
/// `most`.  Prefix, `after` and the keys are without that of the client's location.
/// Cost:   one request for 1,000 keys.
/// Errors: those of fail(); unavailable for a server whose pages do not go on.
template <class Client>
[[nodiscard]] std::vector<object_entry> list_objects(const Client& asked, std::string_view prefix,
                                                     std::string_view after, std::size_t most) {
    constexpr std::size_t most_on_page = 1000;
    const std::string& root = asked.where().prefix;
    const std::string begin = after.empty() ? std::string{} : std::string{root}.append(after);
    std::vector<object_entry> found;
    std::string continuation;
    std::string last = begin;  // where a server without continuations goes on
    for (bool goes_on = most != 0; goes_on;) {
        call page_call{.query = {{"list-type", "2"},
                                 {"encoding-type", "url"},
                                 {"prefix", std::string{root}.append(prefix)},
                                 {"max-keys", std::to_string(std::min(most_on_page, most - found.size()))}},
                       .check = [](const http::response& answer,
                                   byte_range) { return parse_list_page(answer.body.view()).has_value(); },
                       .doing = "listing"};
        if (!continuation.empty()) {
            page_call.query.emplace_back("continuation-token", continuation);
        } else if (!last.empty()) {
            page_call.query.emplace_back("start-after", last);
        }
        const result ended = perform_call(asked, std::move(page_call));
        if (!ended.good) {
            fail(asked.where(), asked.server(), ended);
        }
        list_page page = *parse_list_page(ended.answer.body.view());
        const std::string before = continuation.empty() ? last : begin;
        bool goes_ahead = false;
        for (object_entry& entry : page.entries) {
            if (entry.key <= before) {
                continue;  // a server that starts at the wrong place
            }
            goes_ahead = goes_ahead || entry.key > last;
            last = std::max(last, entry.key);
            // An object may stand for the folder itself.
            if (!entry.key.starts_with(root) || entry.key.size() == root.size() ||
                !std::string_view{entry.key}.substr(root.size()).starts_with(prefix)) {
                continue;
            }
            entry.key.erase(0, root.size());
            found.push_back(std::move(entry));
        }
        goes_on = page.truncated && found.size() < most;
        if (goes_on && (page.continuation.empty() ? !goes_ahead : page.continuation == continuation)) {
            throw unavailable("listing " + asked.where().text() + " failed: the server " + asked.server() +
                                  " gives the same page again and again. Try again later",
                              {.where = asked.where().text()});
        }
        continuation = std::move(page.continuation);
    }
    // Directory buckets of Amazon's list in an order of their own.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    found.erase(std::unique(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
                found.end());
    found.resize(std::min(found.size(), most));
    return found;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
