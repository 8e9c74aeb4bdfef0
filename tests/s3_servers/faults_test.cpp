// Scans a run through a proxy that injects the faults of networks and servers into each of its requests in turn.
// The answers are always right, or an error says what is wrong; nothing is invented, and everything ends.
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>

#include "s3_servers/fault_proxy.hpp"
#include "s3_servers/server.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using std::chrono::milliseconds;

namespace {

// The result of a scan: all values of each tensor, bit by bit, or the reason why there are none.
struct seen_tensor {
    std::string numbers = {};
    std::string failure = {};
};
struct seen_run {
    std::map<std::string, seen_tensor> tensors = {};  // by step, worker and name
    std::string error = {};                           // the error thrown instead
};

template <class Trial>
std::map<std::string, seen_tensor> scanned(const Trial& run) {
    std::map<std::string, seen_tensor> found;
    for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& one) {
        seen_tensor seen;
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            if (const auto key = reduction_key::from_index(i); one.reductions.computed.contains(key)) {
                seen.numbers += key.name() + " " + double_text(one.reductions.value[i]) + " ";
            }
        }
        if (one.reductions.computed.has_counts()) {
            const reduction_values& counts = one.reductions;
            for (const std::uint64_t count : {counts.count, counts.nan, counts.pos_inf, counts.neg_inf, counts.zeros}) {
                seen.numbers += std::to_string(count) + " ";
            }
        }
        if (one.failure) {
            seen.failure = one.failure->note + " " + one.failure->where;
        }
        for (const unread_reduction& saved : one.saved_failures) {
            static_cast<void>(saved);
            seen.failure += " saved";
        }
        found.emplace(std::to_string(one.step) + " " + std::string{one.worker} + " " + std::string{one.name}, seen);
    });
    return found;
}

const std::string first_index_file = "index/000000000/000000000000_worker_0.json";

const std::string& local_run() {
    static const std::string path = std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp";
    return path;
}

// The run on disk.
std::map<std::string, seen_tensor> right_answer() {
    return scanned(basic_trial<local_storage>{local_storage{local_run()}});
}

// A busy machine is no fault: this limit applies only to faults in which no byte arrives.
constexpr milliseconds stall_of_a_fault{500};
constexpr milliseconds stall_of_a_machine{std::chrono::seconds{60}};

milliseconds stall_for(std::string_view fault) {
    return fault.find("stalled") != std::string_view::npos ? stall_of_a_fault : stall_of_a_machine;
}

s3_options quick(const std::string& endpoint, milliseconds stalled_after) {
    s3_options options = s3_server{}.options();
    options.endpoint = endpoint;
    options.retry = {.deadline = std::chrono::minutes{2},
                     .first_pause = milliseconds{1},
                     .longest_pause = milliseconds{5},
                     .most_attempts = 5};
    options.stalled_after = stalled_after;
    options.connect_within = std::chrono::seconds{20};
    return options;
}

// The run in a bucket, behind the proxy.
struct place {
    s3_server server = {};
    std::string uri = "s3://" + server.fresh_bucket() + "/run";
    fault_proxy proxy{server.endpoint()};

    place() {
        const local_storage from{local_run()};
        s3_storage to{uri, server.options()};
        for (const std::string& key : from.list("", "")) {
            to.write(key, from.read(key).view());
        }
    }

    [[nodiscard]] seen_run scan_it(milliseconds stalled_after) const {
        seen_run seen;
        try {
            trial_options options;
            options.open_timeout = milliseconds{500};
            options.poll_interval = milliseconds{20};
            options.missing_event_file_retry_limit = 0;
            const basic_trial<s3_storage> run{s3_storage{uri, quick(proxy.endpoint(), stalled_after)}, options};
            seen.tensors = scanned(run);
        } catch (const error& thrown) {
            seen.error = thrown.what();
        }
        return seen;
    }
};

void check_same(const std::map<std::string, seen_tensor>& got, const std::map<std::string, seen_tensor>& right) {
    REQUIRE(got.size() == right.size());
    for (const auto& [name, wanted] : right) {
        CAPTURE(name);
        REQUIRE(got.contains(name));
        CHECK(got.at(name).numbers == wanted.numbers);
        CHECK(got.at(name).failure == wanted.failure);
    }
}

