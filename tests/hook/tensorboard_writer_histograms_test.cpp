// The histograms in TensorBoard's event files.
#include <smdebug/hook/tensorboard_writer.hpp>

#include "hook/tensorboard_writer_fixture.hpp"

#include "support/test.hpp"

#include <reduce/corpus.hpp>

#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::tensorboard_files;
using reduce_test::owned_tensor;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

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
}  // namespace

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
