#include <smdebug/hook/tensorboard_writer.hpp>

#include <doctest/doctest.h>
#include <reduce/corpus.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace std::chrono_literals;
using reduce_test::owned_tensor;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// --- a reader of event files that shares nothing with the library ---------------------------------------------------

std::uint32_t plain_crc32c(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
        }
    }
    return ~crc;
}

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U; }

template <class T>
T number_at(std::string_view bytes, std::size_t at = 0) {
    REQUIRE(at + sizeof(T) <= bytes.size());
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof(T));
    return number;
}

/// The payloads of a file, each with true checksums.
std::vector<std::string> payloads(std::string_view file) {
    std::vector<std::string> found;
    while (!file.empty()) {
        const auto length = number_at<std::uint64_t>(file);
        REQUIRE(number_at<std::uint32_t>(file, 8) == masked(plain_crc32c(file.substr(0, 8))));
        REQUIRE(length + 16 <= file.size());
        found.emplace_back(file.substr(12, length));
        REQUIRE(number_at<std::uint32_t>(file, 12 + length) == masked(plain_crc32c(found.back())));
        file.remove_prefix(16 + length);
    }
    return found;
}

/// A message: number of a field -> its contents, in order.
using message = std::map<unsigned, std::vector<std::string>>;

std::uint64_t take_number(std::string_view& rest) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        REQUIRE(!rest.empty());
        const auto byte = static_cast<unsigned char>(rest.front());
        rest.remove_prefix(1);
        number |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) {
            return number;
        }
    }
}

message parsed(std::string_view rest) {
    message fields;
    while (!rest.empty()) {
        const std::uint64_t tag = take_number(rest);
        std::size_t length = 0;
        switch (tag & 7U) {
            case 0: {
                const std::uint64_t number = take_number(rest);
                fields[static_cast<unsigned>(tag >> 3U)].emplace_back(reinterpret_cast<const char*>(&number), 8);
                continue;
            }
            case 1:
                length = 8;
                break;
            case 2:
                length = take_number(rest);
                break;
            default:
                REQUIRE((tag & 7U) == 5);
                length = 4;
        }
        REQUIRE(length <= rest.size());
        fields[static_cast<unsigned>(tag >> 3U)].emplace_back(rest.substr(0, length));
        rest.remove_prefix(length);
    }
    return fields;
}

double double_of(const message& fields, unsigned number) {
    const auto found = fields.find(number);
    return found == fields.end() ? 0.0 : number_at<double>(found->second.at(0));
}

std::vector<double> list_of(const message& fields, unsigned number) {
    std::vector<double> list;
    if (const auto found = fields.find(number); found != fields.end()) {
        for (std::size_t at = 0; at < found->second.at(0).size(); at += 8) {
            list.push_back(number_at<double>(found->second[0], at));
        }
    }
    return list;
}

struct read_value {
    double wall_time = 0;
    std::int64_t step = 0;
    std::string tag;
    std::optional<float> scalar;
    std::optional<message> histogram;
};

/// The values of a file.  Checks that its version comes first, and only there.
std::vector<read_value> values_in(memory_storage& store, const std::string& key) {
    const byte_buffer file = store.read(key);
    std::vector<read_value> found;
    bool first = true;
    for (const std::string& payload : payloads(as_text(file.view()))) {
        const message event = parsed(payload);
        CHECK(event.contains(3) == first);
        if (first) {
            CHECK(event.at(3) == std::vector<std::string>{"brain.Event:2"});
            first = false;
            continue;
        }
        const message summary = parsed(event.at(5).at(0));
        for (const std::string& one : summary.at(1)) {
            const message value = parsed(one);
            read_value& read = found.emplace_back();
            read.wall_time = double_of(event, 1);
            read.step = event.contains(2) ? number_at<std::int64_t>(event.at(2).at(0)) : 0;
            read.tag = value.at(1).at(0);
            if (value.contains(2)) {
                read.scalar = number_at<float>(value.at(2).at(0));
            }
            if (value.contains(5)) {
                read.histogram = parsed(value.at(5).at(0));
            }
        }
    }
    return found;
}

// --- making files
// -----------------------------------------------------------------------------------------------------

record_stamp at_step(step_number step, smdebug::mode which = smdebug::mode::train) {
    return {.wall_time = 1000 + static_cast<double>(step), .step = step, .mode = which, .mode_step = step};
}

/// A place that writes into a storage of any kind.
template <class Storage>
smdebug::tensorboard_place into(Storage store) {
    return [store](const std::string& key, smdebug::byte_view bytes) mutable { store.write(key, bytes); };
}

