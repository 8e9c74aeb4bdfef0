// Runs in S3 whose event files are replaced while they are read: whatever a trial gives of one tensor is of one
// version. Each version of a file is one number, so that whatever holds two numbers is mixed.
#include <smdebug/trial/basic_trial.hpp>

#include "support/erased_storage.hpp"
#include "support/fake_s3.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

const std::string event_file = smdebug::detail::locations::event_key(0, "worker_0");

memory_storage run_of(float number) {
    memory_storage store;
    const auto saved = [&](const std::string& reduction) {
        return tensor_of<float>("smdebug/reductions/" + reduction + "/w", {number}, {});
    };
    const auto values = [&](const char* name, std::size_t size) {
        return tensor_of<float>(name, std::vector<float>(size, number));
    };
    run_builder build{store};
    build.collections();
    build.step(
        {.tensors = {saved("min"), values("a", 5), values("w", 250), values("b", 100), saved("max"), values("c", 60)}});
    build.end();
    return store;
}

/// Event files of equal size: the one at `number`, counted round, is made of that number and one more.
const std::string& version(std::size_t number) {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made;
        for (int i = 1; i <= 16; ++i) {
            made.emplace_back(as_text(run_of(static_cast<float>(i)).read(event_file).view()));
        }
        return made;
    }();
    return all.at(number % all.size());
}

fake_s3 served() {
    static const memory_storage run = run_of(1);
    fake_s3 server;
    for (const std::string& key : run.list("", "")) {
        server.put("run/" + key, std::string{as_text(run.read(key).view())});
    }
    return server;
}

using bucket = s3_storage;
bucket bucket_of(const fake_s3& server) {
    s3_options options = quick_options();
    options.part_bytes = 500;
    options.merge_gap = 100;
    options.most_requests = 4;
    return bucket{"s3://bucket/run", options, server, std::make_shared<static_credentials>(*fake_s3_options{}.keys)};
}

/// How the bucket is reached.  `folder`: for a cache on disk.
using opening = std::function<any_storage(const fake_s3&, const std::string& folder)>;
const std::map<std::string, opening> openings{
    {"itself", [](const fake_s3& server, const std::string&) { return any_storage{bucket_of(server)}; }},
    {"in memory",
     [](const fake_s3& server, const std::string&) {
         return any_storage{cached_storage(bucket_of(server), {.cacheable = is_written_once, .threads_ahead = 0})};
     }},
    {"in memory, too large",
     [](const fake_s3& server, const std::string&) {
         return any_storage{cached_storage(bucket_of(server),
                                           {.largest_object = 1000, .cacheable = is_written_once, .threads_ahead = 0})};
     }},
    {"on disk",
     [](const fake_s3& server, const std::string& folder) {
         return any_storage{
             cached_storage(bucket_of(server), {.folder = folder, .cacheable = is_written_once, .threads_ahead = 0})};
     }},
    {"on disk, too large", [](const fake_s3& server, const std::string& folder) {
         return any_storage{cached_storage(
             bucket_of(server),
             {.folder = folder, .largest_object = 1000, .cacheable = is_written_once, .threads_ahead = 0})};
     }}};

/// What was read of one tensor: its numbers, or why there are none.
struct seen {
    std::vector<double> numbers = {};
    std::string failure = {};
};

seen reduced_to(const reduced_tensor& found) {
    seen all;
    for (const reduction what : {reduction::min, reduction::max, reduction::mean}) {
        if (found.reductions.computed.contains(what)) {
            all.numbers.push_back(found.reductions(what));
        }
    }
    for (const unread_reduction& failed : found.saved_failures) {
        all.failure += failed.why.note + failed.why.where;
    }
    all.failure += found.failure != nullptr ? found.failure->note + found.failure->where : "";
    return all;
}

std::vector<seen> for_each_of(const trial& run, const tensor_selection& which) {
    std::vector<seen> all;
    for_each_tensor(run, which, reduction_set{reduction::min} | reduction::max | reduction::mean,
                    [&](const reduced_tensor& found) { all.push_back(reduced_to(found)); });
    return all;
}

/// A walk that treats files as too large to be held in memory.
std::vector<seen> walked(const trial& run, std::uint64_t page) {
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{}, *from};
    const reading_config config{.limits = {.largest_whole = 100, .largest_page = page}};
    event_reader walk{*state_of(run), *from, which, reduction_set::all(), config};
    const std::vector<const catalog::file*> files = from->files_in({});
    std::vector<seen> all;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            all.push_back(reduced_to(reduced(tensor, reduction_set{reduction::min} | reduction::max | reduction::mean,
                                             state_of(run)->kernel())));
        },
        [](std::size_t) { return true; });
    return all;
}

template <class Doing>
seen or_why(Doing&& doing) {
    try {
        return {.numbers = doing()};
    } catch (const error& why) {
        return {.failure = why.what()};
    }
}

/// A query on a trial.
using question = std::function<std::vector<seen>(const trial&)>;
const std::map<std::string, question> questions{
    {"value",
     [](const trial& run) {
         return std::vector{or_why([&] {
             const auto values = run.tensor("w").value<float>(0);
             return std::vector<double>(values.begin(), values.end());
         })};
     }},
    {"reduction_values",
     [](const trial& run) {
         return std::vector{or_why([&] {
             std::vector<double> numbers;
             for (const auto& [key, number] : run.tensor("w").saved_reduction_values(0)) {
                 numbers.push_back(number);
             }
             return numbers;
         })};
     }},
    {"for_each_tensor", [](const trial& run) { return for_each_of(run, {}); }},
    {"for_each_tensor, of one", [](const trial& run) { return for_each_of(run, {.regex = {"^w$"}}); }},
    {"records", [](const trial& run) { return walked(run, 1'000'000); }},
    {"pages", [](const trial& run) { return walked(run, 300); }}};

