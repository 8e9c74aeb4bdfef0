// Digests by every instruction set of smdebug::kernels that this CPU has, of tensors in the caches and one in memory,
// beside the limit: a plain SIMD sum of the same floats.  Then together with reductions: in one pass, and in two.
//   reduce_digest_bench [rounds = 9]
#include "bench.hpp"
#include "micro_bench.hpp"
#include "plain_sum.hpp"

#include <reduce/corpus.hpp>

#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

void keep(std::int64_t value) { asm volatile("" : : "r"(value) : "memory"); }

/// Both in one pass, as a hook does it.
void reduce_and_digest(const smd::dispatched_kernel& kernel, const smd::tensor_view& view, smd::reduction_set wanted) {
    smd::reduce::detail::running_digest<smd::dispatched_kernel> digest{kernel};
    const auto look = [&](smd::byte_view piece) { digest.add(piece); };
    bench::keep((*kernel.reduce(view, wanted, smd::byte_watch{look})).value[0]);
    keep(digest.value(view.type, view.shape));
}

void measure(const std::string& label, const smd::tensor_view& view, int rounds) {
    std::vector<bench::subject> subjects;
    subjects.push_back(
        {"limit: reading", [=] { bench::keep(bench::plain_sum(view.bytes.data(), view.bytes.size())); }});
    subjects.push_back({"plain loops", [=] { keep(smd::digest_of(view)); }});
    for (const smd::dispatched_kernel& kernel : smd::dispatched_kernel::available()) {
        subjects.push_back({std::string{kernel.instruction_set()}, [=] { keep(smd::digest_of(view, kernel)); }});
    }
    const smd::dispatched_kernel best;
    for (const auto& [name, wanted] : {std::pair{"all 18", smd::reduction_set::all()},
                                       std::pair{"mean", smd::reduction_set{smd::reduction::mean}}}) {
        const std::string set{name};
        subjects.push_back({set, [=] { bench::keep((*best.reduce(view, wanted)).value[0]); }});
        subjects.push_back({set + " and digest, one pass", [=] { reduce_and_digest(best, view, wanted); }});
        subjects.push_back({set + ", then digest", [=] {
                                bench::keep((*best.reduce(view, wanted)).value[0]);
                                keep(smd::digest_of(view, best));
                            }});
    }
    bench::run_micro(subjects, rounds);
    const double limit = bench::median(subjects.front().times);
    for (const bench::subject& one : subjects) {
        const double taken = bench::median(one.times);
        std::printf("reduce/digest/%s/%-28s %12.3f us %8.1f GB/s  %5.2f x the limit's speed\n", label.c_str(),
                    one.name.c_str(), taken * 1e6, static_cast<double>(view.bytes.size()) / taken / 1e9, limit / taken);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 9));
    std::vector<float> values(std::size_t{64} << 20U);
    reduce_test::random_bits random{1};
    for (float& value : values) {
        value = static_cast<float>(random.symmetric());
    }
    const auto bytes = std::as_bytes(std::span{values});
    for (const auto& [label, size] : {std::pair{"256KiB", std::size_t{256} << 10U},
                                      std::pair{"1MiB", std::size_t{1} << 20U}, std::pair{"256MiB", bytes.size()}}) {
        const std::array<std::size_t, 1> shape{size / sizeof(float)};
        measure(label, {smd::dtype::float32, shape, bytes.first(size), {}}, rounds);
    }
    return 0;
}