tensorboard_writer writer_to(const memory_storage& store, tensorboard_writer_options options = {}) {
    return {into(store), "worker_0", options};
}

/// What a tensor's histogram is after a way through a file, which every such histogram must pass.
message through_a_file(const tensor_view& tensor) {
    memory_storage store;
    auto writer = writer_to(store);
    REQUIRE(writer.add_histogram(at_step(4), "weights/w", tensor));
    writer.close();
    const auto values = values_in(store, "TRAIN/000000000004_worker_0.tfevents");
    REQUIRE(values.size() == 1);
    REQUIRE(values[0].histogram.has_value());
    CHECK(values[0].tag == "weights/w");
    const message histogram = *values[0].histogram;
    for (const unsigned field : {1U, 2U, 3U, 4U, 5U}) {
        CHECK(std::isfinite(double_of(histogram, field)));
    }
    const std::vector<double> limits = list_of(histogram, 6);
    const std::vector<double> buckets = list_of(histogram, 7);
    REQUIRE(!limits.empty());
    CHECK(limits.size() == buckets.size());
    CHECK(std::all_of(limits.begin(), limits.end(), [](double limit) { return std::isfinite(limit); }));
    CHECK(std::adjacent_find(limits.begin(), limits.end(), [](double a, double b) { return !(a < b); }) ==
          limits.end());
    CHECK(std::accumulate(buckets.begin(), buckets.end(), 0.0) == double_of(histogram, 3));
    CHECK(buckets.front() == 0);
    CHECK(buckets.back() > 0);
    CHECK(limits.front() <= double_of(histogram, 1));
    CHECK(limits.back() >= double_of(histogram, 2));
    return histogram;
}

template <class T>
void check_small_numbers(dtype type, const std::vector<T>& values) {
    INFO(name_of(type));
    const message histogram = through_a_file(owned_tensor(type, values, 1).view());
    CHECK(double_of(histogram, 1) == 0);
    CHECK(double_of(histogram, 2) == 3);
    CHECK(double_of(histogram, 3) == 4);
    CHECK(double_of(histogram, 4) == 6);
    CHECK(double_of(histogram, 5) == doctest::Approx(14).epsilon(1e-9));
}

/// Refuses to write while told so.
class failing_storage {
public:
    [[nodiscard]] byte_buffer read(std::string_view key) const { return store.read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return store.read(key, where); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return store.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return store.size(key); }
    [[nodiscard]] std::string name() const { return store.name(); }
    void write(std::string_view key, byte_view bytes) {
        if (*fails) {
            throw unavailable("the disk is full", {.where = std::string{key}});
        }
        store.write(key, bytes);
    }

    memory_storage store;
    const bool* fails;
};

}  // namespace

TEST_CASE("tensorboard_writer: scalars come with mode, step, time and cleaned tag") {
    memory_storage store;
    auto writer = writer_to(store);
    writer.add_scalar(at_step(0), "CrossEntropyLoss_output:0", 0.75F);
    writer.add_scalar(at_step(0), "scalar/learning rate", 0.0F);
    writer.add_scalar(at_step(0, mode::eval), "/accuracy", -1.5F);
    writer.end_step(1000);
    CHECK(store.list("", "") ==
          std::vector<std::string>{"EVAL/000000000000_worker_0.tfevents", "TRAIN/000000000000_worker_0.tfevents"});

    const auto train = values_in(store, "TRAIN/000000000000_worker_0.tfevents");
    REQUIRE(train.size() == 2);
    CHECK(train[0].tag == "CrossEntropyLoss_output_0");
    CHECK(train[0].scalar == 0.75F);
    CHECK(train[0].step == 0);
    CHECK(train[0].wall_time == 1000);
    CHECK(train[1].tag == "scalar/learning_rate");
    CHECK(train[1].scalar == 0.0F);
    const auto eval = values_in(store, "EVAL/000000000000_worker_0.tfevents");
    REQUIRE(eval.size() == 1);
    CHECK(eval[0].tag == "accuracy");
    CHECK(eval[0].scalar == -1.5F);
}

TEST_CASE("tensorboard_writer: a file each step, named by its first step, mode and worker") {
    memory_storage store;
    tensorboard_writer writer{into(store), "/job:worker/replica:0/task:1/device:GPU:0"};
    for (const step_number step : {7, 8, 1'234'567}) {
        writer.add_scalar(at_step(step, mode::global), "loss", 1);
        writer.end_step(0);
    }
    CHECK(store.list("", "") ==
          std::vector<std::string>{"GLOBAL/000000000007__job-worker_replica-0_task-1_device-GPU-0.tfevents",
                                   "GLOBAL/000000000008__job-worker_replica-0_task-1_device-GPU-0.tfevents",
                                   "GLOBAL/000001234567__job-worker_replica-0_task-1_device-GPU-0.tfevents"});
}

