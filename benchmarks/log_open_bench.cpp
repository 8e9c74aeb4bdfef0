// Opening TensorBoard's logs as a run, against framing and checksums alone: each file read in pieces, each record's
// length and payload checked, and nothing done with it.
//   log_open_bench [rounds = 7]
#include "bench.hpp"
#include "support/log_builder.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace smd = smdebug;
namespace test = smdebug_test;

namespace {

// Reads a file in pieces of 1 MiB and checks its records.
std::size_t read_frames(const std::string& path) {
    static std::vector<std::byte> buffer(std::size_t{8} << 20U);
    const int file = ::open(path.c_str(), O_RDONLY);
    std::size_t have = 0;
    std::size_t records = 0;
    for (;;) {
        const ssize_t got = ::read(file, buffer.data() + have, std::size_t{1} << 20U);
        if (got <= 0) {
            break;
        }
        have += static_cast<std::size_t>(got);
        std::size_t at = 0;
        while (have - at >= smd::record::overhead) {
            std::uint64_t length = 0;
            std::memcpy(&length, buffer.data() + at, sizeof length);
            if (have - at < length + smd::record::overhead) {
                break;
            }
            const smd::byte_view record{buffer.data() + at, static_cast<std::size_t>(length) + smd::record::overhead};
            std::uint32_t length_check = 0;
            std::uint32_t payload_check = 0;
            std::memcpy(&length_check, record.data() + sizeof length, sizeof length_check);
            std::memcpy(&payload_check, record.data() + record.size() - sizeof payload_check, sizeof payload_check);
            namespace crc = smd::record::crc32c;
            const smd::byte_view payload = record.subspan(smd::record::header_size, static_cast<std::size_t>(length));
            if (crc::mask(crc::value(record.first(sizeof length))) != length_check ||
                crc::mask(crc::value(payload)) != payload_check) {
                throw std::runtime_error("a damaged record");
            }
            ++records;
            at += record.size();
        }
        std::memmove(buffer.data(), buffer.data() + at, have - at);
        have -= at;
    }
    ::close(file);
    return records;
}

enum class kind { scalars, histograms, tensors };

void write_log(const std::string& path, kind what, long steps, long tags, long a_record) {
    std::ofstream out{path, std::ios::binary};
    out << test::log_head();
    const std::vector<double> limits = [] {
        std::vector<double> values;
        for (int i = -30; i < 30; ++i) {
            values.push_back(i * 0.1);
        }
        return values;
    }();
    const std::vector<double> counts(limits.size(), 7.0);
    const std::string content(std::size_t{64} * 1024, '\x3f');
    for (long step = 0; step < steps; ++step) {
        std::vector<std::string> values;
        for (long tag = 0; tag < tags; ++tag) {
            const std::string name = "layer_" + std::to_string(tag) + "/loss";
            values.push_back(what == kind::scalars ? test::scalar_value(name, 0.25F)
                             : what == kind::histograms
                                 ? test::histogram_value(name, -3, 3, 420, 0, 100, limits, counts)
                                 : test::logged_tensor(name, "", 1, {16, 1024}, content));
            if (tag + 1 == tags || static_cast<long>(values.size()) == a_record) {
                out << test::log_record(step, values);
                values.clear();
            }
        }
    }
}

// Returns the nanoseconds per point.  `a_record`: points in a record.
double measure(const char* name, kind what, long steps, long tags, int rounds, long a_record = 1) {
    const bench::data_folder folder;
    const std::string path = folder.path() + "/events.out.tfevents.1";
    write_log(path, what, steps, tags, a_record);
    const auto bytes = static_cast<double>(std::ifstream{path, std::ios::ate | std::ios::binary}.tellg());
    const auto open = [&] { return smd::trial{smd::open_data(smd::any_storage{smd::local_storage{folder.path()}})}; };
    if (read_frames(path) != static_cast<std::size_t>(steps * tags / a_record) + 1 ||
        open().steps().size() != static_cast<std::size_t>(steps)) {
        throw std::runtime_error("the log is not what it should be");
    }
    std::vector<bench::subject> subjects{
        {"limit: framing and checksums", [&] { bench::keep(static_cast<double>(read_frames(path))); }},
        {"open it as a run", [&] { bench::keep(static_cast<double>(open().last_complete_step())); }}};
    bench::run_rounds(subjects, rounds);
    const double limit = bench::median(subjects[0].times);
    const double ours = bench::median(subjects[1].times);
    std::printf("%s, %ld steps x %ld tags, %.1f MB, medians of %d rounds\n", name, steps, tags, bytes / 1e6, rounds);
    std::printf("  %-32s %9.2f ms, %6.0f MB/s\n", subjects[0].name.c_str(), limit * 1e3, bytes / limit / 1e6);
    std::printf("  %-32s %9.2f ms, %6.0f MB/s, %.0f ns a point\n", subjects[1].name.c_str(), ours * 1e3,
                bytes / ours / 1e6, ours / static_cast<double>(steps * tags) * 1e9);
    const double points = static_cast<double>(steps * tags);
    std::printf("  speed by that of the limit       %9.2f    (aim: >= 0.30)\n", limit / ours);
    std::printf("  memory of the catalog            %9.1f bytes a point    (aim: <= 40)\n",
                static_cast<double>(smdebug::detail::catalog_of(open())->memory()) / points);
    return ours / points * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = static_cast<int>(bench::argument(argc, argv, 1, 7));
    measure("scalars", kind::scalars, 10'000, 50, rounds);
    const double few = measure("scalars, 100 to a record", kind::scalars, 50, 10'000, rounds, 100);
    const double many = measure("scalars, 10,000 to a record", kind::scalars, 50, 10'000, rounds, 10'000);
    std::printf("  a point of many by one of few    %9.2f    (aim: <= 1.2)\n", many / few);
    measure("histograms", kind::histograms, 500, 50, rounds);
    measure("tensors of 64 KiB", kind::tensors, 100, 20, rounds);
    return 0;
}
