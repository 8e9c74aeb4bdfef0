#include <smdebug/trial/read/measure_memory.hpp>

#include <smdebug/tensor/tensor_value.hpp>

#include <array>
#include <cstddef>
#include <span>

#include <doctest/doctest.h>

using namespace smdebug;
using detail::measure_list;

namespace {

struct scaled_count {
    double scale = 1;
    double operator()(const tensor_view& values) const { return scale * static_cast<double>(values.count()); }
    friend bool operator==(const scaled_count&, const scaled_count&) = default;
};
struct other_count {
    double scale = 1;
    double operator()(const tensor_view&) const { return -1; }
    friend bool operator==(const other_count&, const other_count&) = default;
};
struct growth {
    std::array<std::size_t, 2> operator()(const tensor_view& earlier, const tensor_view& now) const {
        return {earlier.count(), now.count()};
    }
    friend bool operator==(const growth&, const growth&) = default;
};

tensor_value floats(std::size_t count) {
    const std::vector<float> values(count);
    return tensor_value::copy_of<float>({count}, std::span{values});
}

}  // namespace

TEST_CASE("measure_list: equal measures of one type have one number, others their own") {
    measure_list list;
    const auto first = list.number_of(smdebug::detail::typed_measure<scaled_count, false>{scaled_count{2}});
    REQUIRE(first);
    CHECK(list.number_of(smdebug::detail::typed_measure<scaled_count, false>{scaled_count{2}}) == first);
    CHECK_FALSE(list.number_of(smdebug::detail::typed_measure<scaled_count, false>{scaled_count{3}}) == first);
    CHECK_FALSE(list.number_of(smdebug::detail::typed_measure<other_count, false>{other_count{2}}) == first);
    const tensor_value five = floats(5);
    CHECK(detail::unpacked<double>((*list[*first])(nullptr, five.view())) == 10);
    CHECK_FALSE(list[*first]->compares());
}

TEST_CASE("measure_list: a comparison is asked about both saves") {
    measure_list list;
    const auto number = list.number_of(smdebug::detail::typed_measure<growth, true>{growth{}});
    REQUIRE(number);
    CHECK(list[*number]->compares());
    const tensor_value before = floats(3);
    const tensor_value now = floats(4);
    const tensor_view earlier = before.view();
    const auto answer = detail::unpacked<std::array<std::size_t, 2>>((*list[*number])(&earlier, now.view()));
    CHECK(answer == std::array<std::size_t, 2>{3, 4});
}

TEST_CASE("measure_list: more than it has room for have no number, and those that have one keep it") {
    measure_list list;
    for (std::size_t i = 0; i < measure_list::most; ++i) {
        CHECK(list.number_of(
                  smdebug::detail::typed_measure<scaled_count, false>{scaled_count{static_cast<double>(i)}}) == i);
    }
    CHECK_FALSE(list.number_of(smdebug::detail::typed_measure<scaled_count, false>{scaled_count{-1}}));
    CHECK(list.number_of(smdebug::detail::typed_measure<scaled_count, false>{scaled_count{7}}) == 7U);
}
