#include <smdebug/core/status.hpp>

#include "support/test.hpp"

using smdebug::result;
using smdebug::status;

namespace {

constexpr result<int> half_of(int value) {
    if (value % 2 != 0) {
        return status::malformed;
    }
    return value / 2;
}

static_assert(half_of(6).ok());
static_assert(*half_of(6) == 3);
static_assert(half_of(6).code() == status::ok);
static_assert(!half_of(7));
static_assert(half_of(7).code() == status::malformed);

}  // namespace

TEST_CASE("describe: each status has words of its own") {
    constexpr std::array all{status::ok,
                             status::truncated,
                             status::bad_length_checksum,
                             status::bad_payload_checksum,
                             status::malformed,
                             status::no_value,
                             status::wrong_tensor,
                             status::unsupported,
                             status::size_mismatch,
                             status::too_large};
    std::set<std::string_view> words;
    for (const status what : all) {
        words.insert(describe(what));
    }
    CHECK(words.size() == all.size());
    CHECK(words.count("unknown status") == 0);
    CHECK(describe(static_cast<status>(255)) == "unknown status");
}

TEST_CASE("result: holds a value and can be tested like a pointer") {
    result<std::string> text = std::string{"value"};
    CHECK(text.ok());
    CHECK(static_cast<bool>(text));
    CHECK(text->size() == 5);
    *text += "s";
    CHECK(*std::as_const(text) == "values");
    CHECK(std::as_const(text)->size() == 6);
}

TEST_CASE("result: holds the status that says why there is no value") {
    const result<std::string> none = status::too_large;
    CHECK_FALSE(none.ok());
    CHECK(none.code() == status::too_large);
}

TEST_CASE("result: a value can be made where it stays") {
    result<std::string> made{std::in_place};
    CHECK(made.ok());
    CHECK(made->empty());
    made = status::malformed;
    CHECK(made.code() == status::malformed);
}

TEST_CASE("result: a move-only value can be moved out") {
    result<std::unique_ptr<int>> owner = std::make_unique<int>(5);
    const std::unique_ptr<int> taken = *std::move(owner);
    REQUIRE(taken != nullptr);
    CHECK(*taken == 5);
}
