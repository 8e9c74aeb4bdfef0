// crc32c by every implementation that this CPU can run, of buffers in the caches and one in memory, beside the limit:
// reading the same bytes.  The table is the scalar twin; "chosen" is what the library's callers get.
//   record_crc32c_bench [rounds = 9]
#include "bench.hpp"
#include "micro_bench.hpp"

#include <smdebug/record/crc32c.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace crc32c = smdebug::record::crc32c;
using smdebug::byte_view;

namespace {

/// Every byte read once, in vectors as wide as the CPU has them; the sum only keeps the loads.
[[gnu::target_clones("avx512f", "avx2", "default")]] std::uint64_t read_all(byte_view bytes) {
    using lanes = std::uint64_t __attribute__((vector_size(64)));
    lanes sum{};
    lanes other_sum{};
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 2 * sizeof(lanes); at += 2 * sizeof(lanes), left -= 2 * sizeof(lanes)) {
        lanes value;
        std::memcpy(&value, at, sizeof(lanes));
        lanes other_value;
        std::memcpy(&other_value, at + sizeof(lanes), sizeof(lanes));
        sum ^= value;
        other_sum ^= other_value;
    }
    if (left >= sizeof(lanes)) {
        lanes value;
        std::memcpy(&value, at, sizeof(lanes));
        sum ^= value;
    }
    sum ^= other_sum;
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

/// call(view), with a barrier so that the compiler assumes other bytes at every call.
template <class Call>
auto one_call(byte_view view, Call call) {
    return [=] {
        const std::uint64_t result = call(view);
        asm volatile("" : : "r"(result) : "memory");
    };
}

void measure(const std::string& label, byte_view view, int rounds) {
    std::vector<bench::subject> subjects;
    subjects.push_back({"limit: reading", one_call(view, read_all)});
    for (const crc32c::detail::implementation which : crc32c::detail::implementations) {
        const std::string name{crc32c::detail::name_of(which)};
        if (!crc32c::detail::supported(which)) {
            std::printf("record/crc32c/%s/%s: skipped, this CPU cannot run it\n", label.c_str(), name.c_str());
            continue;
        }
        subjects.push_back({which == crc32c::detail::implementation::table ? name + " (scalar twin)" : name,
                            one_call(view, [which](byte_view bytes) {
                                return crc32c::detail::extend_by(which, 0, bytes.data(), bytes.size());
                            })});
    }
    const std::string chosen{crc32c::detail::name_of(crc32c::detail::fastest(view.size()))};
    subjects.push_back({"chosen: " + chosen, one_call(view, [](byte_view bytes) { return crc32c::value(bytes); })});
    bench::run_micro(subjects, rounds);
    const double limit = bench::median(subjects.front().times);
    for (const bench::subject& one : subjects) {
        const double taken = bench::median(one.times);
        std::printf("record/crc32c/%s/%-24s %12.3f us %8.1f GB/s  %5.2f x the limit's speed\n", label.c_str(),
                    one.name.c_str(), taken * 1e6, static_cast<double>(view.size()) / taken / 1e9, limit / taken);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 9));
    std::vector<std::byte> bytes(std::size_t{256} << 20);
    std::uint64_t state = 1;
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        std::memcpy(&bytes[i], &state, sizeof(state));
    }
    const byte_view all{bytes};
    measure("64B", all.first(64), rounds);
    measure("1KiB", all.first(1024), rounds);
    measure("256KiB", all.first(std::size_t{256} << 10), rounds);
    measure("1MiB", all.first(std::size_t{1} << 20), rounds);
    measure("256MiB", all, rounds);
    std::printf(
        "aims for 1 MiB: 0.9 of the best known for the CPU, 53 to 60 GB/s with AVX-512 and VPCLMULQDQ, 24 with "
        "SSE4.2\n");
    return 0;
}
