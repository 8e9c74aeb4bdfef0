#include <smdebug/trial/step_stream.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "wire/messages.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

#include <variant>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// Everything about a tensor, bit-exactly.
std::string line_of(const reduced_tensor& found) {
    std::string line = std::to_string(found.step) + " " + std::to_string(found.mode_step) + " ";
    line.append(name_of(found.mode)).append(" ").append(found.worker).append(" ").append(found.name);
    line.append(" ").append(name_of(found.type));
    if (found.shape != nullptr) {
        for (const std::size_t extent : *found.shape) {
            line += "x" + std::to_string(extent);
        }
    }
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        const reduction_key key = reduction_key::from_index(i);
        if (found.reductions.computed.contains(key)) {
            const double value = found.reductions.value[i];
            line +=
                " " + key.name() + "=" + (value != value ? "nan" : std::to_string(std::bit_cast<std::uint64_t>(value)));
        }
    }
    if (found.reductions.computed.has_counts()) {
        line += " zeros=" + std::to_string(found.reductions.zeros) + " nan=" + std::to_string(found.reductions.nan);
    }
    if (found.failure != nullptr) {
        line += " failed: " + found.failure->where + " " + std::to_string(static_cast<int>(found.failure->why)) + " " +
                std::to_string(static_cast<int>(found.failure->damage)) + " " + std::to_string(found.failure->offset) +
                (found.file_failed ? " whole file" : "");
    }
    for (const unread_reduction& bad : found.saved_failures) {
        line += " lost " + bad.key.name();
    }
    return line;
}

template <class Trial>
texts lines(const Trial& run, const tensor_selection& which, reduction_set wanted, unsigned threads) {
    texts found;
    const auto caller = std::this_thread::get_id();
    const bool complete = for_each_tensor(run, which, wanted,
                                          [&](const reduced_tensor& tensor) {
                                              CHECK(std::this_thread::get_id() == caller);
                                              found.push_back(line_of(tensor));
                                          },
                                          {.threads = threads});
    CHECK(complete);
    return found;
}

}  // namespace

TEST_CASE("for_each_tensor: every golden run gives bit-identical results on any number of threads") {
    std::size_t runs = 0;
    for (const auto& entry : std::filesystem::directory_iterator{SMDEBUG_TEST_DATA "/golden"}) {
        if (!std::filesystem::is_directory(entry.path() / "index") || entry.path().filename() == "damaged") {
            continue;
        }
        std::optional<local_trial> run;
        try {
            run.emplace(entry.path().string());
        } catch (const error&) {
            continue;  // runs that must fail
        }
        CAPTURE(entry.path().filename().string());
        ++runs;
        const texts expected = lines(*run, {}, reduction_set::all(), 1);
        CHECK(lines(*run, {}, reduction_set::all(), 2) == expected);
        CHECK(lines(*run, {}, reduction_set::all(), 5) == expected);
    }
    CHECK(runs > 20);
}

TEST_CASE("for_each_tensor: agrees with the tensor's handle") {
    for (const char* name : {"torch_mlp", "torch_ddp", "dtypes", "reductions_raw", "reductions_only"}) {
        CAPTURE(name);
        const local_trial run{std::string{SMDEBUG_TEST_DATA "/golden/"} + name};
        std::size_t compared = 0;
        for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& found) {
            for (const bool abs : {false, true}) {
                for (std::size_t i = 0; i < reduction_count; ++i) {
                    const auto what = static_cast<reduction>(i);
                    const auto value =
                        run.tensor(found.name)
                            .find_reduction(found.step, what, {.worker = std::string{found.worker}, .abs = abs});
                    REQUIRE(value.has_value() == found.reductions.computed.contains(what, abs));
                    if (value) {
                        const double mine = found.reductions(what, abs);
                        CHECK(((*value != *value && mine != mine) || *value == mine));
                        ++compared;
                    }
                }
            }
        });
        CHECK(compared > 0);
    }
}

TEST_CASE("for_each_tensor: damage is passed on for the tensor it affects, on any number of threads") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 100; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", {1, 2}), tensor_of<float>("b", {3}),
                                tensor_of<float>("smdebug/reductions/max/b", {3}, {})}});
    }
    build.end();
    for (const step_number step : {step_number{10}, step_number{11}, step_number{97}}) {
        std::vector<std::byte> bytes;
        const byte_buffer whole = store.read(smdebug::detail::locations::event_key(step, "worker_0"));
        bytes.assign(whole.data(), whole.data() + whole.size());
        bytes[9] ^= std::byte{1};  // the first record's length checksum
        bytes.resize(bytes.size() - 3);
        store.write(smdebug::detail::locations::event_key(step, "worker_0"), bytes);
    }
    store.remove(smdebug::detail::locations::event_key(50, "worker_0"));
    const memory_trial run{store};
    const texts one = lines(run, {}, reduction_set::all(), 1);
    REQUIRE(one.size() == 200);
    CHECK(one[20].find(" failed: " + smdebug::detail::locations::event_key(10, "worker_0") + " " +
                       std::to_string(static_cast<int>(lookup_failure_kind::damaged)) + " ") != std::string::npos);
    CHECK(one[21].ends_with(" lost max"));
    CHECK(one[100].ends_with(" whole file"));
    CHECK(lines(run, {}, reduction_set::all(), 2) == one);
    CHECK(lines(run, {}, reduction_set::all(), 4) == one);
}

