#include <smdebug/batch/ranks/result_bytes.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smd = smdebug;
using namespace std::string_view_literals;

namespace {

// Every field has a value of its own.
smd::run_result sample() {
    const std::string odd{"a\0b\xff\n\"\xc3"sv};
    smd::finding found{.met = true,
                       .damaged = true,
                       .tensor = "fc1.weight" + odd,
                       .worker = "worker_3",
                       .rule = "dead_relu",
                       .step = std::numeric_limits<smd::step_number>::max(),
                       .mode_step = -1,
                       .mode = smd::mode::predict,
                       .value = std::bit_cast<double>(0xfff8'dead'beef'0001U),
                       .threshold = -0.0,
                       .message = "met"};
    smd::rule_verdict verdict{.rule = "dead_relu",
                              .status = smd::rule_status::incomplete,
                              .steps_evaluated = 11,
                              .steps_met = 12,
                              .steps_skipped = 13,
                              .tensors = 14,
                              .unread = std::numeric_limits<std::size_t>::max(),
                              .details = odd,
                              .found = {found, smd::finding{}}};
    return {.run = {.place = 7,
                    .path = "runs/" + odd,
                    .version = "v1",
                    .bytes = 5'000'000'000,
                    .error = "no run",
                    .steps = smd::step_range{.begin = 31, .end = 32},
                    .whole = true},
            .state = smd::run_state::no_memory,
            .error = "too large",
            .steps = 21,
            .workers = 22,
            .tensors = 23,
            .last_step = -1,
            .seconds = 0.1,
            .verdicts = {verdict, {.rule = "nothing to look at"}},
            .messages = {{.what = smd::run_message::kind::note, .text = "n"},
                         {.what = smd::run_message::kind::damage, .text = odd},
                         {.what = smd::run_message::kind::error, .text = ""}},
            .reductions = std::make_shared<smd::row_spool>(),
            .loss = {1, 0.5F, std::numeric_limits<float>::infinity()},
            .loss_lost = 40,
            .others = {{.run = {.path = "b.tar!/1"}, .error = odd, .verdicts = {verdict}},
                       {.run = {.path = "b.tar!/2"}, .reductions = std::make_shared<smd::row_spool>()}},
            .parts = {{.begin = 41}, {.end = 42}},
            .parts_inform = true};
}

}  // namespace

TEST_CASE("a run comes back with every field") {
    const smd::batch_run run = sample().run;
    const smd::batch_run back = smd::run_from_bytes(smd::to_bytes(run));
    CHECK(back.place == run.place);
    CHECK(back.path == run.path);
    CHECK(back.version == run.version);
    CHECK(back.bytes == run.bytes);
    CHECK(back.error == "no run");
    REQUIRE(back.steps);
    CHECK(back.steps->begin == 31);
    CHECK(back.steps->end == 32);
    CHECK(back.whole);
    CHECK(smd::run_from_bytes(smd::to_bytes(smd::batch_run{})).path.empty());
}

TEST_CASE("a result comes back with every field and bit") {
    const smd::run_result sent = sample();
    const smd::run_result back = smd::result_from_bytes(smd::to_bytes(sent));
    REQUIRE(back.parts.size() == 2);
    CHECK(back.parts[0].begin == 41);
    CHECK_FALSE(back.parts[0].end);
    CHECK_FALSE(back.parts[1].begin);
    CHECK(back.parts[1].end == 42);
    CHECK(back.parts_inform);
    CHECK(smd::to_bytes(back) == smd::to_bytes(sent));
    CHECK(back.run.place == 7);
    CHECK(back.run.path == sent.run.path);
    CHECK(back.state == smd::run_state::no_memory);
    CHECK(back.error == "too large");
    CHECK(back.steps == 21);
    CHECK(back.workers == 22);
    CHECK(back.tensors == 23);
    CHECK(back.last_step == -1);
    CHECK(back.seconds == 0.1);
    REQUIRE(back.verdicts.size() == 2);
    const smd::rule_verdict& verdict = back.verdicts[0];
    CHECK(verdict.rule == "dead_relu");
    CHECK(verdict.status == smd::rule_status::incomplete);
    CHECK(verdict.steps_evaluated == 11);
    CHECK(verdict.steps_met == 12);
    CHECK(verdict.steps_skipped == 13);
    CHECK(verdict.tensors == 14);
    CHECK(verdict.unread == std::numeric_limits<std::size_t>::max());
    CHECK(verdict.details == sent.verdicts[0].details);
    REQUIRE(verdict.found.size() == 2);
    const smd::finding& found = verdict.found[0];
    CHECK(found.met);
    CHECK(found.damaged);
    CHECK(found.tensor == sent.verdicts[0].found[0].tensor);
    CHECK(found.worker == "worker_3");
    CHECK(found.rule == "dead_relu");
    CHECK(found.step == std::numeric_limits<smd::step_number>::max());
    CHECK(found.mode_step == -1);
    CHECK(found.mode == smd::mode::predict);
    CHECK(std::bit_cast<std::uint64_t>(found.value) == 0xfff8'dead'beef'0001U);
    CHECK(std::bit_cast<std::uint64_t>(found.threshold) == std::bit_cast<std::uint64_t>(-0.0));
    CHECK(found.message == "met");
    CHECK_FALSE(verdict.found[1].met);
    CHECK_FALSE(back.verdicts[1].status);
    REQUIRE(back.messages.size() == 3);
    CHECK(back.messages[1].what == smd::run_message::kind::damage);
    CHECK(back.messages[1].text == sent.messages[1].text);
    CHECK(back.messages[2].what == smd::run_message::kind::error);
    CHECK(back.reductions);
    CHECK(back.loss == std::vector<float>{1, 0.5F, std::numeric_limits<float>::infinity()});
    CHECK(back.loss_lost == 40);
    REQUIRE(back.others.size() == 2);
    CHECK(back.others[0].run.path == "b.tar!/1");
    CHECK(back.others[0].verdicts.at(0).found.size() == 2);
    CHECK_FALSE(back.others[0].reductions);
    CHECK(back.others[1].reductions);
    CHECK_FALSE(smd::result_from_bytes(smd::to_bytes(smd::run_result{})).reductions);
}

TEST_CASE("bytes that are cut anywhere, or go on, are an error that says where") {
    const std::string whole = smd::to_bytes(sample());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS(static_cast<void>(smd::result_from_bytes(std::string_view{whole}.substr(0, length))),
                        smd::corrupt_data);
    }
    try {
        static_cast<void>(smd::result_from_bytes(whole + '\0'));
        FAIL("taken");
    } catch (const smd::corrupt_data& thrown) {
        CHECK(thrown.message() == "a message between processes is damaged: it goes on where it should end");
        CHECK(thrown.offset() == whole.size());
    }
    const std::string run = smd::to_bytes(sample().run);
    CHECK_THROWS_AS(static_cast<void>(smd::run_from_bytes(run + "x")), smd::corrupt_data);
    CHECK_THROWS_AS(static_cast<void>(smd::run_from_bytes(std::string_view{run}.substr(1))), smd::error);
}

TEST_CASE("bytes that lie are an error, or another result, and take no more memory than they have themselves") {
    const std::string whole = smd::to_bytes(sample());
    std::size_t refused = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const char wrong : {'\xff', '\x7f', '\0'}) {
            std::string bytes = whole;
            bytes[i] = wrong;
            try {
                const smd::run_result other = smd::result_from_bytes(bytes);
                CHECK(smd::to_bytes(other) == bytes);
            } catch (const smd::error&) {
                ++refused;
            }
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("another version says that the programs differ") {
    std::string bytes = smd::to_bytes(smd::batch_run{});
    bytes[0] = 9;
    CHECK_THROWS_WITH_AS(static_cast<void>(smd::run_from_bytes(bytes)),
                         doctest::Contains("different versions of the program"), smd::unsupported);
}

TEST_CASE("an archive's runs have no runs themselves: bytes go one level deep") {
    smd::run_result deep;
    deep.others.resize(1);
    deep.others[0].others.resize(1);
    CHECK_THROWS_AS(static_cast<void>(smd::to_bytes(deep)), smd::value_error);
}