// The number of requests in a scan.
std::size_t requests_of(const place& run, const std::map<std::string, seen_tensor>& right) {
    run.proxy.reset();
    check_same(run.scan_it(stall_of_a_machine).tensors, right);
    return run.proxy.count().requests.size();
}

struct fault_case {
    const char* fault;             // as for fault_proxy.py, without the closing brace
    const char* error = nullptr;   // part of the error, if it cannot be corrected
    const char* target = nullptr;  // selects the requests
};

// Faults that a retry or a correction resolves.
constexpr std::array passing{
    fault_case{R"({"kind": "internal_error")"},
    fault_case{R"({"kind": "status", "status": 502)"},
    fault_case{
        R"({"kind": "status", "status": 504, "body": "<html><title>504 Gateway</title></html>", "type": "text/html")"},
    fault_case{R"({"kind": "slow_down")"},
    fault_case{R"({"kind": "slow_down", "close": true)"},
    fault_case{R"({"kind": "too_many_requests")"},
    fault_case{R"({"kind": "request_timeout")"},
    fault_case{R"({"kind": "cut_before_answer")"},
    fault_case{R"({"kind": "cut_before_answer", "reset": true)"},
    fault_case{R"({"kind": "cut_in_headers")"},
    fault_case{R"({"kind": "cut_in_headers", "reset": true)"},
    fault_case{R"({"kind": "cut_in_body")"},
    fault_case{R"({"kind": "short_body")"},
    fault_case{R"({"kind": "slow_body", "bytes": 2000, "every_ms": 2)"},
    fault_case{R"({"kind": "stalled_body")"},
    fault_case{R"({"kind": "stalled_before_answer")"},
    fault_case{R"({"kind": "desync")"},
    fault_case{R"({"kind": "shorter_range")"},
    fault_case{R"({"kind": "shorter_body")"},
    fault_case{R"({"kind": "wrong_content_range")"},
    fault_case{R"({"kind": "whole_object")"},
    fault_case{R"({"kind": "cut_body")"},
    fault_case{R"({"kind": "empty_body")"},
    fault_case{R"({"kind": "chunked_body")"},
    fault_case{R"({"kind": "garbage_body")"},
    fault_case{R"({"kind": "expired_token")"},
    fault_case{R"({"kind": "clock_skew", "seconds": 3600)"},
    fault_case{R"({"kind": "shifted_date", "seconds": -7200)"},
    fault_case{R"({"kind": "permanent_redirect", "region": "eu-west-1")"},
    fault_case{R"({"kind": "wrong_region", "region": "ap-south-1")"},
    fault_case{R"({"kind": "temporary_redirect")"},
};

// Permanent faults: the error names them.
constexpr std::array lasting{
    fault_case{R"({"kind": "access_denied")", "403 AccessDenied"},
    fault_case{R"({"kind": "no_such_bucket")", "There is no bucket"},
    fault_case{R"({"kind": "temporary_redirect", "location": "http://127.0.0.1:1")", "http://127.0.0.1:1,"},
    fault_case{R"({"kind": "status", "status": 405, "code": "MethodNotAllowed")", "405"},
};

std::string armed(const fault_case& what, std::size_t at, const char* times = "1") {
    std::string text = what.fault;
    if (what.target != nullptr) {
        text += R"(, "target": ")" + std::string{what.target} + "\"";
    }
    return text + ", \"at\": " + std::to_string(at) + ", \"times\": " + times + "}";
}

}  // namespace

