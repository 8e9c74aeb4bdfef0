// Listing a bucket, page by page: the answers of ListObjectsV2.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::s3::detail {

struct list_page {
    std::vector<object_entry> entries = {};  ///< in the server's order
    bool truncated = false;                  ///< more pages follow
    /// The token for the next page, not encoded.  If it is empty although more pages follow, there are entries:
    /// continue with start-after set to the last one's key.
    std::string continuation = {};
};

/// Decodes a key in a page.  AWS writes a space as '+', others as "%20"; all write a plus as "%2B".
[[nodiscard]] std::optional<std::string> listed_key(std::string_view text, bool encoded);

/// The page; nothing if the bytes are not a complete and consistent answer to ListObjectsV2.
/// Versions are ETags without quotes; without an ETag, the time of the last change.
/// Cost: about 0.4 ms for 1000 entries.
[[nodiscard]] std::optional<list_page> parse_list_page(byte_view body);

/// The objects whose keys start with `prefix`, in byte order, strictly after `after` (empty: from the start); at most
/// `most`.  `prefix`, `after` and the keys are relative to the client's location.
/// Servers list in byte order; one that does not is listed as well, as long as its pages bring new keys.
/// Cost:   one request for 1,000 keys.
/// Errors: those of fail(); unavailable for a server whose pages do not advance; timed_out, see
///         s3_options::list_deadline.
[[nodiscard]] std::vector<object_entry> list_objects(const client& asked, std::string_view prefix,
                                                     std::string_view after, std::size_t most);

inline std::optional<std::string> listed_key(std::string_view text, bool encoded) {
    if (!encoded || (text.find('%') == std::string_view::npos && text.find('+') == std::string_view::npos)) {
        return std::string{text};
    }
    std::string spaced{text};
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decoded(spaced);
}

inline std::optional<object_entry> listed_entry(xml_element contents, bool encoded) {
    const auto field = [&](const char* name) { return contents.text_of(name).value_or(""); };
    std::optional<std::string> plain = listed_key(field("Key"), encoded);
    std::string_view size = field("Size");
    const std::string_view modified = field("LastModified");
    // Some servers have objects without an ETag.
    const std::string_view etag = unquoted(field("ETag"));
    const std::string_view version = etag.empty() ? modified : etag;
    const std::optional<std::uint64_t> bytes = take_number(size);
    if (!plain || plain->empty() || version.empty() || !bytes || !size.empty()) {
        return std::nullopt;
    }
    return object_entry{
        .key = *std::move(plain), .size = *bytes, .version = std::string{version}, .written = std::string{modified}};
}

inline std::optional<list_page> parse_list_page(byte_view body) {
    xml_document document;
    const std::optional<xml_element> root = document.parse(body, "ListBucketResult");
    const std::string_view truncated = root ? root->text_of("IsTruncated").value_or("") : "";
    if (truncated != "true" && truncated != "false") {
        return std::nullopt;
    }
    list_page page;
    page.truncated = truncated == "true";
    page.continuation = root->text_of("NextContinuationToken").value_or("");
    const bool encoded = root->text_of("EncodingType") == "url";
    const bool good = root->for_each_child([&](xml_element child) {
        if (child.name() != "Contents") {
            return true;
        }
        std::optional<object_entry> entry = listed_entry(child, encoded);
        if (entry) {
            page.entries.push_back(*std::move(entry));
        }
        return entry.has_value();
    });
    const bool goes_on = !page.truncated || !page.continuation.empty() || !page.entries.empty();
    return good && goes_on ? std::optional{std::move(page)} : std::nullopt;
}

/// In byte order, each key once.
inline void sort_and_unite(std::vector<object_entry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
        entries.end());
}

/// Ensures that a listing makes progress: a faulty or hostile server could send pages for ever.
class listing_progress {
public:
    using clock = http::request::clock;

    explicit listing_progress(const client& asked) : asked_(asked) {
        latest_ = clock::now() + std::min(asked.options().list_deadline, smdebug::detail::longest_wait);
    }

    [[nodiscard]] clock::time_point latest() const noexcept { return latest_; }

    /// To call before each request.  Errors: timed_out.
    void check_time() const {
        if (clock::now() >= latest_) {
            const std::string where = asked_.where().text();
            throw unavailable(error_code::timed_out,
                              "listing " + where + " did not end within " +
                                  std::to_string(asked_.options().list_deadline.count()) + " ms, in which the server " +
                                  asked_.server() + " has given " + std::to_string(pages_) +
                                  " pages; see s3_options::list_deadline, or list a longer prefix",
                              {.where = where});
        }
    }

    /// Takes a page with that greatest key, if any.  When keys have not ascended for long, sorts `entries` and removes
    /// duplicates.  Errors: unavailable if that left no new keys either.
    void take(std::string_view greatest, std::vector<object_entry>& entries) {
        // Some servers send pages without a new key where objects were removed.
        constexpr unsigned most_idle_pages = 100;
        ++pages_;
        if (greatest > greatest_) {
            greatest_ = greatest;
            idle_pages_ = 0;
        } else if (++idle_pages_ % most_idle_pages == 0) {
            sort_and_unite(entries);
            if (std::exchange(last_count_, entries.size()) >= entries.size()) {
                fail("has given " + std::to_string(most_idle_pages) + " pages without a new key");
            }
        }
    }

    [[noreturn]] void fail(const std::string& why) const {
        const std::string where = asked_.where().text();
        throw unavailable(
            "listing " + where + " failed: the server " + asked_.server() + " " + why + ". Try again later",
            {.where = where});
    }

private:
    const client& asked_;
    clock::time_point latest_;
    std::string greatest_;
    std::size_t pages_ = 0;
    std::size_t idle_pages_ = 0;
    std::size_t last_count_ = 0;
};

inline std::vector<object_entry> list_objects(const client& asked, std::string_view prefix, std::string_view after,
                                              std::size_t most) {
    constexpr std::size_t most_on_page = 1000;
    const std::string& root = asked.where().prefix;
    const std::string begin = after.empty() ? std::string{} : std::string{root}.append(after);
    std::vector<object_entry> entries;
    std::string continuation;
    std::string last = begin;  // start of the next page for servers without continuation tokens
    listing_progress progress{asked};
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
                continue;  // the server started at the wrong key
            }
            goes_ahead = goes_ahead || entry.key > last;
            last = std::max(last, entry.key);
            // An object may represent the folder itself.
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
    // Amazon's directory buckets list in another order.
    sort_and_unite(entries);
    entries.resize(std::min(entries.size(), most));
    return entries;
}

}  // namespace smdebug::inline v1::s3::detail
