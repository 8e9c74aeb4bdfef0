#include <smdebug/learn/look/save_look.hpp>

#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/tensor/element.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::learn;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

number_set all_numbers() {
    number_set all;
    for (std::size_t i = 0; i < number_count; ++i) {
        if (static_cast<number>(i) != number::value) {
            all.insert(static_cast<number>(i));
        }
    }
    return all;
}

/// What is saved of one tensor.
struct saved {
    std::string name = "w";
    std::vector<std::pair<reduction_key, double>> reductions = {};
    std::optional<shape_type> shape = {};

    template <class Element>
    [[nodiscard]] save_look with_values(const std::vector<Element>& values, const shape_type& extents) const {
        const tensor_view view{dtype_of_v<Element>, extents, std::as_bytes(std::span{values}), {}};
        const values_look look = values_measure{}(view);
        const auto computed = default_kernel{}.reduce(view, reductions_for(all_numbers()));
        const reduction_values none;
        save_parts parts = without_values();
        parts.values = &look;
        parts.computed = computed.ok() ? &*computed : &none;
        parts.shape = &extents;
        return look_at(parts, all_numbers());
    }
    [[nodiscard]] save_look alone() const { return look_at(without_values(), all_numbers()); }

private:
    [[nodiscard]] save_parts without_values() const {
        save_parts parts{.name = name};
        for (const auto& [key, number] : reductions) {
            parts.saved = parts.saved | key;
            parts.saved_value[key.index()] = number;
        }
        parts.shape = shape ? &*shape : nullptr;
        return parts;
    }
};

save_look of_values(const std::vector<double>& values) { return saved{}.with_values(values, {values.size()}); }

constexpr reduction_key key(reduction what, bool abs = false) { return {what, abs}; }

}  // namespace

TEST_CASE("a save's numbers: computed from values") {
    const save_look look = of_values({3, 0, -4, 0});
    CHECK(look.has_values);
    CHECK(look.size == 4U);
    CHECK(look.bad == false);
    CHECK(look.bad_share == 0);
    CHECK(look.least == -4);
    CHECK(look.greatest == 3);
    CHECK(look[number::l2] == 5);
    CHECK(look[number::l1] == 7);
    CHECK(look[number::abs_max] == 4);
    CHECK(look[number::abs_mean] == 1.75);
    CHECK(look[number::zeros] == 0.5);
    CHECK(look[number::mean] == -0.25);
    CHECK_FALSE(look.has.contains(number::value));
}

TEST_CASE("a save's numbers: of one element the element alone") {
    const save_look look = of_values({-2.5});
    CHECK(look[number::value] == -2.5);
    CHECK(look.has.bits == (1U << static_cast<unsigned>(number::value)));
    CHECK(saved{}.with_values(std::vector<std::int64_t>{7}, {})[number::value] == 7);
    CHECK(saved{.reductions = {{key(reduction::max), 9}}}.with_values(std::vector<double>{7}, {})[number::value] == 7);
    const auto by = [](std::vector<std::pair<reduction_key, double>> reductions) {
        return saved{.reductions = std::move(reductions), .shape = shape_type{1}}.alone();
    };
    CHECK(by({{key(reduction::min), 1}, {key(reduction::max), 2}, {key(reduction::sum), 3}})[number::value] == 3);
    CHECK(by({{key(reduction::min), 1}, {key(reduction::max), 2}})[number::value] == 2);
    CHECK(by({{key(reduction::min), 1}})[number::value] == 1);
    CHECK_FALSE(by({{key(reduction::l2), 1}}).has.contains(number::value));
    CHECK_FALSE(by({{key(reduction::mean), nan_value}, {key(reduction::sum), 3}}).has.contains(number::value));
}

