// What a hook saves, a trial reads: every dtype, rank, name and reduction.
#include <smdebug/hook/hook.hpp>

#include "hook/round_trip_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::round_trips;
using namespace std::literals;

namespace {

const std::vector<std::string> odd_names{"w",
                                         "layer/0/weight",
                                         "a name with spaces ",
                                         "Größe/重み/🎲",
                                         R"("quoted" and \slashed\)",
                                         "dense/kernel:0",
                                         "tab\tnewline\nnul\0end"s,
                                         "smdebug",
                                         "scalar/x",
                                         "..",
                                         "/absolute",
                                         "\x7f\u0080\u2028",
                                         std::string(3000, 'n')};

}  // namespace

TEST_CASE("round trip: every dtype at every rank, with any bytes in it, under any name") {
    for (const auto footer : {record::footer_kind::package_constant, record::footer_kind::checksum}) {
        hook_options options = saves_all();
        options.payload_checksum = footer;
        generator make{11};
        std::map<std::string, owned_tensor> saved;
        const auto put = [&](const std::string& name, owned_tensor tensor) { saved.emplace(name, std::move(tensor)); };
        for (const dtype type : every_dtype) {
            for (std::size_t rank = 0; rank <= 5; ++rank) {
                const std::string name = std::string{name_of(type)} + "/" + std::to_string(rank);
                put(name, make.tensor(type, shape_type(rank, 2)));
                for (std::size_t zero = 0; zero < rank; ++zero) {
                    shape_type shape(rank, 3);
                    shape[zero] = 0;
                    put(name + "/without/" + std::to_string(zero), make.tensor(type, shape));
                }
            }
            // Sizes around the limits of copying, of writing without a copy, and of keeping back.
            for (const std::size_t bytes : {4095U, 4096U, 4100U, 140'000U}) {
                const std::size_t each = type == dtype::string ? 100 : size_of(type);
                put(std::string{name_of(type)} + " of " + std::to_string(bytes), make.tensor(type, {bytes / each}));
            }
        }
        for (const std::string& name : odd_names) {
            put(name, make.tensor());
        }
        const memory_storage store = written_by(options, [&](auto& hook) {
            for (auto& [name, tensor] : saved) {
                CHECK(hook.save_tensor(name, tensor.view()));
            }
            hook.end_step();
        });
        const checked_trial run{store};
        CHECK(run.tensor_names().size() == saved.size());
        for (const auto& [name, tensor] : saved) {
            CAPTURE(name);
            REQUIRE(run.has_tensor(name));
            const auto value = run.tensor(name).find_value(0);
            REQUIRE(value);
            CHECK(equal(*value, tensor));
        }
    }
}

TEST_CASE("round trip: special numbers keep their bits") {
    const std::vector<float> floats{
        std::numeric_limits<float>::quiet_NaN(),
        std::bit_cast<float>(0xFFC12345U),  // a NaN with a payload
        std::numeric_limits<float>::infinity(),  -std::numeric_limits<float>::infinity(), -0.0F,
        std::numeric_limits<float>::denorm_min()};
    memory_storage store;
    test_hook<memory_storage> hook{store, saves_all()};
    hook.save_tensor("f", floats);
    hook.save_scalar("nan", std::numeric_limits<double>::quiet_NaN());
    hook.save_scalar("half", float16{});
    hook.save_scalar("no", false);
    hook.close();
    const checked_trial run{store};
    const auto value = run.tensor("f").value(0);
    CHECK(same_bytes(value.bytes(), std::as_bytes(std::span{floats})));
    CHECK(run.tensor("scalar/nan").value<double>(0)(0) != run.tensor("scalar/nan").value<double>(0)(0));
    CHECK(run.tensor("scalar/half").value(0).type() == dtype::float16);
    CHECK(run.tensor("scalar/no").value<bool>(0)(0) == false);
}

TEST_CASE("round trip: all eighteen reductions, to the bit, at steps and times of any length") {
    hook_options options;
    options.save_config.save_interval = 1;
    options.reduction_config =
        reduction_config{.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                         .abs_reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                         .norms = {"l1", "l2"},
                         .abs_norms = {"l1", "l2"}};
    options.save_all = true;
    for (const auto footer : {record::footer_kind::package_constant, record::footer_kind::checksum}) {
        options.payload_checksum = footer;
        generator make{5};
        std::map<std::string, owned_tensor> tensors;
        for (const dtype type : every_dtype) {
            tensors.emplace(std::string{name_of(type)}, make.tensor(type, {3, 5}));
            tensors.emplace("empty " + std::string{name_of(type)}, make.tensor(type, {0}));
            tensors.emplace("one " + std::string{name_of(type)}, make.tensor(type, {}));
        }
        // Where the number of a step, or of one in its mode, takes another byte or digit.
        const std::vector<std::pair<step_number, step_number>> numbers{{0, 0},       {1, 1},
                                                                       {9, 2},       {10, 10},
                                                                       {99, 9},      {127, 99},
                                                                       {128, 100},   {999, 101},
                                                                       {16'383, 12}, {16'384, 1'000'000},
                                                                       {20'000, 7},  {step_number{1} << 40U, 8}};
        const memory_storage store = written_by(options, [&](auto& hook) {
            for (const auto& [global, in_mode] : numbers) {
                hook.set_mode(in_mode % 2 == 0 ? mode::train : mode::eval);
                hook.set_step(global, in_mode);
                for (auto& [name, tensor] : tensors) {
                    CHECK(hook.save_tensor(name, tensor.view()) == (tensor.type != dtype::string));  // which have none
                }
                hook.end_step();
            }
        });
        const checked_trial run{store};
        REQUIRE(run.steps().size() == numbers.size());
        for (const auto& [global, in_mode] : numbers) {
            CAPTURE(global);
            CHECK(run.mode_step(global) == in_mode);
            CHECK(run.mode(global) == (in_mode % 2 == 0 ? mode::train : mode::eval));
            for (auto& [name, tensor] : tensors) {
                CAPTURE(name);
                const auto computed = default_kernel{}.reduce(tensor.view(), reduction_set::all());
                if (!computed.ok()) {
                    CHECK(tensor.type == dtype::string);
                    CHECK_FALSE(run.has_tensor(name));
                    continue;
                }
                const auto saved = run.tensor(name).saved_reduction_values(global);
                CHECK(saved.size() == (is_complex(tensor.type) ? 11 : 18));
                for (const auto& [key, value] : saved) {
                    CAPTURE(key.name());
                    CHECK(computed->computed.contains(key));
                    CHECK(std::bit_cast<std::uint64_t>(value) ==
                          std::bit_cast<std::uint64_t>(computed->value[key.index()]));
                }
                CHECK_FALSE(run.tensor(name).find_value(global));
            }
        }
    }
}

TEST_CASE("round trip: a dry run writes nothing, and counts what it would have written") {
    hook_options options = saves_all();
    std::array<hook_counters, 2> counted;
    for (const bool dry : {false, true}) {
        options.dry_run = dry;
        memory_storage store;
        test_hook<memory_storage> hook{store, options};
        generator make{3};
        for (int step = 0; step < 4; ++step) {
            for (int i = 0; i < 5; ++i) {
                CHECK(hook.save_tensor("t" + std::to_string(i), make.tensor().view()));
            }
            hook.end_step();
        }
        hook.close();
        counted.at(dry ? 1 : 0) = hook.counters();
        CHECK(store.list("", "").empty() == dry);
    }
    CHECK(counted[0].steps == 4);
    CHECK(counted[0].tensors == 20);
    CHECK(counted[1].steps == counted[0].steps);
    CHECK(counted[1].tensors == counted[0].tensors);
    CHECK(counted[1].bytes == counted[0].bytes);
}
