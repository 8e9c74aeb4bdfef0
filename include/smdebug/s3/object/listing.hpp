// Listing a bucket, page by page.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/list_page.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Sees to it that a listing makes progress: a faulty or hostile server could send pages for ever.
class listing_progress {
public:
    using clock = http::request::clock;
    /// Pages in a row that may bring nothing new: some servers have empty ones where objects were removed.
    static constexpr unsigned most_idle_pages = 100;

    /// Errors of what it throws later name the place and the server.
    listing_progress(const location& where, std::string server, std::chrono::milliseconds within);

    [[nodiscard]] clock::time_point latest() const noexcept { return latest_; }

    /// Before each request.  Errors: timed_out.
    void check_time() const;

    /// A page, whose greatest key is that, or none.  What has been `found` so far is sorted, each key once, when the
    /// keys have not ascended for long.  Errors: unavailable where they have not become more either.
    void take(std::string_view greatest, std::vector<object_entry>& entries);

    [[noreturn]] void fail(const std::string& why) const;

    /// In byte order, each key once.
    static void tidy(std::vector<object_entry>& entries);

private:
    std::string where_;
    std::string server_;
    std::chrono::milliseconds within_;
    clock::time_point latest_;
    std::string greatest_;
    std::size_t pages_ = 0;
    std::size_t idle_pages_ = 0;
    std::size_t last_count_ = 0;
};

/// The objects whose keys start with `prefix`, in byte order, strictly after `after` (empty: from the start); at most
/// `most`.  Prefix, `after` and the keys are without that of the client's location.
/// Servers list in byte order; one that does not is listed, too, as long as its pages bring keys that are new.
/// Cost:   one request for 1,000 keys.
/// Errors: those of fail(); unavailable for a server whose pages do not go on; timed_out, see
///         s3_options::list_deadline.
template <class Client>
[[nodiscard]] std::vector<object_entry> list_objects(const Client& asked, std::string_view prefix,
                                                     std::string_view after, std::size_t most) {
    constexpr std::size_t most_on_page = 1000;
    const std::string& root = asked.where().prefix;
    const std::string begin = after.empty() ? std::string{} : std::string{root}.append(after);
    std::vector<object_entry> entries;
    std::string continuation;
    std::string last = begin;  // where a server without continuations goes on
    detail::listing_progress progress{asked.where(), asked.server(), asked.options().list_deadline};
    for (bool goes_on = most != 0; goes_on;) {
        progress.check_time();
        call page_call{.query = {{"list-type", "2"},
                                 {"encoding-type", "url"},
                                 {"prefix", std::string{root}.append(prefix)},
                                 {"max-keys", std::to_string(std::min(most_on_page, most - entries.size()))}},
                       .check = [](const http::response& answer,
                                   byte_range) { return parse_list_page(answer.body.view()).has_value(); },
                       .latest = progress.latest(),
                       .doing = "listing"};
        if (!continuation.empty()) {
            page_call.query.emplace_back("continuation-token", continuation);
        } else if (!last.empty()) {
            page_call.query.emplace_back("start-after", last);
        }
        const call_result ended = perform_call(asked, std::move(page_call));
        if (!ended.good) {
            progress.check_time();
            fail(asked.where(), asked.server(), ended);
        }
        list_page page = *parse_list_page(ended.answer.body.view());
        const std::string before = continuation.empty() ? last : begin;
        bool goes_ahead = false;
        std::string greatest;
        for (object_entry& entry : page.entries) {
            greatest = std::max(greatest, entry.key);
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
            entries.push_back(std::move(entry));
        }
        goes_on = page.truncated && entries.size() < most;
        if (goes_on && (page.continuation.empty() ? !goes_ahead : page.continuation == continuation)) {
            progress.fail("gives the same page again and again");
        }
        if (goes_on) {
            progress.take(greatest, entries);
        }
        continuation = std::move(page.continuation);
    }
    // Directory buckets of Amazon's list in an order of their own.
    detail::listing_progress::tidy(entries);
    entries.resize(std::min(entries.size(), most));
    return entries;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/listing.ipp>
#endif
