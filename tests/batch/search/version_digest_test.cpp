#include <smdebug/batch/run_version.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

std::string digest_of(const std::vector<object_entry>& entries) {
    version_digest digest;
    for (const object_entry& one : entries) {
        digest.add(one);
    }
    return digest.text();
}

}  // namespace

TEST_CASE("version_digest: the same for the same entries in the same order, another one for all others") {
    const std::vector<object_entry> some{{"a", 1, "x"}, {"b", 2, "y"}};
    CHECK(digest_of(some) == digest_of(some));
    CHECK(digest_of(some).size() == 32);
    CHECK(digest_of(some).find_first_not_of("0123456789abcdef") == std::string::npos);
    const std::set<std::string> different{digest_of({}),
                                          digest_of(some),
                                          digest_of({{"b", 2, "y"}, {"a", 1, "x"}}),
                                          digest_of({{"a", 1, "x"}}),
                                          digest_of({{"a", 1, "x"}, {"b", 2, "z"}}),
                                          digest_of({{"a", 1, "x"}, {"b", 3, "y"}}),
                                          digest_of({{"a", 1, "x"}, {"c", 2, "y"}}),
                                          digest_of({{"a", 12, ""}}),
                                          digest_of({{"a1", 2, ""}}),
                                          digest_of({{"a", 1, "2"}})};
    CHECK(different.size() == 10);
    version_digest texts;
    texts.add(std::string_view{"a"});
    CHECK(texts.text() != version_digest{}.text());
}

TEST_CASE("is_file_of_run: what a run has, and neither caches nor what others keep there") {
    for (const char* key : {"index/000000000/0_worker_0.json", "events/000000000000/0_worker_0.tfevents",
                            "collections/000000000/worker_0_collections.json", "training_job_end.ts", "claim.json"}) {
        CHECK(is_file_of_run(key));
    }
    for (const char* key :
         {"", "notes", "model.pt", "x/config.json", "old.tar.smdx", "indexes/x", "checkpoints/1/x.bin"}) {
        CHECK_FALSE(is_file_of_run(key));
    }
}
