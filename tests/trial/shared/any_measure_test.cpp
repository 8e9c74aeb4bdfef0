#include <smdebug/trial/shared/rule_view.hpp>

#include <smdebug/tensor/tensor_value.hpp>

#include "support/test.hpp"

using namespace smdebug;
using detail::typed_measure;

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

TEST_CASE("any_measure: equal measures of one type are equal, others are not; a copy is") {
    const typed_measure<scaled_count, false> two{scaled_count{2}};
    CHECK(two.equals(typed_measure<scaled_count, false>{scaled_count{2}}));
    CHECK_FALSE(two.equals(typed_measure<scaled_count, false>{scaled_count{3}}));
    CHECK_FALSE(two.equals(typed_measure<other_count, false>{other_count{2}}));
    const auto copy = two.copy();
    CHECK(copy->equals(two));
    const tensor_value five = floats(5);
    CHECK(detail::unpacked<double>((*copy)(nullptr, five.view())) == 10);
    CHECK_FALSE(copy->compares());
}

TEST_CASE("any_measure: a comparison gets both saves") {
    const typed_measure<growth, true> measure{growth{}};
    CHECK(measure.compares());
    const tensor_value before = floats(3);
    const tensor_value now = floats(4);
    const tensor_view earlier = before.view();
    const auto answer = detail::unpacked<std::array<std::size_t, 2>>((*measure.copy())(&earlier, now.view()));
    CHECK(answer == std::array<std::size_t, 2>{3, 4});
}