TEST_CASE("for_each_tensor: a damaged tensor under a valid checksum is found, large or small, for any read strategy") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 6; ++step) {
        build.step(
            {.step = step,
             .tensors = {tensor_of<float>("large", std::vector<float>(50'000, 1.0F)), tensor_of<float>("small", {3})},
             .footers = record::footer_kind::checksum});
    }
    build.end();
    const auto flip = [&](step_number step, std::size_t at) {
        const byte_buffer whole = store.read(smdebug::detail::locations::event_key(step, "worker_0"));
        std::vector<std::byte> bytes(whole.data(), whole.data() + whole.size());
        bytes[at < bytes.size() ? at : bytes.size() - 6] ^= std::byte{0x20};
        store.write(smdebug::detail::locations::event_key(step, "worker_0"), bytes);
    };
    flip(1, 150'000);
    flip(3, 1'000'000);  // the last record
    flip(4, 200);
    const memory_trial run{store};
    const texts one = lines(run, {}, reduction_set::all(), 1);
    REQUIRE(one.size() == 12);
    for (std::size_t i = 0; i < one.size(); ++i) {
        CAPTURE(one[i]);
        CHECK((one[i].find("failed") != std::string::npos) == (i == 2 || i == 7 || i == 8));
    }
    CHECK(lines(run, {}, reduction_set::all(), 3) == one);
    std::size_t place = 0;
    smdebug::detail::scan(smdebug::detail::state_of(run), {}, [&](const smdebug::detail::scanned_tensor& tensor) {
        CHECK((tensor.failure() != nullptr) == (place == 2 || place == 7 || place == 8));
        const auto* const values = std::get_if<smdebug::detail::scanned_values>(&tensor.content);
        CHECK((values != nullptr) == (tensor.failure() == nullptr));
        CHECK((values == nullptr || !values->check.needed()));
        ++place;
    });
}

TEST_CASE("for_each_tensor: the visitor may be slow and write to the run's files, as nothing is held meanwhile") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 3; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("large", std::vector<float>(200'000, 1.0F))}});
    }
    build.end();
    const local_trial run{folder.path()};
    for (const unsigned threads : {1U, 2U}) {
        int seen = 0;
        for_each_tensor(run, {}, reduction::sum,
                        [&](const reduced_tensor& found) {
                            CHECK(found.reductions(reduction::sum) == 200'000);
                            // Under a lease this would wait for 45 s.
                            std::ofstream own{
                                folder.path() + "/" + smdebug::detail::locations::event_key(found.step, "worker_0"),
                                std::ios::app};
                            CHECK(own.good());
                            ++seen;
                        },
                        {.threads = threads});
        CHECK(seen == 3);
    }
}

TEST_CASE("for_each_tensor: selection, set, progress, stop and what the visitor throws") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (step_number step = 0; step < 300; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("loss", {static_cast<float>(step), static_cast<float>(step)}),
                                tensor_of<float>("w", {1})}});
    }
    build.end();
    const memory_trial run{store};
    for (const unsigned threads : {1U, 3U}) {
        double sum = 0;
        std::size_t told = 0;
        std::size_t all = 0;
        for_each_tensor(run, {.collection = "losses", .range = {100, 200}}, reduction::mean,
                        [&](const reduced_tensor& found) {
                            sum += found.reductions(reduction::mean);
                            CHECK(found.name == "loss");
                            CHECK_FALSE(found.reductions.computed.contains(reduction::l2));
                        },
                        {.threads = threads, .progress = [&](std::size_t done, std::size_t of) {
                             told = done;
                             all = of;
                         }});
        CHECK(sum == 14'950);
        CHECK(told == 100);
        CHECK(all == 100);
        std::stop_source source;
        std::size_t seen = 0;
        CHECK_FALSE(for_each_tensor(run, {}, reduction::mean,
                                    [&](const reduced_tensor&) {
                                        ++seen;
                                        source.request_stop();
                                    },
                                    {.threads = threads, .stop = source.get_token()}));
        CHECK(seen > 0);
        CHECK(seen < 600);
        CHECK_THROWS_AS(
            for_each_tensor(run, {}, reduction::mean, [](const reduced_tensor&) { throw std::logic_error("mine"); },
                            {.threads = threads}),
            std::logic_error);
    }
}

namespace {

/// A run of one step with the tensor "c": `count` elements, of which the record holds only the first, 0.1.
memory_storage constant_run(std::size_t count) {
    const auto extent =
        messages::written([&](smdebug::detail::wire::field_writer& dim) { dim.write_varint(1, count); });
    const auto shape = messages::written([&](smdebug::detail::wire::field_writer& w) { w.write_bytes(2, extent); });
    const auto tensor = messages::written([&](smdebug::detail::wire::field_writer& w) {
        w.write_varint(1, 1);
        w.write_bytes(2, shape);
        w.write_float(5, 0.1F);
    });
    const auto value = messages::written([&](smdebug::detail::wire::field_writer& w) {
        w.write_text(1, "c");
        w.write_bytes(8, tensor);
    });
    const auto summary = messages::written([&](smdebug::detail::wire::field_writer& w) { w.write_bytes(1, value); });
    const auto event = messages::written([&](smdebug::detail::wire::field_writer& w) { w.write_bytes(5, summary); });
    std::vector<std::byte> bytes;
    record::append_record(bytes, event, record::footer_kind::checksum);
    memory_storage store;
    const written_step step{.tensors = {{.name = "c", .shape = {count}, .content = {}}}};
    run_builder{store}.collections().step(step).end();
    const std::string event_file = smdebug::detail::locations::event_key(0, step.worker);
    store.write(event_file, bytes);
    const std::string index = index_text(step, {{0, bytes.size()}}, event_file);
    store.write(smdebug::detail::locations::index_key(0, step.worker), as_bytes(index));
    return store;
}

/// Notes the largest block that it was given, in bytes.
struct noting_kernel {
    std::size_t* most;
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        *most = std::max(*most, tensor.bytes.size());
        return scalar_kernel{}.reduce(tensor, wanted);
    }
    [[nodiscard]] std::string name() const { return "noting"; }
};
struct repeating_kernel : noting_kernel {
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& held, std::size_t repeats,
                                                           reduction_set wanted) const {
        *most = std::max(*most, held.bytes.size());
        return scalar_kernel{}.reduce_repeated(held, repeats, wanted);
    }
};