TEST_CASE("tensorboard_writer: with an interval, the first step at once and then all of it in one file") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 10s});
    for (step_number step = 0; step < 25; ++step) {
        writer.add_scalar(at_step(step), "loss", static_cast<float>(step));
        writer.end_step(at_step(step).wall_time);
    }
    CHECK(store.list("", "") == std::vector<std::string>{"TRAIN/000000000000_worker_0.tfevents",
                                                         "TRAIN/000000000001_worker_0.tfevents",
                                                         "TRAIN/000000000011_worker_0.tfevents"});
    CHECK(values_in(store, "TRAIN/000000000001_worker_0.tfevents").size() == 10);
    CHECK(writer.held_bytes() > 0);
    writer.close();
    CHECK(writer.held_bytes() == 0);
    const auto last = values_in(store, "TRAIN/000000000021_worker_0.tfevents");
    REQUIRE(last.size() == 4);
    CHECK(last[3].step == 24);
    CHECK(last[3].scalar == 24.0F);
}

TEST_CASE("tensorboard_writer: steps that have nothing make nothing wait") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 100ms});
    for (const double time : {1.7e9 + 0.3, 1.7e9 + 0.35}) {
        writer.end_step(time);
    }
    writer.add_scalar(at_step(2), "loss", 1);
    writer.end_step(1.7e9 + 0.4);
    CHECK(store.list("", "").size() == 1);
}

TEST_CASE("tensorboard_writer: a clock that is put back makes nothing wait") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 10s});
    writer.add_scalar(at_step(0), "loss", 1);
    writer.end_step(5000);
    writer.add_scalar(at_step(1), "loss", 1);
    writer.end_step(5001);
    CHECK(store.list("", "").size() == 1);
    writer.end_step(4000);
    CHECK(store.list("", "").size() == 2);
}

TEST_CASE("tensorboard_writer: what is held is bounded, whatever the interval") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 1h, .max_bytes = 2000});
    std::size_t largest = 0;
    for (step_number step = 0; step < 100; ++step) {
        writer.add_scalar(at_step(step), "loss", 1);
        writer.add_scalar(at_step(step, mode::eval), "loss", 1);
        writer.end_step(1);
        largest = std::max(largest, writer.held_bytes());
    }
    CHECK(largest < 2000);
    writer.close();
    std::size_t train = 0;
    std::size_t eval = 0;
    for (const std::string& key : store.list("", "")) {
        (key.starts_with("TRAIN/") ? train : eval) += values_in(store, key).size();
    }
    CHECK(train == 100);
    CHECK(eval == 100);
    CHECK(store.list("", "").size() < 20);
}

TEST_CASE("tensorboard_writer: nothing to write leaves no file") {
    memory_storage store;
    auto writer = writer_to(store);
    writer.end_step(0);
    writer.close();
    writer.close();
    CHECK(store.list("", "").empty());
}

TEST_CASE("tensorboard_writer: what could not be written is held, and written by the next call") {
    bool fails = true;
    failing_storage store{.store = {}, .fails = &fails};
    memory_storage& objects = store.store;
    tensorboard_writer writer{into(store), "worker_0"};
    writer.add_scalar(at_step(1), "loss", 1);
    CHECK_THROWS_AS(writer.end_step(0), unavailable);
    writer.add_scalar(at_step(2), "loss", 2);
    CHECK_THROWS_AS(writer.close(), unavailable);
    CHECK(objects.list("", "").empty());
    fails = false;
    writer.end_step(0);
    CHECK(values_in(objects, "TRAIN/000000000001_worker_0.tfevents").size() == 2);
}

TEST_CASE("tensorboard_writer: what is held stays bounded where nothing can be written") {
    bool fails = true;
    failing_storage store{.store = {}, .fails = &fails};
    memory_storage& objects = store.store;
    tensorboard_writer writer{into(store), "worker_0", {.max_bytes = 1000}};
    for (step_number step = 0; step < 100; ++step) {
        writer.add_scalar(at_step(step), "loss", 1);
        CHECK_THROWS_AS(writer.end_step(0), unavailable);
        CHECK(writer.held_bytes() < 1000);
    }
    fails = false;
    writer.add_scalar(at_step(100), "loss", 1);
    writer.end_step(0);
    REQUIRE(objects.list("", "").size() == 1);
    const auto values = values_in(objects, objects.list("", "")[0]);
    CHECK(values.back().step == 100);
    CHECK(values.size() < 40);
}

