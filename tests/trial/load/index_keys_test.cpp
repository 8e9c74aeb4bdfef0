#include <smdebug/trial/load/loader.hpp>

#include <smdebug/trial/catalog/catalog.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

parsed_index_key key_of(std::string text) { return *parsed_index_key::parse(std::move(text)); }

catalog sample() {
    catalog made;
    made.workers = {"worker_1", "worker_0", "/job:worker/replica:0/task:0/device:GPU:0"};
    detail::growth::add_files(made, {{.step = 1, .worker = 1}, {.step = 1, .worker = 0}, {.step = 5, .worker = 2}});
    return made;
}

}  // namespace

TEST_CASE("parsed_index_key: is parsed, and its text stays valid, even if it is short and is moved") {
    std::vector<parsed_index_key> keys;
    for (const char* text : {"index/000000000/000000000012_worker_0.json", "index/7_w.csv", "3_x.json"}) {
        keys.push_back(key_of(text));
    }
    keys.reserve(100);
    CHECK(keys[0].step() == 12);
    CHECK(keys[0].worker_part() == "worker_0");
    CHECK(keys[1].step() == 7);
    CHECK(keys[1].worker_part() == "w");
    CHECK(keys[1].text() == "index/7_w.csv");
    CHECK(keys[2].worker_part() == "x");
}

TEST_CASE("parsed_index_key: a name of another form is not parsed, and its text is not lost") {
    for (const std::string bad : {"index/abc.json", "index/_worker_0.json", "index/12.json", "index/12_.json"}) {
        std::string text = bad;
        CHECK_FALSE(parsed_index_key::parse(std::move(text)).has_value());
        CHECK(text == bad);  // NOLINT(bugprone-use-after-move): that is the promise
    }
}

TEST_CASE("parsed_index_key: keys are sorted by step, then by worker, each once") {
    std::vector<parsed_index_key> keys{key_of("index/10_a.json"), key_of("index/9_b.json"), key_of("index/9_a.json"),
                                       key_of("index/10_a.json"), key_of("index/9_a.csv")};
    put_in_order(keys);
    std::vector<std::string> texts;
    for (const parsed_index_key& held : keys) {
        texts.push_back(held.text());
    }
    CHECK(texts == std::vector<std::string>{"index/9_a.csv", "index/9_a.json", "index/9_b.json", "index/10_a.json"});
    CHECK(has_later_step(keys, key_of("index/3_a.json")));
    CHECK_FALSE(has_later_step(keys, key_of("index/3_c.json")));
    CHECK_FALSE(has_later_step(keys, key_of("index/10_a.json")));
}

TEST_CASE("known_files: knows a catalog's files for look-ups in any order") {
    const catalog of = sample();
    known_files known{of};
    for (int round = 0; round < 2; ++round) {
        CHECK(known.find(key_of("index/000000000/000000000001_worker_0.json")) != nullptr);
        CHECK(known.find(key_of("index/000000000/000000000001_worker_1.json")) != nullptr);
        CHECK(known.find(key_of("index/000000000/000000000001_worker_2.json")) == nullptr);
        CHECK(known.find(key_of("index/000000000/000000000001_worker_0.json")) != nullptr);
        CHECK(known.find(key_of("index/000000000/000000000005_worker_0.json")) == nullptr);
        CHECK(known.find(key_of("index/000000000/000000000005__job-worker_replica-0_task-0_device-GPU-0.json")) !=
              nullptr);
        CHECK(known.find(key_of("index/000000000/000000000003_worker_0.json")) == nullptr);
    }
}