/// Whether each tensor's numbers are all equal.
bool is_unmixed(const std::vector<seen>& all) {
    for (const seen& one : all) {
        for (const double number : one.numbers) {
            if (number != one.numbers.front()) {
                return false;
            }
        }
    }
    return !all.empty();
}

std::vector<seen> asked(const fake_s3& server, const opening& how, const question& ask,
                        const std::string& folder = {}) {
    const temporary_folder own;
    const trial run{how(server, folder.empty() ? own.path() : folder)};
    return ask(run);
}

}  // namespace

TEST_CASE("replaced files: a tensor is of one version, whichever request its file is replaced before") {
    const std::string other = version(1);
    for (const auto& [name, how] : openings) {
        for (const auto& [what, ask] : questions) {
            CAPTURE(name);
            CAPTURE(what);
            bool is_replaced = true;
            for (std::size_t when = 0; is_replaced; ++when) {
                CAPTURE(when);
                const fake_s3 server = served();
                is_replaced = false;
                server.replace_by([&](const std::string& key, std::size_t number) {
                    const bool now = key == "run/" + event_file && number == when;
                    is_replaced = is_replaced || now;
                    return now ? std::optional{other} : std::nullopt;
                });
                const std::vector<seen> all = asked(server, how, ask);
                CHECK(is_unmixed(all));
                for (const seen& one : all) {
                    CHECK(one.failure.empty());
                }
                REQUIRE(when < 100);
            }
        }
    }
}

TEST_CASE("replaced files: a version of another size is not mixed either") {
    const std::string two = version(1);
    for (const std::string& other : {two + std::string(700, 'x'), two.substr(0, two.size() - 200)}) {
        for (const auto& [what, ask] : questions) {
            CAPTURE(what);
            for (std::size_t when = 0; when < 6; ++when) {
                CAPTURE(when);
                const fake_s3 server = served();
                server.replace_by([&](const std::string& key, std::size_t number) {
                    return key == "run/" + event_file && number == when ? std::optional{other} : std::nullopt;
                });
                CHECK(is_unmixed(asked(server, openings.at("itself"), ask)));
            }
        }
    }
}

TEST_CASE("replaced files: a file that is replaced before every request is reported as unavailable") {
    for (const auto& [name, how] : openings) {
        for (const auto& [what, ask] : questions) {
            CAPTURE(name);
            CAPTURE(what);
            const fake_s3 server = served();
            server.replace_by([&](const std::string& key, std::size_t number) {
                return key == "run/" + event_file ? std::optional{version(number + 1)} : std::nullopt;
            });
            const std::vector<seen> all = asked(server, how, ask);
            CHECK(is_unmixed(all));
            bool is_said = what == "reduction_values";  // each is read with one request
            for (const seen& one : all) {
                if (!one.failure.empty()) {
                    CHECK(one.failure.find("replaced again and again") != std::string::npos);
                    CHECK(one.failure.find(event_file) != std::string::npos);
                    is_said = true;
                }
            }
            CHECK(is_said);
        }
    }
}

TEST_CASE("replaced files: prefetched parts of two versions of a file are not combined") {
    const fake_s3 server = served();
    const auto store = cached_storage(bucket_of(server), {.memory_bytes = 0});
    const auto brought = store.hold();
    const std::vector<byte_range> parts{{0, 100}, {1500, 100}};
    for (const byte_range& part : parts) {
        brought->prefetch(std::vector<object_range>{{event_file, part}});
        static_cast<void>(store.read(event_file, part));  // waits until it has arrived
        server.put("run/" + event_file, version(1));
    }
    record_batch batch;
    batch.add(event_file, parts);
    batch.read(any_storage(store), [&](std::size_t, collected_event_file& records) {
        for (const byte_range& part : parts) {
            CHECK(as_text(records.at(part)) == version(1).substr(part.offset, part.length));
        }
    });
}

TEST_CASE("replaced files: data that a disk cache stores under a version are of that version") {
    // There and back, so that the listings before and after are equal.
    for (const auto& [what, ask] : questions) {
        for (const std::size_t every : {1U, 2U, 5U}) {
            CAPTURE(what);
            CAPTURE(every);
            const temporary_folder folder;
            const fake_s3 server = served();
            const auto& how = openings.at("on disk");
            server.replace_by([&](const std::string& key, std::size_t number) {
                return key == "run/" + event_file ? std::optional{version((number + 1) / every % 2)} : std::nullopt;
            });
            CHECK(is_unmixed(asked(server, how, ask, folder.path())));
            server.replace_by({});
            for (const std::size_t number : {0U, 1U}) {
                server.put("run/" + event_file, version(number));
                for (const seen& one : asked(server, how, questions.at("for_each_tensor"), folder.path())) {
                    REQUIRE_FALSE(one.numbers.empty());
                    CHECK(one.numbers.front() == static_cast<double>(number + 1));
                }
            }
        }
    }
}