template <class Kernel>
using memory_trial_with = basic_trial<memory_storage, event_decoder<>, Kernel>;

}  // namespace

TEST_CASE("for_each_tensor, tensor_handle: a tensor of 2^26 equal elements is reduced in a few KiB") {
    constexpr std::size_t count = std::size_t{1} << 26U;
    std::size_t most = 0;
    const memory_trial_with<repeating_kernel> run{constant_run(count), {}, {}, repeating_kernel{{&most}}};
    std::size_t seen = 0;
    for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& found) {
        ++seen;
        REQUIRE(found.failure == nullptr);
        CHECK(found.type == dtype::float32);
        REQUIRE(found.shape != nullptr);
        CHECK(*found.shape == shape_type{count});
        CHECK(found.reductions.count == count);
        CHECK(found.reductions(reduction::mean) == doctest::Approx(double{0.1F}).epsilon(1e-15));
        CHECK(found.reductions(reduction::max) == double{0.1F});
        CHECK(found.reductions(reduction::l1) == found.reductions(reduction::sum));
    });
    CHECK(seen == 1);
    const auto tensor = run.tensor("c");
    CHECK(tensor.reduction_value(0, reduction::sum) == doctest::Approx(count * double{0.1F}).epsilon(1e-15));
    const auto computed = tensor.find_computed(0, reduction::sum);
    REQUIRE(computed);
    CHECK(computed->count == count);
    CHECK(tensor.shape(0) == shape_type{count});
    CHECK(most > 0);
    CHECK(most <= std::size_t{64} << 10U);
}

