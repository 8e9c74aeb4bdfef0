#include <smdebug/hook/tensor_record.hpp>

#include "support/test.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/event_decoder.hpp>

namespace smd = smdebug;

namespace {

// A record as it will lie in the file: the left-out elements put where they belong.
std::vector<std::byte> whole(const std::vector<std::byte>& buffer, const smd::detail::appended_record& record) {
    std::vector<std::byte> bytes = buffer;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(record.omitted.at), record.omitted.bytes.begin(),
                 record.omitted.bytes.end());
    return bytes;
}

smd::tensor_view floats(const std::vector<float>& values, const std::array<std::size_t, 1>& shape) {
    return {smd::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
}

}  // namespace

TEST_CASE("append_tensor_record: large elements stay where they are, small ones are copied, both read back") {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, smd::detail::copied_below / 4 - 1,
                                    smd::detail::copied_below / 4, std::size_t{100'000}}) {
        for (const auto footer : {smd::record::footer_kind::package_constant, smd::record::footer_kind::checksum}) {
            CAPTURE(count);
            std::vector<float> values(count);
            std::iota(values.begin(), values.end(), 1.0F);
            const std::array shape{count};
            std::vector<std::byte> out;
            const auto record = smd::detail::append_tensor_record(out, "layer/weight:0", floats(values, shape),
                                                                  {12.5, 300, smd::mode::eval, 7}, footer);
            const bool stays = count * sizeof(float) >= smd::detail::copied_below;
            CHECK(record.omitted.bytes.empty() == !stays);
            if (stays) {
                CHECK(static_cast<const void*>(record.omitted.bytes.data()) == values.data());
                CHECK(out.size() < 300);
            }
            const std::vector<std::byte> bytes = whole(out, record);
            REQUIRE(bytes.size() == record.size);
            smd::decoded_tensor decoded;
            const auto read = smd::event_decoder<smd::crc_check::full>{}.decode(bytes, "layer/weight:0", decoded);
            REQUIRE(read == smd::status::ok);
            REQUIRE(decoded.view().count() == count);
            CHECK(std::equal(decoded.bytes.begin(), decoded.bytes.end(), std::as_bytes(std::span{values}).begin()));
            CHECK(decoded.shape == smd::shape_type{count});
        }
    }
}

TEST_CASE("append_tensor_record: appends behind what is there") {
    const std::vector<float> values(5000, 1.0F);
    const std::array<std::size_t, 1> shape{5000};
    std::vector<std::byte> alone;
    const auto first = smd::detail::append_tensor_record(alone, "x", floats(values, shape), {1, 1, smd::mode::train, 1},
                                                         smd::record::footer_kind::checksum);
    std::vector<std::byte> behind(77, std::byte{9});
    const auto second = smd::detail::append_tensor_record(
        behind, "x", floats(values, shape), {1, 1, smd::mode::train, 1}, smd::record::footer_kind::checksum);
    CHECK(second.omitted.at == first.omitted.at + 77);
    CHECK(std::vector<std::byte>(behind.begin() + 77, behind.end()) == alone);
}

TEST_CASE("append_tensor_record: what no reader could take leaves nothing behind") {
    // The elements are never touched: only their number counts.
    const std::array<std::size_t, 1> shape{smd::detail::largest_payload};
    const std::byte one{};
    const smd::byte_view pretended{&one, smd::detail::largest_payload};
    std::vector<std::byte> out(3);
    const auto record =
        smd::detail::append_tensor_record(out, "x", {smd::dtype::uint8, shape, pretended, {}},
                                          {1, 1, smd::mode::train, 1}, smd::record::footer_kind::package_constant);
    CHECK(record.size == 0);
    CHECK(out.size() == 3);
}

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

namespace {

std::vector<std::string> names(const smd::detail::reduction_plan& plan) {
    std::vector<std::string> out;
    for (const smd::reduction_key key : plan.order) {
        out.push_back(key.name());
    }
    return out;
}

std::string wrong_with(const smd::reduction_config& config) {
    return smdebug_test::message_of<smd::value_error>([&] { return smd::detail::make_reduction_plan(config, "here"); });
}

}  // namespace

