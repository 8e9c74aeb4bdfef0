#include <smdebug/s3/object/listing.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

/// Parses a copy in a heap block of exactly that size: a sanitizer then sees every read beyond it.
std::optional<s3::detail::list_page> parse(std::string_view text) {
    const std::vector<char> exact(text.begin(), text.end());
    return s3::detail::parse_list_page(as_bytes(std::string_view{exact.data(), exact.size()}));
}

std::vector<std::string> keys_of(const std::optional<s3::detail::list_page>& page) {
    std::vector<std::string> keys;
    REQUIRE(page.has_value());
    for (const object_entry& entry : page->entries) {
        keys.push_back(entry.key);
    }
    return keys;
}

const std::string md5 = "9dd4e461268c8034f5c8564e155c67a6";

std::string contents(const std::string& key, const std::string& size = "1",
                     const std::string& etag = "\"" + md5 + "\"") {
    return "<Contents><Key>" + key + "</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>" + etag +
           "</ETag><Size>" + size + "</Size><StorageClass>STANDARD</StorageClass></Contents>";
}

std::string page_of(const std::string& inner, const std::string& truncated = "false") {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name><Prefix></Prefix><IsTruncated>" +
           truncated + "</IsTruncated>" + inner + "</ListBucketResult>";
}

const std::string url = "<EncodingType>url</EncodingType>";

// Real answers of servers.  AWS writes a space as '+', the others as "%20".
const std::string of_aws =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<Name>bucket</Name><Prefix>run+books/</Prefix><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/"
    "wm36Hy4vbOwM=="
    "</NextContinuationToken><KeyCount>3</KeyCount><MaxKeys>3</MaxKeys><EncodingType>url</EncodingType>"
    "<IsTruncated>true</IsTruncated>"
    "<Contents><Key>a+b.txt</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;" +
    md5 +
    "&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>0</"
    "Size>"
    "<Owner><ID>x</ID></Owner><StorageClass>STANDARD</StorageClass></Contents>"
    "<Contents><Key>a%2Bb.txt</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;" +
    md5 +
    "-12&quot;</ETag><Size>5368709120</Size><StorageClass>STANDARD</StorageClass></Contents>"
    "<Contents><Key>%ED%95%9C%EA%B8%80/100%25.csv</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
    "<ETag>&quot;x&quot;</ETag><Size>18446744073709551615</Size></Contents>"
    "<CommonPrefixes><Prefix>run+books/</Prefix></CommonPrefixes></ListBucketResult>";
const std::string of_ceph =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<EncodingType>url</EncodingType><Name>odd</Name><Prefix></Prefix><MaxKeys>2</MaxKeys><Delimiter>/</Delimiter>"
    "<IsTruncated>true</IsTruncated><Contents><Key>%2541</Key><LastModified>2026-11-21T22:42:08.954Z</LastModified>"
    "<ETag>&quot;" +
    md5 +
    "&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass><Type>Normal</Type></Contents><Contents>"
    "<Key>a%2F%2Fb+%20c%2B$</Key><LastModified>2026-11-21T22:42:08.951Z</LastModified><ETag>&quot;" +
    md5 +
    "&quot;</ETag><Size>2</Size><StorageClass>STANDARD</StorageClass><Type>Normal</Type></Contents>"
    "<NextContinuationToken>50% &amp;+%41</NextContinuationToken><KeyCount>2</KeyCount></ListBucketResult>";
const std::string of_swift =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>odd</Name><Prefix/>"
    "<NextContinuationToken>YSti</NextContinuationToken><KeyCount>2</KeyCount><MaxKeys>2</MaxKeys>"
    "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><Contents><Key>star%2Aparen%281%29%21~</Key>"
    "<LastModified>2026-11-21T22:42:10.000Z</LastModified><ETag>\"" +
    md5 +
    "\"</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents><Contents><Key>a//b%20%0A</Key>"
    "<LastModified>2026-11-21T22:42:10.000Z</LastModified><ETag>\"" +
    md5 + "\"</ETag><Size>2</Size><StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>";

// Checked: each has one.
std::vector<object_entry> without_times(std::vector<object_entry> entries) {
    for (object_entry& one : entries) {
        CHECK(one.written.starts_with("2026-"));
        one.written.clear();
    }
    return entries;
}

}  // namespace

TEST_CASE("list_page: a page of AWS") {
    const auto page = parse(of_aws);
    REQUIRE(page.has_value());
    CHECK(page->truncated);
    CHECK(page->continuation == "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM==");
    CHECK(without_times(page->entries) ==
          std::vector<object_entry>{{"a b.txt", 0, md5},
                                    {"a+b.txt", 5368709120, md5 + "-12"},
                                    {"\xED\x95\x9C\xEA\xB8\x80/100%.csv", 18446744073709551615U, "x"}});
}

TEST_CASE("list_page: a page of Ceph, whose continuation is a key as it is") {
    const auto page = parse(of_ceph);
    REQUIRE(page.has_value());
    CHECK(page->truncated);
    CHECK(page->continuation == "50% &+%41");
    CHECK(without_times(page->entries) == std::vector<object_entry>{{"%41", 1, md5}, {"a//b  c+$", 2, md5}});
}

TEST_CASE("list_page: a page of Swift") {
    const auto page = parse(of_swift);
    REQUIRE(page.has_value());
    CHECK(page->truncated);
    CHECK(page->continuation == "YSti");
    CHECK(without_times(page->entries) == std::vector<object_entry>{{"star*paren(1)!~", 1, md5}, {"a//b \n", 2, md5}});
}

