#include <smdebug/storage/open_storage.hpp>

#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("path_openers: a component is registered once an object of its header is made, and stays registered") {
    detail::path_openers& known = detail::known_openers();
    const detail::format_openers* const before = known.formats;
    static constexpr detail::format_openers own{
        [](std::string_view path, const storage_options&) { return any_storage{memory_storage{std::string{path}}}; }};
    { const detail::known_component made{own}; }
    REQUIRE(known.formats == &own);
    CHECK((*known.formats).open_run("here", storage_options{}).name() == "memory:here");
    known.formats = before;
}
