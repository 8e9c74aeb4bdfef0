#include <smdebug/batch/ranks/messages.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smd = smdebug;
using namespace smd::detail;

TEST_CASE("each message comes back as it was") {
    const std::vector<rank_message> all{rank_ready{.slots = 5, .machine = "node"},
                                        rank_alive{},
                                        smd::batch_run{.place = 3, .path = "p", .version = "v", .bytes = 9},
                                        smd::run_result{.run = {.place = 4}, .error = "e"},
                                        no_more_runs{},
                                        stop_runs{},
                                        rank_ended{.failure = "why"},
                                        all_done{.lost = 2},
                                        result_rows{.place = 8, .number = 2, .rows = "rows"},
                                        rank_leaves{},
                                        give_back_runs{},
                                        runs_back{.places = {7, 1'000'000'000'000}}};
    REQUIRE(all.size() == std::variant_size_v<rank_message>);
    for (std::size_t kind = 0; kind < all.size(); ++kind) {
        CAPTURE(kind);
        const std::string bytes = message_bytes(all[kind]);
        const rank_message back = message_from_bytes(bytes);
        CHECK(back.index() == kind);
        CHECK(message_bytes(back) == bytes);
        CHECK_THROWS_AS(static_cast<void>(message_from_bytes(bytes + "x")), smd::corrupt_data);
        CHECK_THROWS_AS(static_cast<void>(message_from_bytes(std::string_view{bytes}.substr(0, bytes.size() - 1))),
                        smd::corrupt_data);
    }
    CHECK(std::get<rank_ready>(message_from_bytes(message_bytes(all[0]))).machine == "node");
    CHECK(std::get<smd::batch_run>(message_from_bytes(message_bytes(all[2]))).place == 3);
    CHECK(std::get<smd::run_result>(message_from_bytes(message_bytes(all[3]))).error == "e");
    CHECK(std::get<result_rows>(message_from_bytes(message_bytes(all[8]))).rows == "rows");
    CHECK(std::get<runs_back>(message_from_bytes(message_bytes(all[11]))).places ==
          std::vector<std::uint64_t>{7, 1'000'000'000'000});
    CHECK(std::get<all_done>(message_from_bytes(message_bytes(all[7]))).lost == 2);
    CHECK(std::get<rank_ended>(message_from_bytes(message_bytes(all[6]))).failure == "why");
}

TEST_CASE("a kind of message that there is not is an error, and so is another version") {
    std::string bytes = message_bytes(rank_alive{});
    bytes[1] = 100;
    CHECK_THROWS_AS(static_cast<void>(message_from_bytes(bytes)), smd::corrupt_data);
    bytes[0] = 100;
    CHECK_THROWS_AS(static_cast<void>(message_from_bytes(bytes)), smd::unsupported);
}
