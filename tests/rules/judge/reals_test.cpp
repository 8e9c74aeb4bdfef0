#include <smdebug/rules/judge/reals.hpp>

#include "support/run_builder.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using doubles = std::vector<double>;

namespace {

/// A tensor as a trial reads it.
tensor_value read_back(written_tensor written) {
    memory_storage store;
    written.name = "t";
    run_builder{store}.collections().step({.step = 0, .tensors = {std::move(written)}}).end();
    return memory_trial{store}.tensor("t").value(0);
}

template <class T>
doubles reals(const std::vector<T>& values) {
    return rules::detail::reals_of(read_back(tensor_of<T>("t", values)));
}

}  // namespace

TEST_CASE("reals_of: every real type, whatever its width, as doubles in order") {
    CHECK(reals<float>({1.5F, -2}) == doubles{1.5, -2});
    CHECK(reals<double>({0.1, 1e300}) == doubles{0.1, 1e300});
    CHECK(reals<std::int8_t>({-128, 127}) == doubles{-128, 127});
    CHECK(reals<std::uint8_t>({0, 255}) == doubles{0, 255});
    CHECK(reals<std::int16_t>({-300}) == doubles{-300});
    CHECK(reals<std::uint16_t>({65535}) == doubles{65535});
    CHECK(reals<std::int32_t>({-70000}) == doubles{-70000});
    CHECK(reals<std::uint32_t>({4000000000U}) == doubles{4e9});
    CHECK(reals<std::int64_t>({std::numeric_limits<std::int64_t>::min()}) == doubles{-9223372036854775808.0});
    CHECK(reals<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}) == doubles{18446744073709551616.0});
    CHECK(reals<float16>({float16{0.5F}, float16{-2}}) == doubles{0.5, -2});
    CHECK(reals<bfloat16>({bfloat16{1.5F}}) == doubles{1.5});
    const bool truths[] = {true, false};
    written_tensor flags{.name = "t", .type = dtype::boolean, .shape = {2}, .content = {}};
    const auto bytes = std::as_bytes(std::span{truths});
    flags.content.assign(bytes.begin(), bytes.end());
    CHECK(rules::detail::reals_of(read_back(flags)) == doubles{1, 0});
    CHECK(reals<float>({}).empty());
}

TEST_CASE("visit_reals: elements of their own type; neither complex numbers nor strings are reals") {
    bool visited = false;
    CHECK(rules::detail::visit_reals(
        read_back(tensor_of<std::int16_t>("t", {1, 2, 3})),
        [&]<class T>(std::span<const T> all) { visited = std::is_same_v<T, std::int16_t> && all.size() == 3; }));
    CHECK(visited);
    const auto none = [](const auto&) { FAIL("there are no reals"); };
    CHECK_FALSE(rules::detail::visit_reals(read_back(tensor_of<std::complex<float>>("t", {{1, 2}})), none));
    CHECK_FALSE(rules::detail::visit_reals(
        read_back({.name = "t", .type = dtype::string, .shape = {1}, .content = {}, .strings = {"text"}}), none));
    CHECK(reals<std::complex<double>>({{1, 2}}).empty());
}

static_assert(rules::detail::has_reals(dtype::float32) && rules::detail::has_reals(dtype::boolean) &&
              rules::detail::has_reals(dtype::float16));
static_assert(!rules::detail::has_reals(dtype::complex64) && !rules::detail::has_reals(dtype::complex128) &&
              !rules::detail::has_reals(dtype::string) && !rules::detail::has_reals(dtype::invalid));
