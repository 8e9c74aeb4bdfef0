// Opening runs of many index files, against reading the same files and nothing else; and what the catalog takes.
//   trial_open_bench [rounds = 7] [steps] [tensors in each] [workers] [0 same, 1 other places, 2 other names each step]
// Without a shape: those that docs/figures.md shows.
#include "bench.hpp"
#include "many_files.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

// Resident bytes of this process.
std::size_t resident() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t size = 0;
    std::size_t pages = 0;
    statm >> size >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Lists, opens, reads and closes every file below index/, and does nothing with them.
std::size_t read_bare(const std::string& root) {
    std::size_t total = 0;
    static std::vector<char> buffer(std::size_t{1} << 20U);
    const std::string index = root + "/index";
    DIR* const outer = ::opendir(index.c_str());
    while (const ::dirent* folder = ::readdir(outer)) {
        if (folder->d_name[0] == '.') {
            continue;
        }
        const int place = ::openat(::dirfd(outer), static_cast<const char*>(folder->d_name), O_RDONLY | O_DIRECTORY);
        DIR* const inner = ::fdopendir(place);
        while (const ::dirent* file = ::readdir(inner)) {
            if (file->d_name[0] == '.') {
                continue;
            }
            const int handle = ::openat(place, static_cast<const char*>(file->d_name), O_RDONLY);
            for (ssize_t got = 1; got > 0;) {
                got = ::read(handle, buffer.data(), buffer.size());
                total += got > 0 ? static_cast<std::size_t>(got) : 0;
            }
            ::close(handle);
        }
        ::closedir(inner);
    }
    ::closedir(outer);
    return total;
}

void measure(const bench::run_shape& shape, int rounds) {
    const bench::data_folder folder;
    smd::local_storage store{folder.path()};
    bench::make_run(store, shape, true);

    const std::size_t bytes = read_bare(folder.path());
    ::malloc_trim(0);
    const std::size_t before = resident();
    std::optional<smd::local_trial> held;
    held.emplace(folder.path());
    ::malloc_trim(0);
    const std::size_t after = resident();
    const std::size_t counted = smdebug::detail::catalog_of(*held)->memory();
    const std::size_t layouts = smdebug::detail::catalog_of(*held)->layouts.size();
    held.reset();

    std::vector<bench::subject> subjects{
        {"limit: list, open, read, close", [&] { bench::keep(static_cast<double>(read_bare(folder.path()))); }},
        {"open the run",
         [&] { bench::keep(static_cast<double>(smd::local_trial{folder.path()}.last_complete_step())); }}};
    bench::run_rounds(subjects, rounds);
    const double limit = bench::median(subjects[0].times);
    const double ours = bench::median(subjects[1].times);
    constexpr const char* names[] = {"all alike", "each with its own places", "each with its own names"};
    std::printf("%ld steps x %ld workers x %ld tensors, %s, %.1f MB, medians of %d rounds\n", shape.steps,
                shape.workers, shape.tensors, names[static_cast<int>(shape.in)], static_cast<double>(bytes) / 1e6,
                rounds);
    std::printf("  %-32s %9.2f ms\n", subjects[0].name.c_str(), limit * 1e3);
    std::printf("  %-32s %9.2f ms\n", subjects[1].name.c_str(), ours * 1e3);
    std::printf("  ratio to the limit               %9.2f%s\n", ours / limit,
                shape.in == bench::differing::nothing ? "    (aim: <= 1.50)" : "");
    const auto entries = static_cast<double>(shape.steps * shape.workers * shape.tensors);
    std::printf("  catalog: %zu layouts, %.2f bytes an entry (process grew by %.2f; aim: <= %d)\n", layouts,
                static_cast<double>(counted) / entries,
                (static_cast<double>(after) - static_cast<double>(before)) / entries,
                shape.in == bench::differing::nothing ? 4 : 40);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 7));
    if (argc > 2) {
        measure({.steps = bench::argument(argc, argv, 2, 10'000),
                 .tensors = bench::argument(argc, argv, 3, 100),
                 .workers = bench::argument(argc, argv, 4, 1),
                 .in = static_cast<bench::differing>(bench::argument(argc, argv, 5, 0))},
                rounds);
        return 0;
    }
    measure({.steps = 10'000, .tensors = 100}, rounds);
    measure({.steps = 1'000, .tensors = 200, .workers = 16}, rounds);
    measure({.steps = 10'000, .tensors = 100, .in = bench::differing::places}, rounds);
    measure({.steps = 10'000, .tensors = 100, .in = bench::differing::names}, rounds);
    return 0;
}
