// Reading objects from an S3 server, against `curl --parallel` with the same URLs, in the same minutes on the same
// server; and opening and walking a run that lies there.  benchmarks/s3_read_bench.sh starts a server and calls this:
//   s3_read_bench BUCKET [ROUNDS = 5] [PEER COMMAND...]     Where the server is, and its keys: AWS_ENDPOINT_URL_S3,
//                                                           AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
// The bucket is there and empty.  PEER COMMAND gets BUCKET and the names of files with keys, one a line, behind it, and
// prints the seconds that each took (s3_peer.py: boto3).

#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/http/curl_transport.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smd = smdebug;

namespace {

constexpr long small_objects = 2'000;
constexpr long big_objects = 200;
constexpr std::size_t small_bytes = std::size_t{4} << 10U;
constexpr std::size_t big_bytes = std::size_t{4} << 20U;
constexpr long run_steps = 2'000;

std::string setting(const char* name) {
    const char* const held = std::getenv(name);
    if (held == nullptr) {
        throw std::runtime_error(std::string{name} + " is not set: start this by benchmarks/s3_read_bench.sh");
    }
    return held;
}

smd::s3_storage open(const std::string& place, std::shared_ptr<const smd::curl_transport> transport) {
    smd::s3_options options;
    options.endpoint = setting("AWS_ENDPOINT_URL_S3");
    options.region = setting("AWS_REGION");
    return {place, options, std::move(transport)};
}

/// Objects to read, and their sizes.
struct batch {
    std::string name;
    std::vector<std::string> keys;
    std::uint64_t bytes = 0;
};

/// Writes objects on a few threads, as writing them in turn takes minutes.
void upload(smd::s3_storage& to, const std::vector<std::string>& keys,
            const std::function<smd::byte_buffer(const std::string&)>& content) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> crew;
    for (int i = 0; i < 8; ++i) {
        crew.emplace_back([&] {
            for (std::size_t at = next++; at < keys.size(); at = next++) {
                to.write(keys[at], content(keys[at]).view());
            }
        });
    }
    for (std::thread& one : crew) {
        one.join();
    }
}

batch fill(smd::s3_storage& store, const std::string& name, long count, std::size_t bytes) {
    std::string object(bytes, 'x');
    std::uint64_t random = 1;
    std::generate(object.begin(), object.end(), [&] {
        random = random * 6364136223846793005U + 1442695040888963407U;
        return static_cast<char>(random >> 56U);
    });
    batch made{name, {}, static_cast<std::uint64_t>(count) * bytes};
    for (long i = 0; i < count; ++i) {
        made.keys.push_back(name + "/" + std::to_string(i));
    }
    upload(store, made.keys, [&](const std::string&) { return smd::byte_buffer::take(std::string{object}); });
    return made;
}

/// A run with a worker and twenty small tensors a step; its index files and its event files.
std::pair<batch, batch> fill_run(smd::s3_storage& store) {
    smd::memory_storage memory;
    smdebug_test::run_builder build{memory};
    build.collections();
    smdebug_test::written_step step;
    for (int i = 0; i < 20; ++i) {
        step.tensors.push_back(smdebug_test::tensor_of<float>("layer_" + std::to_string(i) + "/weight",
                                                              std::vector<float>(256, static_cast<float>(i) + 0.5F)));
    }
    for (step.step = 0; step.step < run_steps; ++step.step) {
        build.step(step);
    }
    build.end();
    std::pair<batch, batch> made{{.name = "run: index files", .keys = {}}, {.name = "run: event files", .keys = {}}};
    const std::vector<std::string> keys = memory.list("", "");
    for (const std::string& key : keys) {
        for (auto& [folder, of] : {std::pair{smd::detail::locations::index_folder, &made.first},
                                   std::pair{smd::detail::locations::events_folder, &made.second}}) {
            if (key.starts_with(folder)) {
                of->keys.push_back("run/" + key);
                of->bytes += *memory.size(key);
            }
        }
    }
    std::vector<std::string> named;
    std::transform(keys.begin(), keys.end(), std::back_inserter(named),
                   [](const std::string& key) { return "run/" + key; });
    upload(store, named, [&](const std::string& key) { return memory.read(key.substr(4)); });
    return made;
}

