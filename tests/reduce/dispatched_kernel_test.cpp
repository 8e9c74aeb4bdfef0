#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include <reduce/answers.hpp>
#include <reduce/corpus.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug;
using reduce_test::same_bits;

static_assert(reduction_kernel<dispatched_kernel> && repeating_reducer<dispatched_kernel>);
static_assert(std::is_nothrow_default_constructible_v<dispatched_kernel>);
static_assert(std::is_trivially_copyable_v<dispatched_kernel> && sizeof(dispatched_kernel) == sizeof(void*));
static_assert(!std::is_convertible_v<const reduce::detail::compiled_kernel&, dispatched_kernel>);

namespace {

void check_against_scalar(const reduce_test::owned_tensor& tensor) {
    constexpr std::array sets{reduction_set::all(), reduction_set{reduction::mean},
                              reduction_set{reduction::min} | reduction_set{reduction::l1}};
    for (const reduction_set set : sets) {
        const auto wanted = scalar_kernel{}.reduce(tensor.view(), set);
        REQUIRE(wanted.ok());
        for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
            const auto found = kernel.reduce(tensor.view(), set);
            REQUIRE(found.ok());
            CAPTURE(kernel.name());
            CAPTURE(name_of(tensor.view().type));
            CAPTURE(tensor.view().count());
            CHECK(same_bits(*found, *wanted));
        }
    }
}

/// Around everything that has a boundary: vectors, rows, groups, blocks.
constexpr std::array<std::size_t, 15> lengths{0, 1, 3, 7, 15, 16, 17, 33, 127, 129, 2047, 2048, 2049, 4096 + 15, 7001};

/// Those that are available, and one that has to see all of a tensor together.
std::vector<dispatched_kernel> all_kernels() {
    static constexpr reduce::detail::compiled_kernel plain{
        "plain",
        [](const tensor_view& tensor, reduction_set wanted, const byte_watch* watch, reduction_values& out) noexcept {
            return scalar_kernel{}.reduce_into(tensor, wanted, watch, out);
        }};
    std::vector<dispatched_kernel> kernels{dispatched_kernel{plain}};
    for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
        kernels.push_back(kernel);
    }
    return kernels;
}

}  // namespace

TEST_CASE(
    "dispatched_kernel: floats, integers, booleans and complex numbers, bit for bit what the scalar kernel answers") {
    reduce_test::for_each_tensor(lengths, check_against_scalar);
}

TEST_CASE("dispatched_kernel: NaN and infinities, bit for bit") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto type : {dtype::float32, dtype::float64}) {
        for (const std::size_t length : {1U, 17U, 70U, 2048U + 33U}) {
            for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
                for (const double special : {nan, inf, -inf}) {
                    auto values = reduce_test::numbers(reduce_test::kind::uniform, length, reduce_test::single_range);
                    values[at] = special;
                    check_against_scalar(reduce_test::float_tensor(type, values, at % 4));
                    values[length - 1 - at] = inf;
                    check_against_scalar(reduce_test::float_tensor(type, values));
                }
            }
        }
    }
}

TEST_CASE("dispatched_kernel: strings are unsupported") {
    const std::array<std::string_view, 1> words{"a"};
    tensor_view tensor;
    tensor.type = dtype::string;
    tensor.strings = words;
    for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
        CHECK(kernel.reduce(tensor, reduction_set::all()).code() == status::unsupported);
    }
}

TEST_CASE("dispatched_kernel: the best that this CPU has") {
    std::string best = "scalar";
    std::size_t count = 1;
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    best = avx512 ? "avx512bw" : (avx2 ? "avx2" : "sse2");
    count = avx512 ? 3 : (avx2 ? 2 : 1);
    CHECK(dispatched_kernel::named("sse2"));
#elif defined(__aarch64__)
    best = "neon64";
#endif
    CHECK(dispatched_kernel{}.instruction_set() == best);
    CHECK(dispatched_kernel{}.name() == "dispatched<" + best + ">");
    CHECK(dispatched_kernel::available().size() == count);
    CHECK(dispatched_kernel::available().front().name() == dispatched_kernel{}.name());
}

