#include <smdebug/storage/range_plan.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace smdebug {
inline namespace v1 {
// Here, so that doctest's comparisons find it.
inline bool operator==(const object_range& one, const object_range& other) {
    return one.key == other.key && one.where == other.where;
}
}  // namespace v1
}  // namespace smdebug

namespace {

using ranges = std::vector<object_range>;
using objects = std::map<std::string, std::string, std::less<>>;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

ranges requests_for(const ranges& wanted, range_merging how) {
    const range_plan plan{wanted, how};
    return {plan.requests().begin(), plan.requests().end()};
}

/// The answer of a storage.
std::optional<byte_buffer> answer(const objects& store, const object_range& asked) {
    const auto found = store.find(asked.key);
    if (found == store.end()) {
        return std::nullopt;
    }
    return byte_buffer::take(found->second).slice(asked.where);
}

std::string text_of(const std::optional<byte_buffer>& bytes) {
    return bytes ? std::string{as_text(bytes->view())} : "nothing";
}

/// Collects what is delivered, and checks its order.
struct collector {
    std::vector<std::string> texts = {};
    std::vector<byte_buffer> buffers = {};
    void operator()(std::size_t place, std::optional<byte_buffer> bytes, const object_version& /*version*/) {
        CHECK(place == texts.size());
        texts.push_back(text_of(bytes));
        buffers.push_back(std::move(bytes).value_or(byte_buffer{}));
    }
};

}  // namespace

TEST_CASE("range_plan: neighbouring ranges of one object share a request, up to the gap and not beyond") {
    CHECK(requests_for({}, {}).empty());
    CHECK(requests_for({{"a", {0, 10}}, {"a", {10, 5}}, {"a", {20, 5}}}, {.gap = 5}) == ranges{{"a", {0, 25}}});
    CHECK(requests_for({{"a", {0, 10}}, {"a", {10, 5}}, {"a", {20, 5}}}, {.gap = 4}) ==
          ranges{{"a", {0, 15}}, {"a", {20, 5}}});
    CHECK(requests_for({{"a", {0, 10}}, {"a", {10, 5}}, {"a", {16, 5}}}, {.gap = 0}) ==
          ranges{{"a", {0, 15}}, {"a", {16, 5}}});
    CHECK(requests_for({{"a", {0, 10}}, {"b", {10, 5}}, {"a", {15, 5}}}, {}) ==
          ranges{{"a", {0, 10}}, {"b", {10, 5}}, {"a", {15, 5}}});
    CHECK(requests_for({{"a", {0, 10}}, {"a", {0, 10}}, {"a", {2, 3}}, {"a", {5, 10}}}, {.gap = 0}) ==
          ranges{{"a", {0, 15}}});
    CHECK(requests_for({{"a", {20, 5}}, {"a", {10, 5}}, {"a", {0, 5}}}, {}) ==
          ranges{{"a", {20, 5}}, {"a", {10, 5}}, {"a", {0, 5}}});
}

TEST_CASE("range_plan: no request is larger than the largest, and ranges that fit are not split") {
    const range_merging how{.gap = 100, .largest_request = 10};
    CHECK(requests_for({{"a", {0, 6}}, {"a", {6, 4}}, {"a", {10, 7}}}, how) == ranges{{"a", {0, 10}}, {"a", {10, 7}}});
    CHECK(requests_for({{"a", {0, 6}}, {"a", {6, 5}}, {"a", {11, 5}}}, how) == ranges{{"a", {0, 6}}, {"a", {6, 10}}});
    CHECK(requests_for({{"a", {5, 25}}, {"a", {31, 4}}}, how) ==
          ranges{{"a", {5, 10}}, {"a", {15, 10}}, {"a", {25, 10}}});
    CHECK(requests_for({{"a", {0, 3}}}, {.largest_request = 0}) == ranges{{"a", {0, 1}}, {"a", {1, 1}}, {"a", {2, 1}}});
    const ranges overlapping{{"a", {0, 8}}, {"a", {4, 20}}};
    CHECK(requests_for(overlapping, how) == ranges{{"a", {0, 8}}, {"a", {8, 10}}, {"a", {18, 6}}});
    const range_plan plan{overlapping, how};
    CHECK(plan.wanted()[1].first == 0);
    CHECK(plan.wanted()[1].last == 2);
}