TEST_CASE(
    "reduction_plan: the order is plain, norms, of magnitudes, norms of magnitudes, as the Python package writes") {
    const std::vector<std::string> expected{"min", "max", "mean",    "std",      "variance", "sum",   "prod",
                                            "l1",  "l2",  "abs_min", "abs_mean", "abs_l1",   "abs_l2"};
    const smd::detail::reduction_plan four_lists =
        smd::detail::make_reduction_plan({.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                                          .abs_reductions = {"min", "mean"},
                                          .norms = {"l1", "l2"},
                                          .abs_norms = {"l1", "l2"},
                                          .save_raw_tensor = true});
    CHECK(names(four_lists) == expected);
    CHECK(four_lists.raw);
    CHECK_FALSE(four_lists.shape);
    // As one text in a file: whatever order that has.
    const smd::detail::reduction_plan one_list = smd::detail::make_reduction_plan(
        {.reductions = {"abs_l1_norm", "min", "max", "l1_norm", "mean", "std", "abs_min", "variance", "sum", "l2",
                        "prod", "abs_mean", "abs_l2"},
         .save_shape = true});
    CHECK(names(one_list) == expected);
    CHECK(one_list.wanted == four_lists.wanted);
    CHECK_FALSE(one_list.raw);
    CHECK(one_list.shape);
}

TEST_CASE("reduction_plan: within a group the config's order stays, and each is there once") {
    const smd::detail::reduction_plan plan = smd::detail::make_reduction_plan(
        {.reductions = {"mean", "min", "mean", "l2", "l2_norm"}, .abs_reductions = {"max"}, .norms = {"l2", "l1"}});
    CHECK(names(plan) == std::vector<std::string>{"mean", "min", "l2", "l1", "abs_max"});
    CHECK(plan.wanted == (smd::reduction_set{smd::reduction::mean} | smd::reduction::min | smd::reduction::l2 |
                          smd::reduction::l1 | smd::reduction_set{smd::reduction::max, true}));
}

TEST_CASE("reduction_plan: an empty config writes nothing") {
    CHECK(smd::detail::make_reduction_plan({}).empty());
    CHECK_FALSE(smd::detail::make_reduction_plan({.save_shape = true}).empty());
}

TEST_CASE("reduction_plan: adds what another one writes, each once") {
    smd::detail::reduction_plan plan = smd::detail::make_reduction_plan({.reductions = {"min", "abs_max"}});
    plan.add(smd::detail::make_reduction_plan({.reductions = {"abs_max", "mean"}, .save_shape = true}));
    CHECK(names(plan) == std::vector<std::string>{"min", "abs_max", "mean"});
    CHECK(plan.shape);
    CHECK_FALSE(plan.raw);
    plan.add({.raw = true});
    CHECK(plan.raw);
    plan.clear();
    CHECK(plan.empty());
    CHECK(plan.wanted.empty());
}

TEST_CASE("reduction_plan: unknown names are refused with a list of the known ones") {
    CHECK(wrong_with({.reductions = {"median"}}) ==
          "here.reductions names \"median\", which is none of: min, max, mean, std, variance, sum, prod, l1_norm, "
          "l2_norm, nor one of these behind abs_");
    CHECK(wrong_with({.norms = {"min"}}) == "here.norms names \"min\", which is none of: l1, l2");
    CHECK(wrong_with({.abs_norms = {"l3"}}) == "here.abs_norms names \"l3\", which is none of: l1, l2");
    CHECK(wrong_with({.abs_reductions = {"l1"}}) ==
          "here.abs_reductions names \"l1\", which is none of: min, max, mean, std, variance, sum, prod");
    for (const char* bad : {"", "abs_", "min_norm", "_norm", "l1_norm_norm", "abs_abs_min", "abs_mean_norm", "Min"}) {
        CAPTURE(bad);
        CHECK_FALSE(wrong_with({.reductions = {bad}}).empty());
    }
}