TEST_CASE("dispatched_kernel: each is found by its name, and no two have the same") {
    std::vector<std::string> names;
    for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
        const auto found = dispatched_kernel::named(kernel.instruction_set());
        REQUIRE(found);
        CHECK(found->name() == kernel.name());
        names.push_back(kernel.name());
    }
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    for (const char* other : {"", "avx", "dispatched<sse2>", "SSE2"}) {
        CHECK_FALSE(dispatched_kernel::named(other));
    }
}

TEST_CASE("dispatched_kernel: copies and code of your own") {
    static constexpr reduce::detail::compiled_kernel refuses{
        "none", [](const tensor_view&, reduction_set, const byte_watch*, reduction_values&) noexcept {
            return status::no_value;
        }};
    constexpr dispatched_kernel mine{refuses};
    dispatched_kernel copy;
    CHECK(copy.name() != mine.name());
    copy = mine;
    CHECK(copy.name() == "dispatched<none>");
    CHECK(copy.reduce({}, reduction_set::all()).code() == status::no_value);
    reduction_values in_place;
    CHECK(copy.reduce_into({}, reduction_set::all(), nullptr, in_place) == status::no_value);
}

TEST_CASE("dispatched_kernel: a watch is shown the bytes") {
    const std::vector<float> numbers(10'000, 2.0F);
    const reduce_test::owned_tensor tensor(dtype::float32, numbers);
    for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
        std::size_t shown = 0;
        const auto note = [&](byte_view piece) { shown += piece.size(); };
        const auto found = kernel.reduce(tensor.view(), reduction::sum, byte_watch{note});
        CHECK((*found)(reduction::sum) == 20'000);
        CHECK(shown == 40'000);
        const byte_watch watch{note};
        reduction_values in_place;
        CHECK(kernel.reduce_into(tensor.view(), reduction::sum, &watch, in_place) == status::ok);
        CHECK(in_place.value[reduction_key{reduction::sum}.index()] == 20'000);
        CHECK(shown == 80'000);
    }
}

TEST_CASE("dispatched_kernel: a tensor whose bytes are fed, also with code that has to see all of them together") {
    std::vector<float> numbers(10'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(i * 7919 % 1009) - 400;
    }
    const reduce_test::owned_tensor tensor(dtype::float32, numbers);
    const byte_view all = tensor.view().bytes;
    const auto whole = *scalar_kernel{}.reduce(tensor.view(), reduction_set::all());
    for (const dispatched_kernel& kernel : all_kernels()) {
        CAPTURE(kernel.name());
        const auto feed = [&](std::size_t begin, std::size_t least) {
            return all.subspan(begin, std::min(std::max<std::size_t>(least, 10'001), all.size() - begin));
        };
        const auto fed = kernel.reduce_fed({dtype::float32, all.size(), feed}, reduction_set::all());
        REQUIRE(fed.ok());
        CHECK(same_bits(*fed, whole));
        const auto nothing = [](std::size_t, std::size_t) { return byte_view{}; };
        CHECK(kernel.reduce_fed({dtype::float32, 8, nothing}, reduction_set::all()).code() == status::truncated);
    }
}

TEST_CASE("dispatched_kernel: a tensor whose last value repeats, also with code that has to see all of it") {
    reduce_test::for_each_repeated([&](const reduce_test::repeated_tensor& tensor) {
        if (tensor.count() != 3 * repeated_block) {
            return;
        }
        const std::vector<std::byte> bytes = tensor.held_bytes();
        const tensor_view held{tensor.type, {}, bytes, {}};
        const auto whole = *scalar_kernel{}.reduce(tensor.whole(), reduction_set::all());
        for (const dispatched_kernel& kernel : all_kernels()) {
            CAPTURE(kernel.name());
            CHECK(same_bits(*kernel.reduce_repeated(held, tensor.repeats(), reduction_set::all()), whole));
        }
    });
}
#include <smdebug/core/strict_math/end.ipp>
