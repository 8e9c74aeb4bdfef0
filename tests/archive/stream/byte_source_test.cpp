#include <smdebug/archive/stream/byte_source.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::archive::detail;

namespace {

class letters final : public byte_source {
public:
    [[nodiscard]] byte_buffer read(byte_range where) const override {
        return byte_buffer::take(std::string{"abcdefghij"}).slice(where);
    }
    [[nodiscard]] std::uint64_t size() const override { return 10; }
    [[nodiscard]] std::string name() const override { return "letters"; }
};

}  // namespace

TEST_CASE("part_source: a part of another source, and nothing around it") {
    const part_source part{std::make_shared<letters>(), {2, 4}};
    CHECK(part.size() == 4);
    CHECK(part.name() == "letters");
    CHECK(as_text(part.read({0, UINT64_MAX}).view()) == "cdef");
    CHECK(as_text(part.read({3, 2}).view()) == "f");
    CHECK(part.read({4, 1}).empty());
    CHECK(part.read({UINT64_MAX, 1}).empty());
}

TEST_CASE("byte_source: many parts, one after the other, where a source has no better way") {
    std::string all;
    letters{}.read_many(std::array{byte_range{0, 2}, byte_range{9, 2}}, [&](std::size_t i, const byte_buffer& part) {
        all += std::to_string(i) + std::string{as_text(part.view())};
    });
    CHECK(all == "0ab1j");
    CHECK_FALSE(letters{}.batches_ranges());
}
