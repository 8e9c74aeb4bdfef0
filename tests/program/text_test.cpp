#include <program/text.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

TEST_CASE("compact_steps: single steps, ranges and strides") {
    const auto compact = [](std::vector<step_number> steps) { return cli::detail::compact_steps(steps); };
    CHECK(compact({}).empty());
    CHECK(compact({7}) == "7");
    CHECK(compact({0, 1}) == "0, 1");
    CHECK(compact({0, 1, 2}) == "0-2");
    CHECK(compact({0, 2, 4, 6}) == "0-6 by 2");
    CHECK(compact({0, 2, 3, 5}) == "0, 2, 3, 5");
    CHECK(compact({0, 1, 2, 10, 20, 30}) == "0-2, 10-30 by 10");
    CHECK(compact({0, 1000000000, 2000000000}) == "0-2000000000 by 1000000000");
}

TEST_CASE("compact_steps: a list without order ends after some pieces and says how much is left out") {
    CHECK(cli::detail::compact_steps(std::vector<step_number>{0, 1, 3, 4, 7, 9, 12}, 3) == "0, 1, 3, ... (4 more)");
    CHECK(cli::detail::compact_steps(std::vector<step_number>{0, 1, 3, 4}, 3) == "0, 1, 3, 4");
}

TEST_CASE("text: shapes, counts and lists") {
    CHECK(cli::detail::shape_for_people(shape_type{2, 3}) == "2x3");
    CHECK(cli::detail::shape_for_people(shape_type{}) == "scalar");
    CHECK(cli::detail::counted(1, "step") == "1 step");
    CHECK(cli::detail::counted(0, "step") == "0 steps");
    CHECK(cli::detail::joined(texts{"a", "b"}, ", ") == "a, b");
    CHECK(cli::detail::joined(texts{}, ", ").empty());
}

TEST_CASE("duration_text: uses the natural unit") {
    using namespace std::chrono_literals;
    CHECK(cli::detail::duration_text(-5s) == "less than a second");
    CHECK(cli::detail::duration_text(999ms) == "less than a second");
    CHECK(cli::detail::duration_text(1s) == "1 second");
    CHECK(cli::detail::duration_text(119s) == "119 seconds");
    CHECK(cli::detail::duration_text(600s) == "10 minutes");
    CHECK(cli::detail::duration_text(119min) == "119 minutes");
    CHECK(cli::detail::duration_text(47h) == "47 hours");
    CHECK(cli::detail::duration_text(75h) == "3 days");
}

TEST_CASE("size_text: three digits and a unit") {
    CHECK(cli::detail::size_text(0) == "0 bytes");
    CHECK(cli::detail::size_text(999) == "999 bytes");
    CHECK(cli::detail::size_text(1'000) == "1.0 kB");
    CHECK(cli::detail::size_text(1'234'567) == "1.2 MB");
    CHECK(cli::detail::size_text(123'456'789'012) == "123 GB");
    CHECK(cli::detail::size_text(5'000'000'000'000'000) == "5000 TB");
}

TEST_CASE("grouped: a comma before every three digits") {
    CHECK(cli::detail::grouped(0) == "0");
    CHECK(cli::detail::grouped(999) == "999");
    CHECK(cli::detail::grouped(1'000) == "1,000");
    CHECK(cli::detail::grouped(12'345'678) == "12,345,678");
}