TEST_CASE("faults: what passes, at any request of a scan, changes nothing") {
    const place run;
    const auto right = right_answer();
    REQUIRE(right.size() > 20);
    const std::size_t requests = requests_of(run, right);
    CHECK(requests >= 10);
    CHECK(requests <= 10 + 8);  // one for each object, two listings, and a few more
    std::size_t fired = 0;
    for (const fault_case& what : passing) {
        for (std::size_t at = 1; at <= requests; ++at) {
            CAPTURE(std::string{what.fault});
            CAPTURE(at);
            run.proxy.reset();
            run.proxy.arm(armed(what, at));
            const seen_run seen = run.scan_it(stall_for(what.fault));
            CHECK(seen.error.empty());
            CAPTURE(seen.error);
            check_same(seen.tensors, right);
            fired += run.proxy.count().fired;
        }
    }
    MESSAGE("requests: ", requests, ", faults that came: ", fired);
    CHECK(fired >= (passing.size() - 1) * requests);
}

TEST_CASE("faults: what stands is said, and costs nothing but what it hit") {
    const place run;
    const auto right = right_answer();
    const std::size_t requests = requests_of(run, right);
    REQUIRE(requests >= 10);
    for (const fault_case& what : lasting) {
        for (std::size_t at = 1; at <= requests; ++at) {
            CAPTURE(std::string{what.fault});
            CAPTURE(at);
            run.proxy.reset();
            run.proxy.arm(armed(what, at));
            const seen_run seen = run.scan_it(stall_for(what.fault));
            const auto counted = run.proxy.count();
            REQUIRE(counted.fired == 1);
            // HEAD is repeated as a request whose answer has a body; but a redirection has everything in its headers.
            const bool is_sent_on = std::string_view{what.fault}.find("redirect") != std::string_view::npos;
            const bool hit_head = std::any_of(counted.requests.begin(), counted.requests.end(), [](const auto& one) {
                return !one.fault.empty() && one.method == "HEAD";
            });
            if (hit_head && !is_sent_on) {
                CHECK(seen.error.empty());
                check_same(seen.tensors, right);
            } else if (!seen.error.empty()) {
                CAPTURE(seen.error);
                CHECK(seen.error.find(what.error) != std::string::npos);
                CHECK(seen.error.find(run.uri) != std::string::npos);
            } else {
                std::size_t lost = 0;
                REQUIRE(seen.tensors.size() == right.size());
                for (const auto& [name, got] : seen.tensors) {
                    CAPTURE(name);
                    if (got.failure.empty()) {
                        CHECK(got.numbers == right.at(name).numbers);
                    } else {
                        CAPTURE(got.failure);
                        ++lost;
                        CHECK(got.numbers.empty());
                        CHECK(got.failure.find(what.error) != std::string::npos);
                    }
                }
                // A request that the server refuses may succeed in pieces.
                CHECK((lost > 0 || is_sent_on || std::string_view{what.error} == "405"));
                CHECK(lost <= right.size() / 2);
            }
        }
    }
}

TEST_CASE("faults: an object that is gone between the listing and the reading costs only itself") {
    const place run;
    const auto right = right_answer();
    const std::size_t requests = requests_of(run, right);
    for (std::size_t at = 1; at <= requests; ++at) {
        CAPTURE(at);
        run.proxy.reset();
        run.proxy.arm(armed({R"({"kind": "no_such_key", "header": "range")"}, at));
        const seen_run seen = run.scan_it(stall_of_a_machine);
        CAPTURE(seen.error);
        // The only file that a run cannot do without is its collections file.
        if (!seen.error.empty()) {
            CHECK(seen.error.find("collections") != std::string::npos);
            continue;
        }
        CHECK(seen.tensors.size() >= right.size() / 2);
        for (const auto& [name, got] : seen.tensors) {
            CAPTURE(name);
            CHECK((got.numbers.empty() ? !got.failure.empty() || right.at(name).numbers.empty()
                                       : got.numbers == right.at(name).numbers));
        }
    }
}