TEST_CASE("a save's numbers: saved ones first, and what stands for them") {
    const auto look = [](std::vector<std::pair<reduction_key, double>> reductions) {
        return saved{.reductions = std::move(reductions)}.with_values(std::vector<double>{3, -4}, {2});
    };
    CHECK(look({{key(reduction::l2), 50}})[number::l2] == 50);
    CHECK(look({{key(reduction::l2, true), 60}})[number::l2] == 60);
    CHECK(look({{key(reduction::l1, true), 60}})[number::l1] == 60);
    CHECK(look({{key(reduction::l2), 50}, {key(reduction::l2, true), 60}})[number::l2] == 50);
    CHECK(look({{key(reduction::min), -9}, {key(reduction::max), 8}})[number::abs_max] == 9);
    CHECK(look({{key(reduction::min), -9}})[number::abs_max] == 4);
    for (const double lost : {nan_value, infinite}) {  // that is none, and no other takes its place
        CHECK_FALSE(look({{key(reduction::min), 2}, {key(reduction::max), lost}}).has.contains(number::abs_max));
        CHECK_FALSE(look({{key(reduction::min), lost}, {key(reduction::max), 2}}).has.contains(number::abs_max));
    }
    CHECK(
        look({{key(reduction::max, true), 7}, {key(reduction::min), -9}, {key(reduction::max), 8}})[number::abs_max] ==
        7);
    CHECK(look({{key(reduction::min), -9}}).least == -9);
    CHECK_FALSE(look({{key(reduction::l2), infinite}}).has.contains(number::l2));
    CHECK_FALSE(look({{key(reduction::l2), nan_value}, {key(reduction::l2, true), 5}}).has.contains(number::l2));
    const save_look alone = saved{.reductions = {{key(reduction::l2), 5}, {key(reduction::max), 2}}}.alone();
    CHECK(alone[number::l2] == 5);
    CHECK(alone[number::max] == 2);
    CHECK_FALSE(alone.has.contains(number::zeros));
    CHECK_FALSE(alone.has.contains(number::abs_max));
    CHECK_FALSE(alone.size.has_value());
}

TEST_CASE("a save's numbers: none of bad values, without elements, of digests, of text and complex numbers") {
    const save_look bad = of_values({1, nan_value, infinite, 2});
    CHECK(bad.bad == true);
    CHECK(bad.bad_share == 0.5);
    CHECK(bad.has.bits == 0);
    CHECK_FALSE(bad.least.has_value());
    CHECK(bad.content.what == save_content::kind::values);
    const save_look empty = of_values({});
    CHECK(empty.size == 0U);
    CHECK(empty.bad == false);
    CHECK(empty.has.bits == 0);
    CHECK_FALSE(empty.least.has_value());
    const save_look digest = saved{.name = "digest/w"}.with_values(std::vector<std::int64_t>{7}, {});
    CHECK(digest.has.bits == 0);
    CHECK_FALSE(digest.greatest.has_value());
    CHECK(digest.bad == false);
    CHECK(saved{}.with_values(std::vector<std::complex<float>>{{1, 2}}, {1}).is_void);
    const std::vector<std::string_view> words{"a"};
    const values_look text = values_measure{}({dtype::string, {}, {}, words});
    CHECK(look_at({.name = "w", .values = &text}, all_numbers()).is_void);
}

TEST_CASE("a save without values: bad by its saved extremes alone") {
    const auto bad = [](reduction_key which, double number) {
        return saved{.reductions = {{which, number}}}.alone().bad;
    };
    CHECK(bad(key(reduction::min), 1) == false);
    CHECK(bad(key(reduction::max, true), infinite) == true);
    CHECK(bad(key(reduction::min, true), nan_value) == true);
    CHECK_FALSE(bad(key(reduction::l2), infinite).has_value());
    CHECK_FALSE(saved{.shape = shape_type{3}}.alone().bad.has_value());
}

TEST_CASE("contents: values, reductions of the same names, or none") {
    const auto content = [](const save_look& look) { return look.content; };
    const save_content values = content(of_values({1, 2}));
    CHECK(values.is_same_as(content(of_values({1, 2}))));
    CHECK_FALSE(values.is_same_as(content(of_values({1, 3}))));
    CHECK_FALSE(content(of_values({0.0})).is_same_as(content(of_values({-0.0}))));
    CHECK(content(of_values({nan_value})).is_same_as(content(of_values({nan_value}))));
    CHECK_FALSE(values.is_same_as(content(saved{}.with_values(std::vector<double>{1, 2}, {1, 2}))));
    CHECK_FALSE(content(saved{}.with_values(std::vector<float>{1}, {1}))
                    .is_same_as(content(saved{}.with_values(std::vector<std::int32_t>{0x3F800000}, {1}))));
    const save_content l2 = content(saved{.reductions = {{key(reduction::l2), 5}}}.alone());
    CHECK(l2.is_comparable_with(l2));
    CHECK_FALSE(l2.is_comparable_with(values));
    CHECK_FALSE(l2.is_comparable_with(content(saved{.reductions = {{key(reduction::l1), 5}}}.alone())));
    CHECK_FALSE(l2.is_same_as(content(saved{.reductions = {{key(reduction::l2), 6}}}.alone())));
    CHECK(content(saved{.shape = shape_type{3}}.alone()).what == save_content::kind::none);
}
