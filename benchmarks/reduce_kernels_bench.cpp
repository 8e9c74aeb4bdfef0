// The reduction kernels in cache: every dtype by every instruction set of smdebug::kernels that this CPU has, beside
// the scalar twin; for float32 also smaller sets, and what Eigen and numpy take for the same numbers. Compiled for the
// baseline: the instruction sets come from smdebug::kernels.
//   reduce_kernels_bench [rounds = 51] [KiB = 256]
#include "bench.hpp"
#include "eigen_peer.hpp"
#include "micro_bench.hpp"

#include <reduce/corpus.hpp>

#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd = smdebug;

namespace {

struct measured {
    std::string row;  ///< "reduce/all/f32/n=65536/avx2"
    double gigabytes = 0;
};

/// What is called over and over.
struct contestant {
    std::string name;
    std::function<void()> call;
};

measured print(const std::string& row, double seconds, std::size_t bytes) {
    const double gigabytes = static_cast<double>(bytes) / seconds * 1e-9;
    std::printf("%-52s %10.2f us %8.2f GB/s\n", row.c_str(), seconds * 1e6, gigabytes);
    std::fflush(stdout);
    return {row, gigabytes};
}

std::vector<measured> race(const std::string& what, const std::vector<contestant>& contestants, std::size_t bytes,
                           int rounds) {
    std::vector<bench::subject> subjects;
    for (const contestant& one : contestants) {
        subjects.push_back({one.name, one.call});
    }
    bench::run_micro(subjects, rounds);
    std::vector<measured> rows;
    for (const bench::subject& one : subjects) {
        std::string row = what;
        row.append("/").append(one.name);
        rows.push_back(print(row, bench::median(one.times), bytes));
    }
    return rows;
}

template <class Kernel>
std::function<void()> reducing(const Kernel& kernel, const smd::tensor_view& view, smd::reduction_set wanted) {
    return [=] { bench::keep((*kernel.reduce(view, wanted)).value[0]); };
}

/// Every kernel, the scalar one first.
std::vector<contestant> kernels_over(const smd::tensor_view& view, smd::reduction_set wanted) {
    std::vector<contestant> all{{"scalar", reducing(smd::scalar_kernel{}, view, wanted)}};
    const auto available = smd::dispatched_kernel::available();
    std::for_each(available.rbegin(), available.rend(), [&](const smd::dispatched_kernel& kernel) {
        all.push_back({std::string{kernel.instruction_set()}, reducing(kernel, view, wanted)});
    });
    return all;
}

std::string row_name(std::string_view set, std::string_view type, std::size_t count) {
    return std::string{"reduce/"}.append(set).append("/").append(type).append("/n=") + std::to_string(count);
}

// --- every dtype: floats and complex numbers in -1 to 1, integers of any bits ----------------------------------------

using reduce_test::owned_tensor;

template <class T>
owned_tensor some_integers(smd::dtype type, std::size_t bytes, unsigned which = 0) {
    return {type, reduce_test::integers<T>(bytes / sizeof(T), which)};
}

owned_tensor some_floats(smd::dtype type, const reduce_test::float_range& range, std::size_t bytes) {
    return reduce_test::float_tensor(
        type, reduce_test::numbers(reduce_test::kind::uniform, bytes / smd::size_of(type), range));
}

owned_tensor some_booleans(std::size_t bytes) {
    std::vector<std::uint8_t> values = reduce_test::integers<std::uint8_t>(bytes, 0);
    std::for_each(values.begin(), values.end(), [](std::uint8_t& value) { value &= 1U; });
    return {smd::dtype::boolean, values};
}

template <class T>
owned_tensor some_complex(smd::dtype type, std::size_t bytes) {
    const auto parts = reduce_test::numbers(reduce_test::kind::uniform, bytes / sizeof(T), reduce_test::single_range);
    return {type, std::vector<T>(parts.begin(), parts.end())};
}

std::vector<std::pair<std::string, owned_tensor>> one_of_each(std::size_t bytes) {
    using smd::dtype;
    std::vector<std::pair<std::string, owned_tensor>> all;
    all.emplace_back("f16", some_floats(dtype::float16, reduce_test::half_range, bytes));
    all.emplace_back("bf16", some_floats(dtype::bfloat16, reduce_test::bfloat_range, bytes));
    all.emplace_back("f32", some_floats(dtype::float32, reduce_test::single_range, bytes));
    all.emplace_back("f64", some_floats(dtype::float64, reduce_test::double_range, bytes));
    all.emplace_back("i8", some_integers<std::int8_t>(dtype::int8, bytes));
    all.emplace_back("i16", some_integers<std::int16_t>(dtype::int16, bytes));
    all.emplace_back("i32", some_integers<std::int32_t>(dtype::int32, bytes));
    all.emplace_back("i64", some_integers<std::int64_t>(dtype::int64, bytes));
    all.emplace_back("u8", some_integers<std::uint8_t>(dtype::uint8, bytes));
    all.emplace_back("u16", some_integers<std::uint16_t>(dtype::uint16, bytes));
    all.emplace_back("u32", some_integers<std::uint32_t>(dtype::uint32, bytes));
    all.emplace_back("u64", some_integers<std::uint64_t>(dtype::uint64, bytes));
    all.emplace_back("bool", some_booleans(bytes));
    all.emplace_back("c64", some_complex<float>(dtype::complex64, bytes));
    all.emplace_back("c128", some_complex<double>(dtype::complex128, bytes));
    return all;
}

/// All 18 and the counts.  Returns the lines of a table, GB/s by dtype and kernel.
std::vector<std::string> every_dtype(std::size_t bytes, int rounds) {
    std::vector<std::string> table;
    for (const auto& [type, tensor] : one_of_each(bytes)) {
        const smd::tensor_view view = tensor.view();
        const auto contestants = kernels_over(view, smd::reduction_set::all());
        char cell[32];
        if (table.empty()) {
            table.emplace_back("dtype ");
            for (const contestant& one : contestants) {
                std::snprintf(cell, sizeof(cell), "%9s", one.name.c_str());
                table.back() += cell;
            }
        }
        std::snprintf(cell, sizeof(cell), "%-6s", type.c_str());
        table.emplace_back(cell);
        for (const measured& one : race(row_name("all", type, view.count()), contestants, bytes, rounds)) {
            std::snprintf(cell, sizeof(cell), "%9.2f", one.gigabytes);
            table.back() += cell;
        }
    }
    return table;
}

// --- float32 beside Eigen and numpy ----------------------------------------------------------------------------------

void with_peers(std::size_t bytes, int rounds) {
    using smd::reduction;
    const owned_tensor tensor = some_floats(smd::dtype::float32, reduce_test::single_range, bytes);
    const smd::tensor_view view = tensor.view();
    std::vector<float> values(view.count());
    std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
    const std::span<const float> numbers{values};

    struct task {
        std::string_view name;
        smd::reduction_set wanted;
        float (*eigen)(std::span<const float>);
    };
    const std::array tasks{
        task{"mean", reduction::mean, &eigen_peer::mean},
        task{"min_max_mean_l1_l2",
             smd::reduction_set{reduction::min} | reduction::max | reduction::mean | reduction::l1 | reduction::l2,
             &eigen_peer::min_max_mean_l1_l2},
        task{"variance", reduction::variance, &eigen_peer::variance},
        task{"all", smd::reduction_set::all(), nullptr},
    };
    for (const task& one : tasks) {
        auto contestants = kernels_over(view, one.wanted);
        if (one.eigen != nullptr && eigen_peer::version != nullptr) {
            contestants.push_back(
                {"eigen", [eigen = one.eigen, numbers] { bench::keep(static_cast<double>(eigen(numbers))); }});
        }
        race(row_name(one.name, "f32", values.size()), contestants, bytes, rounds);
    }
    if (eigen_peer::version != nullptr) {
        std::printf("eigen: %s, vectors of %s, sums in float, a pass for each reduction (variance: two)\n",
                    eigen_peer::version, eigen_peer::instruction_set());
    } else {
        std::printf("eigen: skipped, it was not there when this was built\n");
    }
}

/// The rows of numpy_peer.py: a name and microseconds; other lines are notes.
void numpy_rows(std::size_t bytes, int rounds) {
    const std::string command = std::string{"\"" SMDEBUG_BENCH_PYTHON "\" \"" SMDEBUG_BENCH_NUMPY_PEER "\" "} +
                                std::to_string(bytes / sizeof(float)) + " " + std::to_string(rounds);
    std::FILE* lines = ::popen(command.c_str(), "r");
    if (lines == nullptr) {
        std::printf("numpy: skipped, python3 cannot be started\n");
        return;
    }
    char line[256];
    while (std::fgets(line, sizeof(line), lines) != nullptr) {
        char name[128];
        double microseconds = 0;
        if (std::strncmp(line, "reduce/", 7) == 0 && std::sscanf(line, "%127s %lf", name, &microseconds) == 2) {
            print(name, microseconds * 1e-6, bytes);
        } else {
            std::fputs(line, stdout);
        }
    }
    if (::pclose(lines) != 0) {
        std::printf("numpy: skipped, %s failed\n", command.c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 51));
    const auto bytes = static_cast<std::size_t>(bench::argument(argc, argv, 2, 256)) << 10U;
    const std::vector<std::string> table = every_dtype(bytes, rounds);
    with_peers(bytes, rounds);
    numpy_rows(bytes, rounds);
    std::printf("\nall 18 and the counts, %zu KiB, GB/s:\n", bytes >> 10U);
    for (const std::string& line : table) {
        std::printf("%s\n", line.c_str());
    }
    return 0;
}