TEST_CASE("range_plan: a range with an unknown end is one request of its own, and nothing overflows") {
    const range_merging how{.gap = 100, .largest_request = 10};
    CHECK(requests_for({{"a", {0, 5}}, {"a", {5, most}}, {"a", {6, 2}}, {"a", {8, 2}}}, how) ==
          ranges{{"a", {0, 5}}, {"a", {5, most - 5}}, {"a", {6, 4}}});
    CHECK(requests_for({{"a", {0, most}}, {"a", {0, most}}}, how) == ranges{{"a", {0, most}}, {"a", {0, most}}});
    CHECK(requests_for({{"a", {most - 3, 100}}}, how) == ranges{{"a", {most - 3, 3}}});
    CHECK(requests_for({{"a", {most - 30, 10}}, {"a", {most - 20, most}}}, how) ==
          ranges{{"a", {most - 30, 10}}, {"a", {most - 20, 10}}, {"a", {most - 10, 10}}});
    CHECK(requests_for({{"a", {most, 1}}}, how) == ranges{{"a", {most, 0}}});
    CHECK(requests_for({{"a", {0, 10 * 1024}}}, how).size() == 1);
    CHECK(requests_for({{"a", {0, 10 * 1024 - 1}}}, how).size() == 1024);
    CHECK(requests_for({{"a", {0, 5}}, {"a", {3, most}}}, {.gap = most, .largest_request = most}) ==
          ranges{{"a", {0, most}}});
}

TEST_CASE("range_plan: empty ranges join their neighbours; alone they check whether the object exists") {
    CHECK(requests_for({{"a", {7, 0}}, {"a", {9, 0}}, {"b", {1, 0}}}, {}) == ranges{{"a", {7, 0}}, {"b", {1, 0}}});
    CHECK(requests_for({{"a", {7, 0}}, {"a", {100, 5}}, {"a", {most, 0}}, {"a", {105, 5}}}, {.gap = 0}) ==
          ranges{{"a", {100, 10}}});
}

TEST_CASE("range_assembly: ranges are delivered in order, whatever the order of the answers") {
    const objects store{{"a", "0123456789abcdefghij"}, {"b", "xyz"}};
    const ranges wanted{{"a", {0, 4}}, {"a", {2, 12}}, {"b", {1, 5}}, {"gone", {0, 1}}, {"a", {18, 5}}};
    const range_plan plan{wanted, {.gap = 0, .largest_request = 5}};
    REQUIRE(plan.requests().size() == 6);
    collector all;
    range_assembly assembly{plan, all};
    for (const std::size_t request : {5U, 4U, 2U, 0U}) {
        CHECK_FALSE(assembly.answered(request));
        assembly.give(request, answer(store, plan.requests()[request]));
        CHECK(assembly.answered(request));
        CHECK(all.texts.size() == (request == 0 ? 1 : 0));
    }
    assembly.give(1, answer(store, plan.requests()[1]));
    CHECK(all.texts == std::vector<std::string>{"0123", "23456789abcd"});
    CHECK_FALSE(assembly.complete());
    assembly.give(3, answer(store, plan.requests()[3]));
    CHECK(all.texts == std::vector<std::string>{"0123", "23456789abcd", "yz", "nothing", "ij"});
    CHECK(assembly.complete());
    assembly.give(3, std::nullopt);  // a second answer is ignored
    CHECK(all.texts.size() == 5);
    const range_plan none{{}, {}};
    CHECK(range_assembly{none, all}.complete());
}

TEST_CASE("range_assembly: a range within one answer shares its memory, and an answer is dropped with its last range") {
    const ranges wanted{{"a", {0, 2}}, {"a", {2, 3}}, {"a", {5, 8}}, {"a", {6, 1}}};
    const range_plan plan{wanted, {.gap = 0, .largest_request = 5}};
    REQUIRE(plan.requests().size() == 3);
    std::vector<std::weak_ptr<const void>> held;
    std::vector<byte_buffer> answers;
    for (const object_range& asked : plan.requests()) {
        answers.push_back(answer({{"a", "0123456789abc"}}, asked).value());
        held.push_back(answers.back().owner());
    }
    std::vector<const std::byte*> expected{answers[0].data(), answers[0].data() + 2, nullptr, answers[1].data() + 1};
    std::size_t seen = 0;
    const auto sink = [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version&) {
        REQUIRE(bytes);
        ++seen;
        if (place == 2) {
            CHECK(as_text(bytes->view()) == "56789abc");
            CHECK(held[0].expired());
        } else {
            CHECK(bytes->data() == expected[place]);
        }
    };
    range_assembly assembly{plan, sink};
    assembly.give(0, std::exchange(answers[0], {}));
    CHECK(seen == 2);
    CHECK(held[0].expired());
    assembly.give(1, std::exchange(answers[1], {}));
    CHECK_FALSE(held[1].expired());  // the last range needs it
    assembly.give(2, std::exchange(answers[2], {}));
    CHECK(seen == 4);
    CHECK(held[1].expired());
    CHECK(held[2].expired());
}

