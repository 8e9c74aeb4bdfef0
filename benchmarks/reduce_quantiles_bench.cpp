// Quantiles and histograms of float32 beside what the standard library offers for them.
//   reduce_quantiles_bench [rounds = 5]
#include "bench.hpp"
#include "micro_bench.hpp"

#include <smdebug/reduce/bins.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

constexpr std::array<double, 5> five{0.05, 0.25, 0.5, 0.75, 0.95};

std::vector<float> numbers(const std::string& kind, std::size_t count) {
    std::mt19937_64 random(42);
    std::normal_distribution<float> normal(0.F, 0.05F);
    std::uniform_real_distribution<float> uniform(0.F, 1.F);
    std::vector<float> values(count);
    for (float& value : values) {
        value = kind == "normal"    ? normal(random)
                : kind == "uniform" ? uniform(random)
                : kind == "relu"    ? std::max(0.F, normal(random))
                                    : 0.25F;
    }
    return values;
}

void print(const std::string& name, const std::vector<bench::subject>& subjects, std::size_t bytes) {
    for (const bench::subject& one : subjects) {
        const double taken = bench::median(one.times);
        std::printf("  %-34s %-38s %10.1f us %7.2f GB/s\n", name.c_str(), one.name.c_str(), taken * 1e6,
                    static_cast<double>(bytes) / taken * 1e-9);
    }
}

void quantiles_of(const std::string& kind, std::size_t count, int rounds) {
    const std::vector<float> values = numbers(kind, count);
    const std::array<std::size_t, 1> shape{count};
    const smd::tensor_view view{smd::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
    std::vector<float> copy(count);
    const auto ours = [&](std::span<const double> q) { bench::keep((*smd::quantiles(view, q))[0]); };
    std::vector<bench::subject> subjects{
        {"ours, the median", [&] { ours(std::span{five}.subspan(2, 1)); }},
        {"ours, 5 quantiles", [&] { ours(five); }},
        {"copy + std::nth_element, one rank",
         [&] {
             copy = values;
             const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(count / 2);
             std::nth_element(copy.begin(), middle, copy.end());
             bench::keep(static_cast<double>(*middle));
         }},
        {"copy + std::sort",
         [&] {
             copy = values;
             std::sort(copy.begin(), copy.end());
             bench::keep(static_cast<double>(copy[count / 2]));
         }},
    };
    bench::run_micro(subjects, rounds);
    print("quantiles/" + kind + "/f32/n=" + std::to_string(count), subjects, count * sizeof(float));
}

void histogram_of(const std::string& kind, std::size_t count, int rounds) {
    const std::vector<float> values = numbers(kind, count);
    const std::array<std::size_t, 1> shape{count};
    const smd::tensor_view view{smd::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
    const std::vector<double> edges = smd::reduce::detail::default_slots::edges();
    std::vector<std::uint64_t> counts(edges.size() + 1);
    const auto sum_of = [](const auto& found) { bench::keep(found->sum); };
    std::vector<bench::subject> subjects{
        {"default bins, simd kernel",
         [&] { sum_of(smd::histogram_of(view, smd::default_bins{}, {}, smd::simd_kernel<>{})); }},
        {"default bins, scalar kernel", [&] { sum_of(smd::histogram_of(view)); }},
        {"30 equal bins, simd kernel",
         [&] { sum_of(smd::histogram_of(view, smd::equal_bins{30}, {}, smd::simd_kernel<>{})); }},
        {"1548 given bins, simd kernel",
         [&] { sum_of(smd::histogram_of(view, smd::edge_bins{edges}, {}, smd::simd_kernel<>{})); }},
        {"std::upper_bound, counts only",
         [&] {
             for (const float value : values) {
                 ++counts[static_cast<std::size_t>(
                     std::upper_bound(edges.begin(), edges.end(), static_cast<double>(value)) - edges.begin())];
             }
             bench::keep(static_cast<double>(counts[edges.size() / 2]));
         }},
    };
    bench::run_micro(subjects, rounds);
    print("histogram/" + kind + "/f32/n=" + std::to_string(count), subjects, count * sizeof(float));
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 5));
    for (const std::size_t count :
         {std::size_t{1} << 12U, std::size_t{1} << 16U, std::size_t{1} << 20U, std::size_t{1} << 24U}) {
        for (const char* kind : {"normal", "uniform", "relu", "constant"}) {
            quantiles_of(kind, count, rounds);
        }
        for (const char* kind : {"normal", "uniform", "relu", "constant"}) {
            histogram_of(kind, count, rounds);
        }
    }
    return 0;
}
