// The limit of a scan: a plain SIMD sum of floats over the bytes of files, by reading them or by mapping them.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <smdebug/reduce/simd_batch.hpp>

namespace bench {

/// As fast as memory delivers the numbers: several accumulators, without regard for accuracy.
inline float plain_sum(const std::byte* bytes, std::size_t size) {
    using batch = xsimd::batch<float>;
    constexpr std::size_t width = batch::size;
    const std::size_t count = size / sizeof(float);
    const auto* values = reinterpret_cast<const float*>(bytes);
    batch a(0.F);
    batch b(0.F);
    batch c(0.F);
    batch d(0.F);
    std::size_t i = 0;
    for (; i + 4 * width <= count; i += 4 * width) {
        a += batch::load_unaligned(values + i);
        b += batch::load_unaligned(values + i + width);
        c += batch::load_unaligned(values + i + 2 * width);
        d += batch::load_unaligned(values + i + 3 * width);
    }
    return xsimd::hadd(a + b + c + d);
}

template <std::size_t Piece = std::size_t{128} << 10U>
float sum_reading(std::span<const std::string> paths) {
    std::vector<std::byte> buffer(Piece);
    float total = 0;
    for (const std::string& path : paths) {
        const int handle = ::open(path.c_str(), O_RDONLY);
        for (ssize_t got = 1; got > 0;) {
            got = ::read(handle, buffer.data(), buffer.size());
            total += got > 0 ? plain_sum(buffer.data(), static_cast<std::size_t>(got)) : 0;
        }
        ::close(handle);
    }
    return total;
}

/// The same in pieces of 1 MiB.
inline float sum_reading_large(std::span<const std::string> paths) { return sum_reading<std::size_t{1} << 20U>(paths); }

/// Calls use(bytes, size) with a file mapped into memory.
template <class Use>
void mapped(const std::string& path, Use&& use) {
    const int handle = ::open(path.c_str(), O_RDONLY);
    const auto size = static_cast<std::size_t>(::lseek(handle, 0, SEEK_END));
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, handle, 0);
    use(static_cast<const std::byte*>(bytes), size);
    ::munmap(bytes, size);
    ::close(handle);
}

inline float sum_mapping(std::span<const std::string> paths) {
    float total = 0;
    for (const std::string& path : paths) {
        mapped(path, [&](const std::byte* bytes, std::size_t size) { total += plain_sum(bytes, size); });
    }
    return total;
}

/// The same on several threads, each with its share of the files.
template <class Sum>
void on_threads(std::size_t threads, std::span<const std::string> paths, Sum sum) {
    std::vector<std::jthread> crew;
    for (std::size_t i = 0; i < threads; ++i) {
        const std::size_t begin = paths.size() * i / threads;
        const std::size_t end = paths.size() * (i + 1) / threads;
        crew.emplace_back([=] {
            volatile float kept = sum(paths.subspan(begin, end - begin));
            static_cast<void>(kept);
        });
    }
}

}  // namespace bench