TEST_CASE("for_each_tensor: a kernel that does not support repeats gets all elements") {
    std::size_t most = 0;
    const memory_storage store = constant_run(10'001);
    const memory_trial_with<noting_kernel> plain{store, {}, {}, noting_kernel{&most}};
    const memory_trial_with<repeating_kernel> repeating{store, {}, {}, repeating_kernel{{&most}}};
    const texts in_parts = lines(repeating, {}, reduction_set::all(), 1);
    const auto sum_in_parts = repeating.tensor("c").reduction_value(0, reduction::sum);
    CHECK(most == repeated_block * sizeof(float));
    CHECK(lines(plain, {}, reduction_set::all(), 1) == in_parts);
    CHECK(most == 10'001 * sizeof(float));
    CHECK(plain.tensor("c").reduction_value(0, reduction::sum) == sum_in_parts);
    std::size_t seen = 0;
    smdebug::detail::scan(smdebug::detail::state_of(plain), {}, [&](const smdebug::detail::scanned_tensor& tensor) {
        CHECK(tensor.repeats() == 0);
        CHECK(tensor.values()->view().count() == 10'001);
        ++seen;
    });
    smdebug::detail::scan(
        smdebug::detail::state_of(plain), {.reading = {.keep_repeats = true}},
        [&](const smdebug::detail::scanned_tensor& tensor) {
            CHECK(tensor.repeats() == 10'001 - repeated_block);
            CHECK(reduced(tensor, reduction::sum, noting_kernel{&most}).reductions(reduction::sum) == sum_in_parts);
            ++seen;
        });
    CHECK(seen == 2);
    CHECK(plain.tensor("c").value<float>(0).size() == 10'001);
}

TEST_CASE(
    "for_each_tensor: tensors of some MiB give the same from files in pieces as from memory, whatever is damaged") {
    std::vector<float> singles(700'000);
    std::vector<double> doubles(300'000, 1e200);
    std::vector<std::int64_t> integers(300'000);
    for (std::size_t i = 0; i < singles.size(); ++i) {
        singles[i] = static_cast<float>(i * 7919 % 1009) - 400;
        doubles[i % doubles.size()] *= i % 1000 == 0 ? -0.5 : 1;
        integers[i % integers.size()] += static_cast<std::int64_t>(i * 7919);
    }
    memory_storage objects;
    run_builder build{objects};
    build.collections();
    for (step_number step = 0; step < 6; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("small", {1, 2}),
                                tensor_of<float>("singles", singles),
                                tensor_of<float>("smdebug/reductions/mean/doubles", {5}, {}),
                                tensor_of<double>("doubles", doubles),
                                tensor_of<std::int64_t>("integers", integers),
                                {.name = "booleans",
                                 .type = dtype::boolean,
                                 .shape = {1'200'000},
                                 .content = std::vector<std::byte>(1'200'000, std::byte{1})},
                                tensor_of<float>("last", {3})},
                    .footers = record::footer_kind::checksum});
    }
    build.end();
    // Step 1: a byte of the values; 2: one after them; 3: cut within; 4: the length of a record.
    const auto damage = [&](step_number step, auto&& change) {
        const std::string key = smdebug::detail::locations::event_key(step, "worker_0");
        const byte_buffer before = objects.read(key);
        std::vector<std::byte> bytes(before.view().begin(), before.view().end());
        change(bytes);
        objects.write(key, bytes);
    };
    damage(1, [](std::vector<std::byte>& bytes) { bytes[1'500'000] ^= std::byte{1}; });
    damage(2, [](std::vector<std::byte>& bytes) { bytes[2'800'130] ^= std::byte{1}; });
    damage(3, [](std::vector<std::byte>& bytes) { bytes.resize(4'000'000); });
    damage(4, [](std::vector<std::byte>& bytes) {
        const std::string_view name = "singles";
        const auto place = std::search(bytes.begin(), bytes.end(), std::as_bytes(std::span{name}).begin(),
                                       std::as_bytes(std::span{name}).end());
        *(place - 20) ^= std::byte{1};
    });
    const temporary_folder folder;
    for (const std::string& key : objects.list("", "")) {
        folder.write(key, std::string{as_text(objects.read(key).view())});
    }
    const memory_trial held{objects};
    const local_trial read{folder.path()};
    for (const reduction_set wanted : {reduction_set::all(), reduction_set{reduction::mean}, reduction_set{}}) {
        const texts expected = lines(held, {}, wanted, 1);
        CHECK(expected.size() == 36);
        CHECK(std::ranges::count_if(
                  expected, [](const std::string& line) { return line.find("failed") != std::string::npos; }) >= 5);
        for (const unsigned threads : {1U, 2U}) {
            CHECK(lines(read, {}, wanted, threads) == expected);
        }
        texts in_pieces;
        std::size_t streamed = 0;
        smdebug::detail::scan(
            smdebug::detail::state_of(read),
            {.saved = wanted, .reading = {.defer_checks = true, .keep_repeats = true, .stream = true}},
            [&](const smdebug::detail::scanned_tensor& tensor) {
                streamed += std::holds_alternative<smdebug::detail::value_stream*>(tensor.content) ? 1U : 0U;
                in_pieces.push_back(line_of(reduced(tensor, wanted, smdebug::detail::state_of(read)->kernel())));
            });
        CHECK(in_pieces == expected);
        CHECK(streamed >= 12);
    }
}