TEST_CASE("range_assembly: behind an object's end, or without an object, no more requests are needed") {
    const ranges wanted{{"a", {0, 30}}, {"a", {40, 5}}, {"b", {0, 10}}, {"b", {0, 1}}, {"c", {0, 1}}};
    const range_plan plan{wanted, {.gap = 0, .largest_request = 5}};
    REQUIRE(plan.requests().size() == 10);
    collector all;
    range_assembly assembly{plan, all};
    assembly.give(0, answer({{"a", "0123456"}}, plan.requests()[0]));
    CHECK_FALSE(assembly.answered(1));
    assembly.give(1, answer({{"a", "0123456"}}, plan.requests()[1]));
    for (std::size_t request = 2; request < 7; ++request) {
        CHECK(assembly.answered(request));
    }
    CHECK(all.texts == std::vector<std::string>{"0123456", ""});
    CHECK_FALSE(assembly.answered(7));
    assembly.give(7, std::nullopt);
    CHECK(assembly.answered(8));
    CHECK_FALSE(assembly.answered(9));
    assembly.give(9, byte_buffer{});
    CHECK(all.texts == std::vector<std::string>{"0123456", "", "nothing", "nothing", ""});
}

TEST_CASE("range_assembly: an answer that is no longer needed is not kept") {
    const ranges wanted{{"a", {0, 30}}, {"b", {0, 1}}};
    const range_plan plan{wanted, {.largest_request = 10}};
    collector all;
    range_assembly assembly{plan, all};
    assembly.give(2, byte_buffer::take(std::string(10, 'x')));
    assembly.give(0, byte_buffer::take(std::string(10, 'y')));
    assembly.give(1, std::nullopt);
    CHECK(all.texts == std::vector<std::string>{"nothing"});
    byte_buffer late = byte_buffer::take(std::string{"z"});
    const std::weak_ptr<const void> owner = late.owner();
    assembly.give(2, std::exchange(late, {}));
    CHECK(owner.expired());
}

TEST_CASE("range_assembly: a failure is thrown after the ranges before it are delivered, a sink's at once") {
    const ranges wanted{{"a", {0, 1}}, {"b", {0, 1}}, {"c", {0, 1}}};
    const range_plan plan{wanted, {}};
    collector all;
    range_assembly assembly{plan, all};
    assembly.fail(1, std::make_exception_ptr(unavailable("gone")));
    CHECK(assembly.answered(1));
    assembly.give(2, byte_buffer::take(std::string{"2"}));
    CHECK_THROWS_AS(assembly.give(0, byte_buffer::take(std::string{"0"})), unavailable);
    CHECK(all.texts == std::vector<std::string>{"0"});

    const auto throwing = [](std::size_t, std::optional<byte_buffer>, const object_version&) {
        throw std::runtime_error("enough");
    };
    range_assembly other{plan, throwing};
    CHECK_THROWS_AS(other.give(0, byte_buffer{}), std::runtime_error);
}

TEST_CASE("range_assembly: a range is of one version, and its requests are made again if they are of two") {
    const ranges wanted{{"a", {0, 5}}, {"a", {0, 12}}, {"a", {12, 3}}};
    const range_plan plan{wanted, {.gap = 0, .largest_request = 5}};
    REQUIRE(plan.requests().size() == 3);
    std::vector<std::string> texts;
    const auto sink = [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& version) {
        texts.push_back(version.tag + ":" + std::string{as_text(bytes.value().view())});
    };
    const auto give = [&](range_assembly& to, std::size_t request, const std::string& tag) {
        to.give(request, answer({{"a", std::string(15, tag.back())}}, plan.requests()[request]),
                {.tag = tag, .size = 15});
    };
    range_assembly assembly{plan, sink};
    give(assembly, 0, "v1");
    CHECK(texts == std::vector<std::string>{"v1:11111"});
    give(assembly, 2, "v2");
    CHECK_FALSE(assembly.ask_again());
    give(assembly, 1, "v1");
    CHECK(assembly.ask_again() == std::optional<std::size_t>{0});
    CHECK_FALSE(assembly.ask_again());
    for (const std::size_t request : {0U, 1U, 2U}) {
        CHECK_FALSE(assembly.answered(request));
        give(assembly, request, "v2");
    }
    CHECK(texts == std::vector<std::string>{"v1:11111", "v2:222222222222", "v2:222"});
    CHECK(assembly.complete());

    // One end that fits the earlier parts, and one that does not.
    for (const bool fits : {true, false}) {
        range_assembly ends{plan, sink};
        ends.give(0, byte_buffer::take(std::string(5, '1')), {.tag = "v1", .size = fits ? 5U : 15U});
        ends.give(1, byte_buffer{}, {});
        CHECK(ends.ask_again().has_value() != fits);
        CHECK(ends.complete() == fits);
    }
    texts.clear();
    range_assembly endless{plan, sink, "place/"};
    const unavailable thrown = smdebug_test::caught<unavailable>([&] {
        for (int turn = 0; turn < 100; ++turn) {
            give(endless, 0, "v" + std::to_string(turn));
            give(endless, 1, "w" + std::to_string(turn));
        }
    });
    CHECK(thrown.where() == "place/a");
    CHECK(texts.size() == 1);
}

