#include <smdebug/reduce/any_kernel.hpp>

#include "support/archetypes.hpp"
#include "support/test.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>

using namespace smdebug;
using smdebug::detail::any_kernel;

static_assert(reduction_kernel<any_kernel> && watched_reducer<any_kernel> && repeating_reducer<any_kernel> &&
              smdebug::detail::fed_reducer<any_kernel> && smdebug::detail::in_place_reducer<any_kernel>);

namespace {

/// A block of a value, as a decoder leaves it whose last value repeats.
std::vector<float> block() { return std::vector<float>(repeated_block, 3); }

tensor_view view_of(const std::vector<float>& values) {
    return {.type = dtype::float32, .shape = {}, .bytes = as_bytes(std::span{values}), .strings = {}};
}

}  // namespace

TEST_CASE("any_kernel: answers what the kernel in it answers, to the last bit") {
    const any_kernel kernel{scalar_kernel{}};
    const std::vector<float> values{1, -2, 0.1F, 1e30F};
    const auto expected = scalar_kernel{}.reduce(view_of(values), reduction_set::all());
    const auto found = kernel.reduce(view_of(values), reduction_set::all());
    REQUIRE(found.ok());
    CHECK(found->value == expected->value);
    CHECK(found->zeros == expected->zeros);
    reduction_values in_place;
    CHECK(kernel.reduce_into(view_of(values), reduction_set::all(), nullptr, in_place) == status::ok);
    CHECK(in_place.value == expected->value);
    CHECK(in_place.computed == expected->computed);
    CHECK(kernel.name() == std::string{scalar_kernel{}.name()});
    CHECK(kernel.abilities().usual_bits);
}

TEST_CASE("any_kernel: abilities that a kernel lacks are emulated, or unsupported") {
    const any_kernel least{smdebug_test::kernel_archetype{0}};
    CHECK_FALSE(least.abilities().repeats);
    CHECK_FALSE(least.abilities().feeds);
    CHECK_FALSE(least.abilities().usual_bits);
    const std::vector<float> values = block();
    const auto repeated = least.reduce_repeated(view_of(values), 10, reduction::sum);
    REQUIRE(repeated.ok());
    CHECK((*repeated)(reduction::sum) == 3.0 * (repeated_block + 10));
    CHECK(repeated->count == repeated_block + 10);
    std::size_t seen = 0;
    const auto watch = [&](byte_view piece) { seen += piece.size(); };
    CHECK(least.reduce(view_of(values), reduction::sum, byte_watch{watch}).ok());
    CHECK(seen == 0);
    const byte_watch watching{watch};
    reduction_values in_place;
    for (const byte_watch* each : {&watching, static_cast<const byte_watch*>(nullptr)}) {
        in_place.count = 7;
        CHECK(least.reduce_into({.type = dtype::string, .shape = {}, .bytes = {}, .strings = {}}, reduction::sum, each,
                                in_place) == status::unsupported);
        CHECK(in_place.count == 7);
        CHECK(least.reduce_into(view_of(values), reduction::sum, each, in_place) == status::ok);
        CHECK(in_place(reduction::sum) == 3.0 * repeated_block);
    }
    const auto nothing = [](std::size_t, std::size_t) { return byte_view{}; };
    CHECK(least.reduce_fed({dtype::float32, 4, smdebug::detail::byte_feed{nothing}}, reduction::sum).code() ==
          status::unsupported);
}
