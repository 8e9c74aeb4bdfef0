#include <smdebug/trial/read/event_source.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

/// Notes the ranges that are read, and fails on command.
class noting_storage : public memory_storage {
public:
    std::shared_ptr<std::vector<byte_range>> ranges = std::make_shared<std::vector<byte_range>>();
    std::shared_ptr<bool> fails = std::make_shared<bool>(false);

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        ranges->push_back(where);
        if (*fails) {
            throw unavailable("gone", {.where = std::string{key}});
        }
        return memory_storage::read(key, where);
    }
};

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("whole_event_file: records are cut at the end, whatever an index file says") {
    const std::string text = "0123456789";
    whole_event_file file{as_bytes(text)};
    CHECK(as_text(file.at({2, 3})) == "234");
    CHECK(as_text(file.at({8, 5})) == "89");
    CHECK(file.at({10, 1}).empty());
    CHECK(file.at({most, most}).empty());
    CHECK(as_text(file.at({0, most})) == text);
}

TEST_CASE("piecewise_event_file: adjacent records come with one read, larger ones alone") {
    noting_storage store;
    store.write("key", as_bytes("0123456789abcdefghij"));
    const any_storage file_store{store};
    piecewise_event_file file{file_store, "key", 8};
    CHECK(as_text(file.at({0, 3})) == "012");
    CHECK(as_text(file.at({3, 5})) == "34567");
    CHECK(*store.ranges == std::vector<byte_range>{{0, 8}});
    CHECK(as_text(file.at({8, 1})) == "8");
    CHECK(as_text(file.at({9, 11})) == "9abcdefghij");
    CHECK(*store.ranges == std::vector<byte_range>{{0, 8}, {8, 8}, {9, 11}});
    CHECK(as_text(file.at({0, 1})) == "0");  // backwards, too
    CHECK(store.ranges->size() == 4);
}

TEST_CASE("piecewise_event_file: beyond the end there is nothing, which is known without another read") {
    noting_storage store;
    store.write("key", as_bytes("0123456789"));
    const any_storage file_store{store};
    piecewise_event_file file{file_store, "key", 8};
    CHECK(as_text(file.at({6, 100})) == "6789");
    CHECK(file.at({20, 5}).empty());
    CHECK(store.ranges->size() == 1);
    CHECK(file.at({most, most}).empty());
    CHECK(as_text(file.at({9, most})) == "9");
}

TEST_CASE("piecewise_event_file: a failed read leaves no bytes that could be mistaken for the file's") {
    noting_storage store;
    store.write("key", as_bytes("0123456789"));
    const any_storage file_store{store};
    piecewise_event_file file{file_store, "key", 4};
    CHECK(as_text(file.at({0, 4})) == "0123");
    *store.fails = true;
    CHECK_THROWS_AS(static_cast<void>(file.at({4, 4})), unavailable);
    CHECK_THROWS_AS(static_cast<void>(file.at({0, 4})), unavailable);
    *store.fails = false;
    CHECK(as_text(file.at({4, 4})) == "4567");
    const any_storage other_store{store};
    piecewise_event_file other{other_store, "not there", 4};
    CHECK_THROWS_AS(static_cast<void>(other.at({0, 1})), not_found);
}