TEST_CASE("tensorboard_writer: a histogram as the Python package writes it") {
    const message histogram =
        through_a_file(owned_tensor(dtype::float64, std::vector<double>{1.0, 1.05, 1.1, 2.0, 1.0}).view());
    CHECK(double_of(histogram, 1) == 1);
    CHECK(double_of(histogram, 2) == 2);
    CHECK(double_of(histogram, 3) == 5);
    CHECK(double_of(histogram, 4) == doctest::Approx(6.15).epsilon(1e-15));
    CHECK(double_of(histogram, 5) == doctest::Approx(8.3125).epsilon(1e-15));
    // But one bucket in place of the six empty ones in a row.
    CHECK(list_of(histogram, 6) == std::vector<double>{0x1.d5a1519699908p-1, 0x1.024becdfa142bp+0, 0x1.1c20515c64963p+0,
                                                       0x1.f758d2ecd94dcp+0, 0x1.14d740cf111e0p+1});
    CHECK(list_of(histogram, 7) == std::vector<double>{0, 2, 2, 0, 1});
}

TEST_CASE("tensorboard_writer: every type of numbers has histograms") {
    check_small_numbers(dtype::float32, std::vector<float>{0, 1, 2, 3});
    check_small_numbers(dtype::float64, std::vector<double>{0, 1, 2, 3});
    check_small_numbers(dtype::float16, std::vector<std::uint16_t>{0, 0x3C00, 0x4000, 0x4200});
    check_small_numbers(dtype::bfloat16, std::vector<std::uint16_t>{0, 0x3F80, 0x4000, 0x4040});
    check_small_numbers(dtype::float8_e4m3fn, std::vector<std::uint8_t>{0, 0x38, 0x40, 0x44});
    check_small_numbers(dtype::float8_e5m2, std::vector<std::uint8_t>{0, 0x3C, 0x40, 0x42});
    check_small_numbers(dtype::int8, std::vector<std::int8_t>{0, 1, 2, 3});
    check_small_numbers(dtype::int16, std::vector<std::int16_t>{0, 1, 2, 3});
    check_small_numbers(dtype::int32, std::vector<std::int32_t>{0, 1, 2, 3});
    check_small_numbers(dtype::int64, std::vector<std::int64_t>{0, 1, 2, 3});
    check_small_numbers(dtype::uint8, std::vector<std::uint8_t>{0, 1, 2, 3});
    check_small_numbers(dtype::uint16, std::vector<std::uint16_t>{0, 1, 2, 3});
    check_small_numbers(dtype::uint32, std::vector<std::uint32_t>{0, 1, 2, 3});
    check_small_numbers(dtype::uint64, std::vector<std::uint64_t>{0, 1, 2, 3});
}

TEST_CASE("tensorboard_writer: tensors that are empty, of booleans, complex numbers or strings have no histogram") {
    memory_storage store;
    auto writer = writer_to(store);
    const auto refused = [&](const tensor_view& tensor) { return !writer.add_histogram(at_step(0), "t", tensor); };
    CHECK(refused(owned_tensor(dtype::float32, std::vector<float>{}).view()));
    CHECK(refused(owned_tensor(dtype::boolean, std::vector<std::uint8_t>{0, 1}).view()));
    CHECK(refused(owned_tensor(dtype::complex64, std::vector<std::complex<float>>{{1, 2}}).view()));
    CHECK(refused(owned_tensor(dtype::complex128, std::vector<std::complex<double>>{{1, 2}}).view()));
    const std::array<std::string_view, 1> texts{"text"};
    const std::array<std::size_t, 1> shape{1};
    CHECK(refused({dtype::string, shape, {}, texts}));
    CHECK(refused(owned_tensor(dtype::float64, std::vector<double>{not_a_number, inf, -inf}).view()));
    writer.close();
    CHECK(store.list("", "").empty());
}

TEST_CASE("tensorboard_writer: a histogram leaves NaN and infinities out") {
    const std::vector<double> some{not_a_number, 1, inf, -2, -inf, -not_a_number, 4};
    const message wide = through_a_file(owned_tensor(dtype::float64, some).view());
    CHECK(double_of(wide, 1) == -2);
    CHECK(double_of(wide, 2) == 4);
    CHECK(double_of(wide, 3) == 3);
    CHECK(double_of(wide, 4) == 3);
    CHECK(double_of(wide, 5) == doctest::Approx(21).epsilon(1e-12));

    const message single =
        through_a_file(owned_tensor(dtype::float32, std::vector<float>(some.begin(), some.end())).view());
    CHECK(single == wide);
    const std::vector<std::uint16_t> halves{0x7E00, 0x3C00, 0x7C00, 0xC000, 0xFC00, 0xFE00, 0x4400};
    CHECK(through_a_file(owned_tensor(dtype::float16, halves).view()) == wide);
    const std::vector<std::uint16_t> brains{0x7FC0, 0x3F80, 0x7F80, 0xC000, 0xFF80, 0xFFC0, 0x4080};
    CHECK(through_a_file(owned_tensor(dtype::bfloat16, brains).view()) == wide);
    const std::vector<std::uint8_t> eighths{0x7E, 0x3C, 0x7C, 0xC0, 0xFC, 0xFE, 0x44};
    CHECK(through_a_file(owned_tensor(dtype::float8_e5m2, eighths).view()) == wide);
}

