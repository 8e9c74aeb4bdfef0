#include <smdebug/s3/object/failure.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using headers = std::vector<http::header>;

namespace {

constexpr std::string_view digits = "123456789";

// Checksums of "123456789", computed by other tools.
const headers right{{"x-amz-checksum-crc64nvme", "rosUhgp5mIg="},
                    {"x-amz-checksum-crc32c", "4waSgw=="},
                    {"x-amz-checksum-crc32", "y/Q5Jg=="},
                    {"x-amz-checksum-sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="},
                    {"x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE="},
                    {"etag", "\"25f9e794323b453885f5181f1b624d0b\""}};

/// A whole object with status 200 or 206.
http::response whole(headers says, std::string body = std::string{digits}, int status = 206) {
    const std::string size = std::to_string(body.size());
    if (status == 206) {
        says.push_back({"content-range", "bytes 0-" + std::to_string(body.size() - 1) + "/" + size});
    }
    return answer(status, std::move(says), std::move(body));
}

}  // namespace

TEST_CASE("object_checksum: each one that a server may send is that of the bytes, and of no others") {
    for (const int status : {200, 206}) {
        for (const http::header& one : right) {
            CAPTURE(one.name);
            CHECK(s3::detail::disagreeing_checksum(whole({one}, "123456789", status), true).empty());
            CHECK(s3::detail::disagreeing_checksum(whole({one}, "123456780", status), true) == one.name);
        }
    }
    // Longer than the step of the CRC, with every remainder.
    for (std::size_t size = 1; size < 30; ++size) {
        CAPTURE(size);
        const std::string text(size, 'x');
        std::uint32_t slow = ~0U;
        for (const char one : text) {
            slow ^= static_cast<unsigned char>(one);
            for (int bit = 0; bit < 8; ++bit) {
                slow = (slow >> 1U) ^ ((slow & 1U) != 0 ? 0x82F63B78U : 0U);
            }
        }
        CHECK(s3::detail::crc_of<std::uint32_t, 0x82F63B78U>(as_bytes(text)) == ~slow);
    }
}

TEST_CASE("object_checksum: a checksum that the server sends counts before the ETag") {
    const http::header etag_of_others{"etag", "\"00000000000000000000000000000000\""};
    CHECK(s3::detail::disagreeing_checksum(whole({right[1], etag_of_others}), true).empty());
    CHECK(s3::detail::disagreeing_checksum(whole({right[1], right.back()}, "123456780"), false) ==
          "x-amz-checksum-crc32c");
    CHECK(s3::detail::disagreeing_checksum(whole({etag_of_others}), true) == "etag");
    CHECK(s3::detail::disagreeing_checksum(whole({etag_of_others}), false).empty());
}

TEST_CASE("object_checksum: what is no MD5 of the bytes is not taken for one") {
    const std::string md5 = "\"00000000000000000000000000000000\"";
    for (const headers& says : std::vector<headers>{
             {},
             {{"etag", ""}},
             {{"etag", "\"00000000000000000000000000000000-3\""}},
             {{"etag", "W/" + md5}},
             {{"etag", "\"0000000000000000000000000000000g\""}},
             {{"etag", md5}, {"x-amz-server-side-encryption", "aws:kms"}},
             {{"etag", md5}, {"x-amz-server-side-encryption", "aws:kms:dsse"}},
             {{"etag", md5}, {"x-amz-server-side-encryption-customer-algorithm", "AES256"}},
             // Checksums of the parts' checksums, and invalid headers.
             {{"x-amz-checksum-crc32c", "AAAAAA==-2"}},
             {{"x-amz-checksum-crc32c", "AAAAAA=="}, {"x-amz-checksum-type", "COMPOSITE"}},
             {{"x-amz-checksum-sha256", "AAAAAA=="}},
         }) {
        CAPTURE(says.size());
        CHECK(s3::detail::disagreeing_checksum(whole(says), true).empty());
    }
    // The default encryption changes nothing.
    CHECK(s3::detail::disagreeing_checksum(whole({{"etag", md5}, {"x-amz-server-side-encryption", "AES256"}}), true) ==
          "etag");
}

TEST_CASE("object_checksum: a part of an object has none, whatever the headers say") {
    for (const char* range : {"bytes 0-8/10", "bytes 1-9/10", "bytes 0-9/10", "nonsense", ""}) {
        headers says{right.back(), right[1], {"content-range", range}};
        CHECK(s3::detail::disagreeing_checksum(answer(206, says, "123456780"), true).empty());
    }
    CHECK(s3::detail::disagreeing_checksum(answer(416, right, "123456780"), true).empty());
}
