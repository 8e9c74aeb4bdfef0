#include <smdebug/s3/call/client.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("location: bucket and prefix of a URI; only slashes at the end do not count") {
    struct row {
        std::string_view uri;
        std::string_view bucket;
        std::string_view prefix;
        std::string_view text;
    };
    for (const auto& [uri, bucket, prefix, text] : {
             row{"s3://runs", "runs", "", "s3://runs"},
             {"s3://runs/", "runs", "", "s3://runs"},
             {"s3://runs///", "runs", "", "s3://runs"},
             {"s3://runs/a", "runs", "a/", "s3://runs/a"},
             {"s3://runs/a/", "runs", "a/", "s3://runs/a"},
             {"s3://runs/a//", "runs", "a/", "s3://runs/a"},
             {"s3://runs/a/b c", "runs", "a/b c/", "s3://runs/a/b c"},
             {"s3://runs//a", "runs", "/a/", "s3://runs//a"},
             {"s3://runs/a//b", "runs", "a//b/", "s3://runs/a//b"},
             {"s3://runs/../a", "runs", "../a/", "s3://runs/../a"},
             {"s3://runs/a%20b?c#d", "runs", "a%20b?c#d/", "s3://runs/a%20b?c#d"},
             {"s3://runs/h\xC3\xA4/s3://x", "runs", "h\xC3\xA4/s3://x/", "s3://runs/h\xC3\xA4/s3://x"},
             {"s3://My.Old_Bucket-1/a", "My.Old_Bucket-1", "a/", "s3://My.Old_Bucket-1/a"},
         }) {
        CAPTURE(uri);
        const s3::location found = s3::parse_location(uri);
        CHECK(found.bucket == bucket);
        CHECK(found.prefix == prefix);
        CHECK(found.text() == text);
        CHECK(s3::parse_location(found.text()) == found);
    }
}

TEST_CASE("location: what names no place is refused, with what it was") {
    for (const std::string_view uri : {"",
                                       "s3:",
                                       "s3:/",
                                       "s3://",
                                       "s3:///a",
                                       "S3://runs/a",
                                       "/runs/a",
                                       "runs/a",
                                       "http://runs/a",
                                       "s3:runs",
                                       "s3a://runs",
                                       " s3://runs",
                                       "s3://a b/c",
                                       "s3://a@b/c",
                                       "s3://a:80/c",
                                       "s3://user:secret@host/c",
                                       "s3://a?b/c",
                                       "s3://a#b",
                                       "s3://a%2Fb",
                                       "s3://h\xC3\xA4/a",
                                       "s3://.",
                                       "s3://..",
                                       "s3://../a",
                                       "s3://a\n/b"}) {
        CAPTURE(uri);
        const value_error thrown = smdebug_test::caught<value_error>([&] { return s3::parse_location(uri); });
        CHECK(std::string_view{thrown.what()}.find("s3://bucket/prefix") != std::string_view::npos);
        CHECK(thrown.where() == uri);
    }
}
