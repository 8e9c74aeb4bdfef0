#include <smdebug/s3/object/multipart_upload.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

const std::string xmlns = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
const std::string begun = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><InitiateMultipartUploadResult" + xmlns +
                          "><Bucket>odd</Bucket><Key>multi part+&amp;</Key><UploadId>2~a7fo&amp;ujQ4.-_</UploadId>"
                          "</InitiateMultipartUploadResult>";
const std::string ended =
    "<?xml version='1.0' encoding='UTF-8'?>\n<CompleteMultipartUploadResult" + xmlns +
    "><Location>http://127.0.0.1:8080/odd/multi%20part%2B%26</Location><Bucket>odd</Bucket><Key>multi part+&amp;</Key>"
    "<ETag>\"af5da9f45af7a300e3aded972f8ff687-1\"</ETag></CompleteMultipartUploadResult>";
const std::string failed =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InternalError</Code><Message>We encountered an internal "
    "error. Please try again.</Message><RequestId>656c76696e6727732072657175657374</RequestId></Error>";

std::optional<std::string> upload_id(std::string_view text) { return s3::detail::parse_upload_id(as_bytes(text)); }
std::optional<std::string> completed(std::string_view text) {
    return s3::detail::parse_completed_upload(as_bytes(text));
}

}  // namespace

TEST_CASE("upload_answer: the id of an upload, from a whole answer only") {
    CHECK(upload_id(begun) == "2~a7fo&ujQ4.-_");
    for (std::size_t length = 0; length < begun.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(upload_id(begun.substr(0, length)).has_value());
    }
    CHECK_FALSE(upload_id(failed).has_value());
    CHECK_FALSE(upload_id(ended).has_value());
    CHECK_FALSE(upload_id("<html><UploadId>x</UploadId></html>").has_value());
    CHECK_FALSE(upload_id("<InitiateMultipartUploadResult/>").has_value());
    CHECK_FALSE(
        upload_id("<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>").has_value());
}

TEST_CASE("upload_answer: an upload has ended when a whole answer says so, whatever the status was") {
    CHECK(completed(ended) == "af5da9f45af7a300e3aded972f8ff687-1");
    for (std::size_t length = 0; length < ended.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(completed(ended.substr(0, length)).has_value());
    }
    CHECK_FALSE(completed(failed).has_value());
    CHECK_FALSE(completed(begun).has_value());
    CHECK_FALSE(completed("<html><body>200 OK</body></html>").has_value());
    // Ceph's ETag is empty.
    CHECK(completed("<CompleteMultipartUploadResult" + xmlns +
                    "><Location>localhost/odd/x</Location><ETag></ETag></CompleteMultipartUploadResult>") == "");
    CHECK(completed("<CompleteMultipartUploadResult/>") == "");
    // White space is sent to keep the connection open, before or after the declaration.
    const std::size_t declared = ended.find('\n');
    CHECK(completed("   \r\n" + ended).has_value());
    CHECK(completed(ended.substr(0, declared) + "\n     \n  " + ended.substr(declared)).has_value());
    CHECK_FALSE(completed("     ").has_value());
    CHECK_FALSE(completed(ended.substr(0, declared) + "      ").has_value());
    CHECK_FALSE(completed(ended.substr(0, declared) + "  " + failed.substr(failed.find('\n'))).has_value());
}

TEST_CASE("upload_answer: the list of parts, escaped") {
    CHECK(s3::detail::parts_document({}) == "<CompleteMultipartUpload" + xmlns + "></CompleteMultipartUpload>");
    const std::vector<s3::detail::uploaded_part> parts{{1, "\"900150983cd24fb0\""}, {10000, "<&>'"}};
    const std::string document = s3::detail::parts_document(parts);
    CHECK(document == "<CompleteMultipartUpload" + xmlns +
                          "><Part><PartNumber>1</PartNumber><ETag>&quot;900150983cd24fb0&quot;</ETag></Part>"
                          "<Part><PartNumber>10000</PartNumber><ETag>&lt;&amp;&gt;'</ETag></Part>"
                          "</CompleteMultipartUpload>");
    // As a server reads it.
    s3::detail::xml_document parser;
    const auto root = parser.parse(as_bytes(document));
    REQUIRE(root.has_value());
    std::vector<std::string> etags;
    root->for_each_child([&](s3::detail::xml_element part) {
        etags.emplace_back(part.text_of("ETag").value_or(""));
        return true;
    });
    CHECK(etags == std::vector<std::string>{parts[0].etag, parts[1].etag});
}

TEST_CASE("upload_answer: a page of unfinished uploads") {
    const auto page_of = [](std::string_view text) { return s3::detail::parse_upload_page(as_bytes(text)); };
    const auto page = page_of(
        "<?xml version=\"1.0\"?><ListMultipartUploadsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        "<Bucket>b</Bucket><EncodingType>url</EncodingType><NextKeyMarker>a+b%2Fc</NextKeyMarker>"
        "<NextUploadIdMarker>2~x</NextUploadIdMarker><IsTruncated>true</IsTruncated>"
        "<Upload><Key>a+b%2Fc</Key><UploadId>2~x</UploadId><Initiated>2020-01-01T00:00:00.000Z</Initiated></Upload>"
        "</ListMultipartUploadsResult>");
    REQUIRE(page.has_value());
    CHECK(page->truncated);
    CHECK(page->key_marker == "a b/c");
    CHECK(page->upload_id_marker == "2~x");
    CHECK(page->uploads == std::vector<s3::detail::upload_page::upload>{{"a b/c", "2~x"}});
    CHECK(page_of("<ListMultipartUploadsResult/>")->uploads.empty());
    for (const char* text : {"", "<ListBucketResult/>", "<ListMultipartUploadsResult>",
                             "<ListMultipartUploadsResult><Upload><Key>a</Key></Upload></ListMultipartUploadsResult>",
                             "<ListMultipartUploadsResult><Upload><UploadId>a</UploadId></Upload>"
                             "</ListMultipartUploadsResult>"}) {
        CAPTURE(std::string{text});
        CHECK_FALSE(page_of(text).has_value());
    }
}