TEST_CASE("range_assembly: a part of an unknown version does not hide that later parts are of two") {
    const ranges wanted{{"a", {0, 15}}};
    const range_plan plan{wanted, {.gap = 0, .largest_request = 5}};
    const std::vector<std::array<std::string, 3>> of_two{{"", "v1", "v2"}, {"v1", "", "v2"}, {"v1", "v2", ""}};
    for (const std::array<std::string, 3>& tags : of_two) {
        collector all;
        range_assembly assembly{plan, all};
        for (std::size_t request = 0; request < tags.size(); ++request) {
            assembly.give(request, byte_buffer::take(std::string(5, 'x')), {.tag = tags[request]});
        }
        CHECK(assembly.ask_again() == std::optional<std::size_t>{0});
        CHECK(all.texts.empty());
    }
}

TEST_CASE("range_plan: random ranges of random objects contain the same bytes as single reads") {
    std::mt19937_64 random{20};
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    for (int turn = 0; turn < 3000; ++turn) {
        objects store;
        for (const char* key : {"a", "b", "c"}) {
            if (below(4) != 0) {
                std::string& text = store[key];
                for (std::uint64_t size = below(120); size > 0; --size) {
                    text.push_back(static_cast<char>('a' + below(26)));
                }
            }
        }
        const range_merging how{.gap = below(3) == 0 ? 0 : below(40), .largest_request = below(50)};
        ranges wanted;
        std::string_view key = "a";
        std::uint64_t offset = 0;
        for (std::uint64_t left = below(30); left > 0; --left) {
            if (below(5) == 0) {
                key = std::string_view{"abcd"}.substr(below(4), 1);
                offset = 0;
            }
            offset = below(3) == 0 ? below(150) : offset + below(12);
            std::uint64_t length = below(4) == 0 ? 0 : below(40);
            if (below(20) == 0) {
                length = below(2) == 0 ? most : most - offset;
            }
            wanted.push_back({key, {offset, length}});
        }
        const range_plan plan{wanted, how};
        const std::uint64_t largest = std::max<std::uint64_t>(how.largest_request, 1);

        // Never more requests than ranges and cuts; never more bytes than the wanted ones and the gaps.
        std::uint64_t cuts = 0;
        std::uint64_t bytes_wanted = 0;
        const auto endless = [&](byte_range where) { return where.length / largest >= 1024; };
        for (const object_range& one : wanted) {
            cuts += endless(one.where) || one.where.length == 0 ? 0 : (one.where.length - 1) / largest;
            bytes_wanted += endless(one.where) ? 0 : one.where.length;
        }
        CHECK(plan.requests().size() <= wanted.size() + cuts);
        std::uint64_t bytes_asked = 0;
        for (const object_range& asked : plan.requests()) {
            CHECK((asked.where.length <= largest || endless(asked.where)));
            CHECK(asked.where.length <= most - asked.where.offset);
            bytes_asked += endless(asked.where) ? 0 : asked.where.length;
        }
        CHECK(bytes_asked <= bytes_wanted + how.gap * wanted.size());

        // Answers in any order, as they are needed.
        std::vector<std::size_t> order(plan.requests().size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        if (turn % 2 == 0) {
            std::shuffle(order.begin(), order.end(), random);
        }
        collector all;
        range_assembly assembly{plan, all};
        for (const std::size_t request : order) {
            if (!assembly.answered(request)) {
                assembly.give(request, answer(store, plan.requests()[request]));
            }
        }
        CHECK(assembly.complete());
        REQUIRE(all.texts.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            CHECK(all.texts[i] == text_of(answer(store, wanted[i])));
        }
    }
}