TEST_CASE("faults: one that never ends is given up, with its name, the request id and what to do") {
    const place run;
    struct endless {
        const char* fault;
        const char* said;
    };
    for (const endless& what : std::array{endless{R"({"kind": "slow_down")", "503 SlowDown"},
                                          endless{R"({"kind": "slow_down", "retry_after": 3600)", "503 SlowDown"},
                                          endless{R"({"kind": "internal_error")", "500 InternalError"},
                                          endless{R"({"kind": "too_many_requests")", "429"},
                                          endless{R"({"kind": "cut_before_answer")", "after 5 attempts"},
                                          endless{R"({"kind": "cut_in_body")", "after 5 attempts"},
                                          endless{R"({"kind": "short_body")", "after 5 attempts"},
                                          endless{R"({"kind": "stalled_body")", "after 5 attempts"},
                                          endless{R"({"kind": "stalled_before_answer")", "after 5 attempts"},
                                          endless{R"({"kind": "wrong_content_range")", "did not fit the request"},
                                          endless{R"({"kind": "shorter_range")", "did not fit the request"},
                                          endless{R"({"kind": "shorter_body")", "did not fit the request"},
                                          endless{R"({"kind": "empty_body")", "did not fit the request"},
                                          endless{R"({"kind": "expired_token")", "ExpiredToken"},
                                          endless{R"({"kind": "clock_skew", "seconds": 3600)", "RequestTimeTooSkewed"},
                                          endless{R"({"kind": "permanent_redirect", "region": "eu-west-1")", "301"},
                                          endless{R"({"kind": "access_denied")", "403 AccessDenied"},
                                          endless{R"({"kind": "no_such_bucket")", "There is no bucket"}}) {
        CAPTURE(std::string{what.fault});
        run.proxy.reset();
        run.proxy.arm(armed({what.fault, nullptr, nullptr}, 1, "0"));
        s3_storage store{run.uri, quick(run.proxy.endpoint(), stall_for(what.fault))};
        for (const auto& ask : std::array<std::function<void()>, 2>{
                 [&] { static_cast<void>(store.read(first_index_file)); },
                 [&] {
                     const std::vector<std::string> keys{first_index_file, "training_job_end.ts"};
                     store.read_each(keys, [](std::size_t, std::optional<byte_view>, const object_version&) {
                         FAIL("nothing can be read");
                     });
                 }}) {
            try {
                ask();
                FAIL_CHECK("nothing was thrown");
            } catch (const error& thrown) {
                const std::string text = thrown.what();
                CAPTURE(text);
                CHECK(text.find(what.said) != std::string::npos);
                CHECK(text.find(run.uri + "/" + first_index_file) != std::string::npos);
                CHECK(text.find(run.server.keys().secret) == std::string::npos);
                CHECK(text.find(run.server.keys().id) == std::string::npos);
            }
        }
    }
}

TEST_CASE("faults: the deadline ends a body that trickles, and one of attempts without end") {
    const place run;
    for (const char* const fault : {R"({"kind": "slow_body", "bytes": 1, "every_ms": 20)", R"({"kind": "slow_down")"}) {
        CAPTURE(std::string{fault});
        run.proxy.reset();
        run.proxy.arm(armed({fault, nullptr, nullptr}, 1, "0"));
        s3_options options = quick(run.proxy.endpoint(), stall_of_a_machine);
        options.retry.deadline = milliseconds{600};
        options.retry.most_attempts = 1'000'000;
        const s3_storage store{run.uri, options};
        CHECK_THROWS_AS(static_cast<void>(store.read(first_index_file)), unavailable);
    }
}

TEST_CASE("faults: a server whose clock is off is gone along with") {
    const place run;
    for (const char* const seconds : {"7200", "-7200"}) {
        CAPTURE(std::string{seconds});
        run.proxy.reset();
        run.proxy.arm(std::string{R"({"kind": "skewed_clock", "times": 0, "seconds": )"} + seconds + "}");
        const s3_storage store{run.uri, quick(run.proxy.endpoint(), stall_of_a_machine)};
        // The server behind the proxy uses the true time, so it refuses what the proxy lets pass: what is seen here
        // is that the clock is set once, and that the error is then correct.
        CHECK_THROWS_AS(static_cast<void>(store.read("training_job_end.ts")), access_denied);
    }
}