TEST_CASE("tensorboard_writer: numbers beyond the default bins have buckets, with limits that TensorBoard can show") {
    constexpr double last = reduce::detail::default_edges.back();
    for (const double beyond : {last, std::nextafter(last, inf), 1e20, 1e25, 3e38}) {
        for (const double sign : {1.0, -1.0}) {
            INFO(beyond * sign);
            const message histogram =
                through_a_file(owned_tensor(dtype::float64, std::vector<double>{1, sign * beyond, 1}).view());
            CHECK(double_of(histogram, 3) == 3);
            for (const double limit : list_of(histogram, 6)) {
                CHECK(std::fabs(limit) <= static_cast<double>(std::numeric_limits<float>::max()));
            }
        }
    }
    constexpr double largest = std::numeric_limits<double>::max();
    const std::vector<double> both{largest, -largest, largest};
    const message histogram = through_a_file(owned_tensor(dtype::float64, both).view());
    CHECK(double_of(histogram, 1) == -largest);
    CHECK(double_of(histogram, 2) == largest);
    CHECK(double_of(histogram, 5) == largest);
}

TEST_CASE("tensorboard_writer: however a tensor is spread, its buckets are few, and no quantile is far off") {
    reduce_test::random_bits random{11};
    for (const std::size_t count : {1U, 2U, 64U, 128U, 4096U, 100'000U}) {
        for (const int kind : {0, 1, 2}) {
            INFO(count << " numbers, kind " << kind);
            std::vector<double> numbers;
            for (std::size_t i = 0; i < count; ++i) {
                const double one = random.symmetric();
                // Evenly; over many powers of ten on both sides of zero; all but a few in one place.
                numbers.push_back(kind == 0   ? one
                                  : kind == 1 ? std::copysign(std::pow(10, 15 * one), random.symmetric())
                                              : (i % 50 == 0 ? 1000 * one : 1 + one / 1e4));
            }
            const owned_tensor tensor(dtype::float64, numbers);
            static_cast<void>(through_a_file(tensor.view()));
            const auto found = tensorboard_histogram(tensor.view());
            REQUIRE(found.has_value());
            REQUIRE(found->buckets.size() == found->bucket_limits.size());
            CHECK(found->buckets.size() <= 130);
            // What the buckets hold is what lies between their limits, and a bucket that was joined holds few.
            std::sort(numbers.begin(), numbers.end());
            const auto all = histogram_of(tensor.view(), default_bins{.open_ends = true});
            REQUIRE(all.ok());
            std::size_t at = 0;
            std::uint64_t sum = 0;
            std::uint64_t most_in_one = *std::max_element(all->buckets.begin(), all->buckets.end());
            most_in_one = std::max<std::uint64_t>(most_in_one, count / 32);
            for (std::size_t i = 0; i < found->buckets.size(); ++i) {
                for (; at < count && numbers[at] < found->bucket_limits[i]; ++at) {
                }
                sum += found->buckets[i];
                CHECK(found->buckets[i] <= most_in_one);
                CHECK((i + 1 == found->buckets.size() ? count : at) == sum);
            }
        }
    }
}

TEST_CASE("tensorboard_writer: any kernel counts alike") {
    std::vector<float> numbers;
    reduce_test::random_bits random{7};
    for (int i = 0; i < 20'000; ++i) {
        numbers.push_back(static_cast<float>(random.symmetric()));
    }
    const owned_tensor tensor(dtype::float32, numbers);
    const auto plain = tensorboard_histogram(tensor.view());
    const auto fast = tensorboard_histogram(tensor.view(), simd_kernel<>{});
    REQUIRE(plain.has_value());
    REQUIRE(fast.has_value());
    CHECK(plain->buckets == fast->buckets);
    CHECK(plain->bucket_limits == fast->bucket_limits);
    CHECK(plain->sum == fast->sum);
    CHECK(plain->sum_squares == fast->sum_squares);
}
