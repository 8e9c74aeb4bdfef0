#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("content_hash: returns the published values") {
    CHECK(content_hash(as_bytes("")) == 0xEF46DB3751D8E999U);
    CHECK(content_hash(as_bytes("a")) == 0xD24EC4F1A98C6E5BU);
    CHECK(content_hash(as_bytes("abc")) == 0x44BC2CF5AD770999U);
    CHECK(content_hash(as_bytes("Nobody inspects the spammish repetition")) == 0xFBCEA83C8A378BF1U);
}

TEST_CASE("content_hash: another bit, length or seed changes the value, at any alignment") {
    std::set<std::uint64_t> seen;
    std::size_t made = 0;
    for (std::size_t length = 0; length < 100; ++length) {
        const std::string zeros(length, '\0');
        seen.insert(content_hash(as_bytes(zeros)));
        seen.insert(content_hash(as_bytes(zeros), 1));
        made += 2;
        for (std::size_t i = 0; i < length; ++i) {
            std::string flipped = zeros;
            flipped[i] = '\1';
            seen.insert(content_hash(as_bytes(flipped)));
            ++made;
            const std::string moved = "x" + flipped;  // not aligned
            CHECK(content_hash(as_bytes(std::string_view{moved}.substr(1))) == content_hash(as_bytes(flipped)));
        }
    }
    CHECK(seen.size() == made);
}