/// The URLs for curl.
std::string write_config(const bench::data_folder& folder, const std::string& bucket, const batch& of) {
    const std::string path = folder.path() + "/" + std::to_string(of.bytes) + ".curl";
    std::ofstream file{path};
    file << "no-progress-meter\nfail\nnoproxy = \"*\"\n"
         << "header = \"x-amz-content-sha256: UNSIGNED-PAYLOAD\"\n"
         << "aws-sigv4 = \"aws:amz:" << setting("AWS_REGION") << ":s3\"\n";
    const std::string server = setting("AWS_ENDPOINT_URL_S3");
    const std::size_t host = server.find("://") + 3;
    const std::string start = server.substr(0, host) +
                              smd::s3::detail::percent_encoded(setting("AWS_ACCESS_KEY_ID"), false) + ":" +
                              smd::s3::detail::percent_encoded(setting("AWS_SECRET_ACCESS_KEY"), false) + "@" +
                              server.substr(host) + "/" + bucket + "/";
    for (const std::string& key : of.keys) {
        file << "url = \"" << start << smd::s3::detail::percent_encoded(key, true) << "\"\noutput = \"/dev/null\"\n";
    }
    return path;
}

void must_run(const std::string& command) {
    if (std::system(command.c_str()) != 0) {
        throw std::runtime_error("this failed: " + command);
    }
}

void print(const batch& of, const bench::subject& subject, double limit) {
    const double time = bench::median(subject.times);
    std::printf("  %-34s %8.3f s %8.0f requests/s %8.1f MiB/s", subject.name.c_str(), time,
                static_cast<double>(of.keys.size()) / time, static_cast<double>(of.bytes) / 1048576.0 / time);
    if (limit > 0) {
        std::printf("   %.2f x curl's speed", limit / time);
    }
    std::printf("\n");
}

/// The faster of curl's two ways.
double curl_time(const std::vector<bench::subject>& subjects) {
    return std::min(bench::median(subjects[0].times), bench::median(subjects[1].times));
}

std::vector<bench::subject> curl_subjects(const std::string& config) {
    // 50 requests at once is curl's own choice; on few processors fewer are quicker.
    std::vector<bench::subject> subjects;
    for (const char* const most : {"50", "16"}) {
        subjects.push_back({std::string{"curl --parallel --parallel-max "} + most, [=] {
                                must_run("curl --parallel --parallel-max " + std::string{most} + " -K " + config);
                            }});
    }
    return subjects;
}

void read_batch(const std::string& bucket, const batch& of, int rounds) {
    const bench::data_folder folder;
    const auto transport = std::make_shared<const smd::curl_transport>();
    const auto store = open("s3://" + bucket, transport);
    std::uint64_t got = 0;
    auto subjects = curl_subjects(write_config(folder, bucket, of));
    subjects.push_back({"ours: read_each", [&] {
                            got = 0;
                            store.read_each(of.keys, [&](std::size_t, std::optional<smd::byte_view> bytes,
                                                         const smd::object_version&) { got += bytes.value().size(); });
                            if (got != of.bytes) {
                                throw std::runtime_error("not all bytes came");
                            }
                        }});
    bench::run_rounds(subjects, rounds);
    std::printf("%zu objects, %.1f MiB (%s), medians of %d rounds\n", of.keys.size(),
                static_cast<double>(of.bytes) / 1048576.0, of.name.c_str(), rounds);
    for (const bench::subject& one : subjects) {
        print(of, one, &one == &subjects.back() ? curl_time(subjects) : 0);
    }
    std::printf("  (aim: >= 0.90; ours over %llu connections in all rounds)\n",
                static_cast<unsigned long long>(transport->counters().connections));
}

