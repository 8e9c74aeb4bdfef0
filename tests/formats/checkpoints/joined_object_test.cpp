#include <smdebug/formats/checkpoints/joined_object.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;

namespace {

/// "abcd", "-", "efghi".
[[nodiscard]] std::shared_ptr<const joined_object> some_joined(bool is_stored) {
    memory_storage members;
    members.write("a.npy", as_bytes(std::string_view{"abcd"}));
    members.write("b.npy", as_bytes(std::string_view{"-"}));
    members.write("/c//d.npy", as_bytes(std::string_view{"efghi"}));
    return std::make_shared<const joined_object>(joined_object{.files = any_storage{members},
                                                               .parts = {{.key = "a.npy", .begin = 0, .end = 4},
                                                                         {.key = "b.npy", .begin = 4, .end = 5},
                                                                         {.key = "/c//d.npy", .begin = 5, .end = 10}},
                                                               .is_stored = is_stored});
}

}  // namespace

TEST_CASE("joined_object: a range reaches over parts, and is cut at the end") {
    const auto npz = some_joined(true);
    CHECK(npz->size() == 10);
    CHECK(as_text(npz->read({.offset = 1, .length = 2}).view()) == "bc");
    CHECK(as_text(npz->read({.offset = 1, .length = 90}).view()) == "bcd-efghi");
    CHECK(as_text(npz->read({.offset = 6, .length = 4}).view()) == "fghi");
    CHECK(as_text(npz->read({.offset = 4, .length = 5}).view()) == "-efgh");
    CHECK(npz->read({.offset = 10, .length = 1}).empty());
    CHECK(npz->at(9)->key == "/c//d.npy");
    CHECK(npz->at(10) == nullptr);
}

TEST_CASE("open_joined: pieces may reach over the ends of members, whether these are compressed or not") {
    for (const bool is_stored : {false, true}) {
        const auto object = open_joined(some_joined(is_stored));
        CHECK(object->size() == 10);
        std::array<std::byte, 16> into{};
        CHECK(object->read_at(2, std::span{into}.first(2)) == 2);
        CHECK(as_text(byte_view{into}.first(2)) == "cd");
        CHECK(object->read_at(2, into) == 8);
        CHECK(as_text(byte_view{into}.first(8)) == "cd-efghi");
        CHECK(object->read_at(10, into) == 0);
    }
}

TEST_CASE("joined_storage: a .npz of the table is its members, and all else as it was") {
    memory_storage files{"files"};
    files.write("x.npz", as_bytes(std::string_view{"a zip"}));
    files.write("y.npz", as_bytes(std::string_view{"another zip"}));
    const auto table = std::make_shared<joined_table>();
    const joined_storage store{any_storage{files}, table};
    CHECK(as_text(store.read("x.npz").view()) == "a zip");
    table->insert("x.npz", some_joined(true));
    CHECK(store.size("x.npz") == 10);
    CHECK(as_text(store.read("x.npz", {.offset = 0, .length = 3}).view()) == "abc");
    CHECK(store.open("x.npz") != nullptr);
    CHECK(as_text(store.read("y.npz").view()) == "another zip");
    CHECK(store.size("y.npz") == 11);
    CHECK(store.list("", "").size() == 2);
    CHECK(store.name() == "memory:files");
    CHECK_THROWS_AS(static_cast<void>(store.read("z.npz")), not_found);
    CHECK(storage<joined_storage>);
}
