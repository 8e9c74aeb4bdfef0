#include <smdebug/s3/call/signature.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

std::string sha256_hex(std::string_view text) { return s3::detail::to_hex(s3::detail::sha256(as_bytes(text))); }
std::string hmac_hex(std::string_view key, std::string_view text) {
    return s3::detail::to_hex(s3::detail::sha256_hmac(as_bytes(key), as_bytes(text)));
}

}  // namespace

TEST_CASE("sha256: the examples of FIPS 180") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                     "mnopqrstnopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256_hmac: the test cases of RFC 4231, and an empty key") {
    std::string counting;
    for (char c = 1; c <= 25; ++c) {
        counting += c;
    }
    CHECK(hmac_hex(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hmac_hex("Jefe",
                   "what do ya want for "
                   "nothing?") == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(hmac_hex(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    CHECK(hmac_hex(counting, std::string(50, '\xcd')) ==
          "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    CHECK(hmac_hex(std::string(20, '\x0c'), "Test With Truncation").substr(0, 32) ==
          "a3b6167473100ee06e0c796c2955552b");
    CHECK(hmac_hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    CHECK(hmac_hex(std::string(131, '\xaa'),
                   "This is a test using a larger than block-size key and a larger than block-size data. The key needs "
                   "to be hashed before being used by the HMAC algorithm.") ==
          "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
    CHECK(s3::detail::to_hex(s3::detail::sha256_hmac({}, {})) ==
          "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST_CASE("to_hex: two small digits a byte") {
    CHECK(s3::detail::to_hex({}).empty());
    CHECK(s3::detail::to_hex(as_bytes(std::string_view{"\x00\x7f\x80\xff\xab", 5})) == "007f80ffab");
}

TEST_CASE("digest: others by their names, and none by a name that there is not") {
    const auto md5 = s3::detail::digest_by("MD5", as_bytes("abc"));
    REQUIRE(md5.has_value());
    CHECK(s3::detail::to_hex(*md5) == "900150983cd24fb0d6963f7d28e17f72");
    CHECK_FALSE(s3::detail::digest_by("no such", as_bytes("abc")).has_value());
}

TEST_CASE("digest: base64 of texts of every length modulo three") {
    CHECK(s3::detail::to_base64(as_bytes("")).empty());
    CHECK(s3::detail::to_base64(as_bytes("f")) == "Zg==");
    CHECK(s3::detail::to_base64(as_bytes("fo")) == "Zm8=");
    CHECK(s3::detail::to_base64(as_bytes("foo")) == "Zm9v");
    CHECK(s3::detail::to_base64(as_bytes("foobar")) == "Zm9vYmFy");
}
