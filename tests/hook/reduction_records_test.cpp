#include <smdebug/hook/tensor_record.hpp>

#include <doctest/doctest.h>

#include <smdebug/reduce/scalar_kernel.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

// The records one by one.
std::vector<std::byte> encoded(std::string_view tensor, std::span<const smd::reduction_key> order,
                               const smd::reduction_values& values, const smd::detail::record_stamp& stamp,
                               smd::record::footer_kind footer) {
    std::vector<std::byte> all;
    for (const smd::reduction_key key : order) {
        if (values.computed.contains(key)) {
            const double value = values(key.what, key.abs);
            static_cast<void>(smd::detail::append_tensor_record(
                all, smd::reduction_tensor_name(tensor, key),
                {.type = smd::dtype::float64, .shape = {}, .bytes = std::as_bytes(std::span{&value, 1}), .strings = {}},
                stamp, footer));
        }
    }
    return all;
}

}  // namespace

TEST_CASE("reduction_records: whatever changes from step to step, they are what encoding each anew gives") {
    const smd::detail::reduction_plan all = smd::detail::make_reduction_plan(
        {.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"}, .norms = {"l1", "l2"}});
    const smd::detail::reduction_plan few = smd::detail::make_reduction_plan({.reductions = {"abs_mean", "mean"}});
    constexpr smd::step_number huge = std::numeric_limits<smd::step_number>::max() - 1;
    const std::array<std::pair<smd::step_number, smd::step_number>, 13> steps{{{0, 0},
                                                                               {1, 0},
                                                                               {2, 9},
                                                                               {3, 10},
                                                                               {127, 99},
                                                                               {128, 100},
                                                                               {129, 101},
                                                                               {16383, 101},
                                                                               {16384, 3},
                                                                               {huge, huge},
                                                                               {huge - 1, huge},
                                                                               {0, 7},
                                                                               {5, 5}}};
    smd::detail::reduction_records records;
    std::size_t checked = 0;
    for (const auto footer : {smd::record::footer_kind::package_constant, smd::record::footer_kind::checksum}) {
        for (const auto& [step, mode_step] : steps) {
            for (const smd::mode mode : {smd::mode::train, smd::mode::global}) {
                for (const double wall_time : {0.0, 1.7e9 + static_cast<double>(checked), -1.0}) {
                    const auto& plan = checked % 7 == 6 ? few : all;
                    const std::vector<float> elements{1.5F, -2.0F, static_cast<float>(checked)};
                    const std::array shape{elements.size()};
                    const auto values = smd::scalar_kernel{}.reduce({.type = smd::dtype::float32,
                                                                     .shape = shape,
                                                                     .bytes = std::as_bytes(std::span{elements}),
                                                                     .strings = {}},
                                                                    plan.wanted);
                    REQUIRE(values.ok());
                    const smd::detail::record_stamp stamp{wall_time, step, mode, mode_step,
                                                          checked % 5 == 4 ? "torch" : std::string_view{}};
                    records.update("dense/kernel:0", plan.order, *values, stamp, footer);
                    const auto expected = encoded("dense/kernel:0", plan.order, *values, stamp, footer);
                    REQUIRE(std::vector<std::byte>(records.bytes().begin(), records.bytes().end()) == expected);
                    std::size_t at = 0;
                    for (const smd::detail::named_record& record : records.records()) {
                        CHECK(record.begin == at);
                        at += record.size;
                    }
                    CHECK(at == expected.size());
                    CHECK(records.records().size() == plan.order.size());
                    CHECK(records.records()[0].name == smd::reduction_tensor_name("dense/kernel:0", plan.order[0]));
                    ++checked;
                }
            }
        }
    }
    CHECK(checked == 156);
}

TEST_CASE("reduction_records: what a dtype does not have is left out") {
    const smd::detail::reduction_plan plan =
        smd::detail::make_reduction_plan({.reductions = {"mean", "abs_mean"}, .norms = {"l2"}});
    const std::array<float, 4> complex{3, 4, 0, 0};
    const std::array<std::size_t, 1> shape{2};
    const auto values = smd::scalar_kernel{}.reduce(
        {.type = smd::dtype::complex64, .shape = shape, .bytes = std::as_bytes(std::span{complex}), .strings = {}},
        plan.wanted);
    smd::detail::reduction_records records;
    records.update("c", plan.order, *values, {1.0, 1, smd::mode::eval, 1}, smd::record::footer_kind::package_constant);
    REQUIRE(records.records().size() == 2);
    CHECK(records.records()[0].name == "smdebug/reductions/l2/c");
    CHECK(records.records()[1].name == "smdebug/reductions/abs_mean/c");
}