void read_run(const std::string& bucket, const std::pair<batch, batch>& files, int rounds) {
    using trial_type = smd::basic_trial<smd::s3_storage>;
    const bench::data_folder folder;
    const auto transport = std::make_shared<const smd::curl_transport>();
    const std::string place = "s3://" + bucket + "/run";
    const auto open_it = [&] { return trial_type{open(place, transport)}; };

    auto before = transport->counters().requests;
    const trial_type held = open_it();
    const auto opening = transport->counters().requests - before;
    auto subjects = curl_subjects(write_config(folder, bucket, files.first));
    subjects.push_back({"ours: open the run", [&] {
                            if (open_it().steps().size() != static_cast<std::size_t>(run_steps)) {
                                throw std::runtime_error("not all steps are there");
                            }
                        }});
    bench::run_rounds(subjects, rounds);
    std::printf("a run of %ld steps; curl reads its index files, and lists nothing\n", run_steps);
    for (const bench::subject& one : subjects) {
        print(files.first, one, &one == &subjects.back() ? curl_time(subjects) : 0);
    }
    std::printf("  requests of an opening: %llu (index files: %zu, pages of a listing: %ld)\n",
                static_cast<unsigned long long>(opening), files.first.keys.size(), (run_steps + 999) / 1000);

    double sum = 0;
    const auto walk = [&](unsigned threads) {
        std::size_t seen = 0;
        smd::for_each_tensor(held, {}, smd::reduction_set{smd::reduction::mean},
                             [&](const smd::reduced_tensor& found) {
                                 sum += found.reductions(smd::reduction::mean);
                                 ++seen;
                             },
                             {.threads = threads});
        if (seen != 20 * static_cast<std::size_t>(run_steps)) {
            throw std::runtime_error("not all tensors are there");
        }
    };
    auto walks = curl_subjects(write_config(folder, bucket, files.second));
    for (const unsigned threads : {1U, std::max(std::thread::hardware_concurrency(), 2U)}) {
        walks.push_back({"ours: walk it, threads: " + std::to_string(threads), [=] { walk(threads); }});
    }
    before = transport->counters().requests;
    bench::run_rounds(walks, rounds);
    const auto walking = (transport->counters().requests - before) / static_cast<std::uint64_t>(2 * (rounds + 1));
    std::printf("a walk of that run, the mean of 20 tensors x 1 KiB a step; curl reads its event files\n");
    for (std::size_t i = 0; i < walks.size(); ++i) {
        print(files.second, walks[i], i > 1 ? curl_time(walks) : 0);
    }
    std::printf("  requests of a walk: %llu (event files: %zu)\n", static_cast<unsigned long long>(walking),
                files.second.keys.size());
    bench::keep(sum);
}

void ask_peer(const std::string& command, const std::string& bucket, const std::vector<batch>& batches) {
    const bench::data_folder folder;
    std::string whole = command + " " + bucket;
    for (const batch& of : batches) {
        const std::string path = folder.path() + "/" + std::to_string(of.bytes) + ".keys";
        std::ofstream file{path};
        for (const std::string& key : of.keys) {
            file << key << '\n';
        }
        whole += " " + path;
    }
    std::fflush(stdout);
    must_run(whole);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        static_cast<void>(
            std::fputs("usage: s3_read_bench BUCKET [ROUNDS] [PEER COMMAND...]; see s3_read_bench.sh\n", stderr));
        return 2;
    }
    const std::string bucket = argv[1];
    const int rounds = static_cast<int>(bench::argument(argc, argv, 2, 5));
    std::string peer;
    for (int i = 3; i < argc; ++i) {
        peer.append(peer.empty() ? "" : " ").append(argv[i]);
    }
    const auto transport = std::make_shared<const smd::curl_transport>();
    auto store = open("s3://" + bucket, transport);
    const std::vector<batch> batches{fill(store, "small", small_objects, small_bytes),
                                     fill(store, "big", big_objects, big_bytes)};
    const auto run = fill_run(store);
    for (const batch& of : batches) {
        read_batch(bucket, of, rounds);
    }
    if (!peer.empty()) {
        ask_peer(peer, bucket, batches);
    }
    read_run(bucket, run, rounds);
    return 0;
}
