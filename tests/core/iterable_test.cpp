#include <smdebug/core/function_ref.hpp>

#include "support/test.hpp"

#include <deque>
#include <forward_list>
#include <list>
#include <ranges>

using namespace smdebug::detail;

namespace {

// Each concept agrees with that of <ranges>.
template <class R>
constexpr bool as_in_ranges =
    iterable<R> == std::ranges::range<R> && input_iterable<R> == std::ranges::input_range<R> &&
    random_access_iterable<R> == std::ranges::random_access_range<R> &&
    contiguous_iterable<R> == std::ranges::contiguous_range<R> && sized_iterable<R> == std::ranges::sized_range<R>;

template <class... R>
constexpr bool all_as_in_ranges = (as_in_ranges<R> && ...) && (as_in_ranges<const R> && ...) &&
                                  (as_in_ranges<const R&> && ...) && (as_in_ranges<R*> && ...);

static_assert(
    all_as_in_ranges<std::vector<float>, std::vector<bool>, std::array<int, 3>, std::span<const double>, int[4],
                     std::string, std::string_view, std::deque<int>, std::list<int>, std::forward_list<int>,
                     std::map<int, int>, std::ranges::istream_view<int>, int, std::stringstream>);
static_assert(as_in_ranges<decltype(std::views::iota(0, 3))>);
static_assert(as_in_ranges<void> && as_in_ranges<int[]>);

template <class R>
constexpr bool types_as_in_ranges = std::is_same_v<iterator_of<R>, std::ranges::iterator_t<R>> &&
                                    std::is_same_v<reference_in<R>, std::ranges::range_reference_t<R>> &&
                                    std::is_same_v<value_in<R>, std::ranges::range_value_t<R>>;
static_assert(types_as_in_ranges<std::vector<float>> && types_as_in_ranges<const std::vector<float>&> &&
              types_as_in_ranges<std::vector<bool>> && types_as_in_ranges<const int[4]>);

}  // namespace

TEST_CASE("iterable: contiguous ranges and lists") {
    CHECK(contiguous_iterable<const std::vector<float>&>);
    CHECK_FALSE(contiguous_iterable<const std::deque<float>&>);
    CHECK(random_access_iterable<const std::deque<float>&>);
    CHECK_FALSE(random_access_iterable<const std::list<float>&>);
    CHECK(input_iterable<const std::list<float>&>);
    CHECK_FALSE(iterable<float>);
    CHECK_FALSE(sized_iterable<std::forward_list<int>>);
}