TEST_CASE("faults: while an object is written, it is there whole or not at all, and an error says so") {
    const place run;
    s3_options options = quick(run.proxy.endpoint(), stall_of_a_machine);
    options.part_bytes = std::uint64_t{5} << 20U;
    std::vector<std::byte> large(11'000'000);
    std::mt19937 random{3};
    std::generate(large.begin(), large.end(), [&] { return static_cast<std::byte>(random()); });
    const byte_view small = byte_view{large}.first(1000);
    s3_storage direct{run.uri, run.server.options()};
    const auto write_both = [&](const std::string& name) {
        s3_storage store{run.uri, options};
        store.write("small" + name, small);
        auto out = store.create("large" + name);
        const std::array pieces{byte_view{large}};
        out->append(pieces);
        out->commit(durability::on_disk);
        return true;
    };
    run.proxy.reset();
    REQUIRE(write_both(""));
    const std::size_t requests = run.proxy.count().requests.size();
    CHECK(requests == 6);  // one; then start, three parts, and completion
    int number = 0;
    std::size_t written = 0;
    for (const fault_case& what :
         {fault_case{R"({"kind": "slow_down")"}, fault_case{R"({"kind": "internal_error", "forward": true)"},
          fault_case{R"({"kind": "cut_before_answer")"}, fault_case{R"({"kind": "cut_before_answer", "forward": true)"},
          fault_case{R"({"kind": "stalled_before_answer")"},
          fault_case{R"({"kind": "stalled_before_answer", "forward": true)"},
          fault_case{R"({"kind": "cut_in_headers", "forward": true)"}, fault_case{R"({"kind": "expired_token")"},
          fault_case{R"({"kind": "status", "status": 200, "code": "InternalError", "forward": true)", nullptr,
                     "uploadId"},
          fault_case{R"({"kind": "access_denied")", "AccessDenied"}}) {
        for (std::size_t at = 1; at <= requests; ++at) {
            CAPTURE(std::string{what.fault});
            CAPTURE(at);
            const std::string name = "_" + std::to_string(number++);
            run.proxy.reset();
            run.proxy.arm(armed(what, at));
            options.stalled_after = std::max(stall_for(what.fault), milliseconds{1000});  // parts of 5 MB
            std::string said;
            try {
                written += write_both(name) ? 1U : 0U;
            } catch (const error& thrown) {
                said = thrown.what();
            }
            CAPTURE(said);
            CHECK((what.error == nullptr ? said.empty() : said.find(what.error) != std::string::npos));
            const std::array<std::pair<std::string, byte_view>, 2> objects{std::pair{"small" + name, small},
                                                                           std::pair{"large" + name, byte_view{large}}};
            for (const auto& [key, wanted] : objects) {
                const bool is_there = direct.size(key).has_value();
                CHECK((is_there || !said.empty()));
                if (is_there) {
                    const byte_buffer got = direct.read(key);
                    CHECK(std::equal(got.view().begin(), got.view().end(), wanted.begin(), wanted.end()));
                }
            }
        }
    }
    CHECK(written >= 8 * requests);
}

TEST_CASE("faults: many threads on one storage, each with its share of faults") {
    const place run;
    run.proxy.reset();
    run.proxy.arm(R"([{"kind": "slow_down", "every": 7, "times": 0}, {"kind": "cut_in_body", "every": 11, "times": 0},
                      {"kind": "cut_before_answer", "every": 13, "times": 0}])");
    const s3_storage store{run.uri, [&] {
                               s3_options options = quick(run.proxy.endpoint(), stall_of_a_machine);
                               options.retry.most_attempts = 30;
                               return options;
                           }()};
    const local_storage right{local_run()};
    const std::vector<std::string> keys = right.list("", "");
    std::vector<std::jthread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 5; ++round) {
                try {
                    store.read_each(keys, [&](std::size_t i, std::optional<byte_view> got, const object_version&) {
                        wrong += got && as_text(*got) == as_text(right.read(keys[i]).view()) ? 0 : 1;
                    });
                    wrong += store.list("", "") == keys ? 0 : 1;
                } catch (const error&) {
                    ++wrong;
                }
            }
        });
    }
    threads.clear();
    CHECK(wrong == 0);
    CHECK(run.proxy.count().fired > 20);
}
