// Timing for benchmarks: interleaved rounds, medians, and rows that a person and a script can read.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Seconds that a call takes.
template <class Call>
double seconds(Call&& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

inline double fastest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// One thing to measure.
struct subject {
    std::string name;
    std::function<void()> run;
    std::vector<double> times = {};
    std::function<void()> before = {};  ///< called before each run, and not timed
};

/// Runs all subjects round by round, one after the other, so that disturbances affect all of them; the first round
/// warms up and does not count.
inline void run_rounds(std::vector<subject>& subjects, int rounds) {
    for (int round = 0; round <= rounds; ++round) {
        for (subject& one : subjects) {
            if (one.before) {
                one.before();
            }
            const double taken = seconds(one.run);
            if (round > 0) {
                one.times.push_back(taken);
            }
        }
    }
}

/// Keeps the compiler from dropping a result.
inline void keep(double value) { asm volatile("" : : "x"(value) : "memory"); }

/// A folder for the data that a benchmark makes, removed at its end.
class data_folder {
public:
    data_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "smdebug_bench_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make a folder in " + std::filesystem::temp_directory_path().string());
        }
        path_ = pattern;
    }
    data_folder(const data_folder&) = delete;
    data_folder& operator=(const data_folder&) = delete;
    ~data_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

/// A number from the command line: argument `place`, or `otherwise`.
inline long argument(int argc, char** argv, int place, long otherwise) {
    return argc > place ? std::strtol(argv[place], nullptr, 10) : otherwise;
}

}  // namespace bench
