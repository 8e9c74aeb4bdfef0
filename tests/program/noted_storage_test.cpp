#include <program/noted_storage.hpp>

#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("noted_storage: reads as the inner one does, and opens files with their notes") {
    const temporary_folder folder;
    local_storage inner{folder.path()};
    inner.write("a/1", as_bytes(std::string{"first"}));
    inner.write("a/2", as_bytes(std::string{"second"}));
    auto notes = std::make_shared<cli::detail::file_notes>();
    notes->emplace("a/1", std::make_shared<smdebug::detail::passed_records>());
    notes->emplace("a/3", std::make_shared<smdebug::detail::passed_records>());
    const cli::detail::noted_storage store{any_storage{inner}, notes};
    static_assert(storage<cli::detail::noted_storage>);
    CHECK(as_text(store.read("a/2").view()) == "second");
    CHECK(as_text(store.read("a/2", {1, 3}).view()) == "eco");
    CHECK(store.size("a/1") == 5);
    CHECK_FALSE(store.size("a/3"));
    CHECK(store.list("a/", "").size() == 2);
    CHECK(store.name() == inner.name());
    const auto first = store.open("a/1");
    REQUIRE(first != nullptr);
    CHECK(first->notes() == notes->at("a/1").get());
    std::array<std::byte, 3> some{};
    CHECK(first->read_at(2, some) == 3);
    CHECK(as_text(some) == "rst");
    CHECK(first->size() == 5);
    CHECK(store.open("a/2")->notes() == nullptr);
    CHECK(store.open("a/3") == nullptr);
    // What looks for notes looks only where opening pays, and does not where ranges are read together.
    CHECK(abilities_of(any_storage{store}).opens_small);
    CHECK_FALSE(abilities_of(any_storage{store}).batches_ranges);
}

TEST_CASE("noted_storage: where files cannot be opened it only reads") {
    memory_storage inner;
    inner.write("a", as_bytes(std::string{"first"}));
    auto notes = std::make_shared<cli::detail::file_notes>();
    notes->emplace("a", std::make_shared<smdebug::detail::passed_records>());
    CHECK(cli::detail::noted_storage{any_storage{std::move(inner)}, notes}.open("a") == nullptr);
}
