#include <smdebug/s3/options.hpp>

#include "support/test.hpp"

#include <smdebug/storage/range_plan.hpp>

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("options: nothing has to be set, and what is not set is left to environment and profile") {
    const s3_options options;
    CHECK_FALSE(options.region.has_value());
    CHECK_FALSE(options.endpoint.has_value());
    CHECK_FALSE(options.keys.has_value());
    CHECK_FALSE(options.ca_file.has_value());
    CHECK_FALSE(options.anonymous);
    CHECK(options.addressing == s3::addressing::automatic);
}

TEST_CASE("options: the defaults go together") {
    const s3_options options;
    CHECK(options.part_bytes >= std::uint64_t{5} << 20U);  // otherwise writing would use another size
    CHECK(options.most_requests >= 1);
    CHECK(options.most_uploads >= 1);
    CHECK(options.retry.most_attempts > 1);
    // A stalled attempt is retried before the time for all attempts is over.
    CHECK(options.stalled_after < options.retry.deadline);
    CHECK(options.connect_within < options.retry.deadline);
    CHECK(options.retry.reach_within < std::chrono::seconds{5});
    CHECK(options.retry.deadline < options.list_deadline);
    CHECK(options.retry.first_pause < options.retry.longest_pause);
    CHECK(options.retry.longest_pause < options.retry.deadline);
}

TEST_CASE("options: single settings by name, the others as they are") {
    const s3_options options{.region = "eu-central-1", .retry = {.most_attempts = 3}, .part_bytes = 1};
    CHECK(options.region == "eu-central-1");
    CHECK(options.retry.most_attempts == 3);
    CHECK(options.retry.deadline == s3_options{}.retry.deadline);
    CHECK(options.part_bytes == 1);
    CHECK(options.merge_gap == range_merging{}.gap);
}