TEST_CASE("list_page: without an encoding, keys are as they stand") {
    const auto page = parse(page_of(contents("a+b%20c%zz") + contents("x&amp;y&lt;&#x01;") + contents(" ")));
    CHECK(keys_of(page) == std::vector<std::string>{"a+b%20c%zz", "x&y<\x01", " "});
    CHECK(keys_of(parse(page_of("<EncodingType/>" + contents("a+b")))) == std::vector<std::string>{"a+b"});
    // The encoding may be given before or after the keys.
    CHECK(keys_of(parse(page_of(url + contents("a%2Bb")))) == std::vector<std::string>{"a+b"});
    CHECK(keys_of(parse(page_of(contents("a%2Bb") + url))) == std::vector<std::string>{"a+b"});
}

TEST_CASE("list_page: nothing found, and the end of what was found") {
    const auto page = parse(page_of("<KeyCount>0</KeyCount>"));
    REQUIRE(page.has_value());
    CHECK(page->entries.empty());
    CHECK_FALSE(page->truncated);
    CHECK(page->continuation.empty());
    // Prefixes are not keys.
    CHECK(keys_of(parse(page_of("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"))).empty());
}

TEST_CASE("list_page: more without a continuation is good where there is a last key") {
    const auto page = parse(page_of(contents("a"), "true"));
    REQUIRE(page.has_value());
    CHECK(page->truncated);
    CHECK(page->continuation.empty());
    CHECK_FALSE(parse(page_of("", "true")).has_value());
    CHECK(parse(page_of("<NextContinuationToken>x</NextContinuationToken>", "true")).has_value());
}

TEST_CASE("list_page: versions are ETags without quotes, the time where there is none") {
    const auto page = parse(page_of(
        contents("a", "1", "bare") + contents("b", "1", "\"") + contents("c", "1", "W/\"x\"") + contents("d", "1", "") +
        contents("e", "1", "\"\"") + "<Contents><Key>f</Key><ETag>f</ETag><Size>1</Size></Contents>"));
    REQUIRE(page.has_value());
    std::vector<std::string> versions;
    for (const object_entry& entry : page->entries) {
        versions.push_back(entry.version);
    }
    CHECK(versions == std::vector<std::string>{"bare", "\"", "W/\"x\"", "2026-01-02T03:04:05.678Z",
                                               "2026-01-02T03:04:05.678Z", "f"});
    static_assert(s3::detail::unquoted("\"a\"") == "a" && s3::detail::unquoted("a").size() == 1 &&
                  s3::detail::unquoted("").empty());
}

TEST_CASE("list_page: every prefix of a page is refused") {
    for (const std::string& whole : {of_aws, of_ceph, of_swift}) {
        REQUIRE(parse(whole).has_value());
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CAPTURE(length);
            CHECK_FALSE(parse(whole.substr(0, length)).has_value());
        }
    }
}

TEST_CASE("list_page: an entry that does not make sense spoils the page") {
    REQUIRE(parse(page_of(contents("a"))).has_value());
    for (const std::string& bad : {
             contents(""),
             contents("a", ""),
             contents("a", "-1"),
             contents("a", "1x"),
             contents("a", " 1"),
             contents("a", "0x1"),
             contents("a", "1e3"),
             contents("a", "18446744073709551616"),
             contents("a<b/>"),
             contents("a", "1<b/>"),
             std::string{"<Contents/>"},
             std::string{"<Contents><Key>a</Key><ETag>x</ETag></Contents>"},
             std::string{"<Contents><Size>1</Size><ETag>x</ETag></Contents>"},
             std::string{"<Contents><Key>a</Key><Size>1</Size></Contents>"},
             url + contents("a%"),
             url + contents("%G1"),
             url + contents("%4"),
         }) {
        CAPTURE(bad);
        CHECK_FALSE(parse(page_of(bad)).has_value());
        CHECK_FALSE(parse(page_of(contents("good") + bad + contents("good"))).has_value());
    }
}

TEST_CASE("list_page: what is no page is refused") {
    for (const std::string_view bad :
         {"<html><head><title>Sign in</title></head><body>Welcome</body></html>",
          "<!DOCTYPE html><html><body><p>unclosed</body></html>", "{\"keys\": []}", "OK",
          "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>",
          "<ListAllMyBucketsResult><IsTruncated>false</IsTruncated></ListAllMyBucketsResult>", "<ListBucketResult/>",
          "<ListBucketResult><IsTruncated></IsTruncated></ListBucketResult>",
          "<ListBucketResult><IsTruncated>maybe</IsTruncated></ListBucketResult>",
          "<ListBucketResult><Inner><IsTruncated>false</IsTruncated></Inner></ListBucketResult>"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse(bad).has_value());
    }
}

TEST_CASE("list_page: a full page") {
    std::string inner = url;
    for (int number = 1000; number < 2000; ++number) {
        inner += contents("runs%2Fexp/" + std::to_string(number) + "_worker%2B0.tfevents", std::to_string(number));
    }
    const auto page = parse(page_of(inner));
    REQUIRE(page.has_value());
    REQUIRE(page->entries.size() == 1000);
    CHECK(without_times(page->entries).back() == object_entry{"runs/exp/1999_worker+0.tfevents", 1999, md5});
}
