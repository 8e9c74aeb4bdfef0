#include <smdebug/batch/ranks/rank_ledger.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace smd = smdebug;
using namespace std::chrono_literals;
using ledger = smd::detail::rank_ledger;

namespace {

// A ledger and a clock that goes when it is told to.
struct office {
    explicit office(int ranks, std::size_t slots = 2, std::size_t runs = 0) : book(ranks, {}, now), count(ranks) {
        for (int rank = 0; rank < ranks; ++rank) {
            book.join(rank, slots, now);
        }
        for (std::size_t i = 0; i < runs; ++i) {
            add(i);
        }
    }
    void add(std::uint64_t place) { book.add({.place = place, .path = "run-" + std::to_string(place)}); }

    // Hands out all that can be.
    std::map<int, std::vector<std::uint64_t>> hand_out(std::size_t to_come = ledger::many) {
        std::map<int, std::vector<std::uint64_t>> all;
        while (const auto next = book.next(now, to_come)) {
            all[next->rank].push_back(next->run.place);
        }
        return all;
    }
    bool accept(int rank, std::uint64_t place) { return book.accept(rank, place, now); }
    // A rank does its runs in order, one in so much time, and gets others each time, which are added as they are wanted.
    void work(int rank, std::chrono::microseconds each, std::chrono::milliseconds time) {
        for (const auto end = now + time; now < end;) {
            for (; book.wanted(now) > 0; ++added) {
                add(added);
            }
            for (const auto& [to, runs] : hand_out()) {
                has[to].insert(has[to].end(), runs.begin(), runs.end());
            }
            now += each;
            REQUIRE_FALSE(has[rank].empty());
            REQUIRE(accept(rank, has[rank].front()));
            has[rank].pop_front();
        }
    }
    // Time passes, a second at a time; all but some are heard each second.
    std::vector<ledger::loss> pass(std::chrono::seconds time, const std::set<int>& silent) {
        std::vector<ledger::loss> losses;
        for (auto end = now + time; now < end;) {
            now += 1s;
            for (int rank = 0; rank < count; ++rank) {
                if (!silent.contains(rank)) {
                    book.heard(rank, now);
                }
            }
            for (ledger::loss& each : book.lose_silent(now)) {
                losses.push_back(std::move(each));
            }
        }
        return losses;
    }

    ledger::time_point now{1000s};
    ledger book;
    int count;
    std::uint64_t added = 0;
    std::map<int, std::deque<std::uint64_t>> has;  // what work() has handed out, and is not done
};

std::vector<std::uint64_t> places(const std::vector<smd::batch_run>& runs) {
    std::vector<std::uint64_t> all;
    for (const smd::batch_run& run : runs) {
        all.push_back(run.place);
    }
    return all;
}

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("runs go in order to whoever has most slots free, and nobody has more than its slots") {
    office with{3, 2};
    CHECK(with.book.wanted(with.now) == 6);
    for (std::uint64_t place = 0; place < 10; ++place) {
        with.add(place);
    }
    CHECK(with.book.wanted(with.now) == 0);
    const auto first = with.hand_out();
    REQUIRE(first.size() == 3);
    std::set<std::uint64_t> gone;
    for (const auto& [rank, runs] : first) {
        CHECK(runs.size() == 2);
        gone.insert(runs.begin(), runs.end());
    }
    CHECK(gone == std::set<std::uint64_t>{0, 1, 2, 3, 4, 5});
    CHECK_FALSE(with.book.next(with.now));
    // Each gets one before anyone gets two.
    for (const auto& [rank, runs] : first) {
        CHECK(runs[0] < 3);
    }
    CHECK(with.book.is_open(first.at(1)[0]));
    CHECK(with.accept(1, first.at(1)[0]));
    CHECK_FALSE(with.book.is_open(first.at(1)[0]));
    const auto second = with.hand_out();
    REQUIRE(second.size() == 1);
    CHECK(second.at(1) == list{6});
    CHECK(with.book.open() == 9);
}

TEST_CASE("a rank gets runs once it has joined, and according to its threads") {
    ledger book{3, {}, {}};
    book.add({.place = 0});
    CHECK(book.wanted({}) == 0);
    CHECK_FALSE(book.next({}));
    CHECK_FALSE(book.has_joined(2));
    book.join(2, 1, {});
    CHECK(book.has_joined(2));
    const auto next = book.next({});
    REQUIRE(next);
    CHECK(next->rank == 2);
    book.join(1, 17, {});
    CHECK(book.wanted({}) == 17);
    CHECK_THROWS_AS(book.add({.place = 0}), smd::value_error);
}

TEST_CASE("a rank that is silent for too long is lost, and others get its runs before all else") {
    office with{3, 2, 20};
    const auto first = with.hand_out();
    CHECK(with.pass(20s, {2}).empty());
    const auto losses = with.pass(1s, {2});
    REQUIRE(losses.size() == 1);
    CHECK(losses[0].rank == 2);
    CHECK(losses[0].silent == 21s);
    CHECK(places(losses[0].again) == first.at(2));
    CHECK(losses[0].given_up.empty());
    CHECK(with.book.is_lost(2));
    CHECK(with.book.lost() == std::vector<int>{2});
    CHECK(with.pass(100s, {2}).empty());  // once
    // Rank 1's next two are those; rank 0 does without: they may be what killed rank 2.
    CHECK(with.accept(0, first.at(0)[0]));
    CHECK(with.hand_out() == std::map<int, list>{{0, {6}}});
    CHECK(with.accept(1, first.at(1)[0]));
    CHECK(with.accept(1, first.at(1)[1]));
    CHECK(with.hand_out() == std::map<int, list>{{1, first.at(2)}});
}

TEST_CASE("rank 0 takes the runs of lost ranks where nobody else is left, and is never lost itself") {
    office with{2, 2, 4};
    const auto first = with.hand_out();
    CHECK(with.pass(30s, {0, 1}).size() == 1);
    CHECK(with.accept(0, first.at(0)[0]));
    CHECK(with.hand_out() == std::map<int, list>{{0, {first.at(1)[0]}}});
}

TEST_CASE("a rank that was only stopped is back with its first word; of two results the first counts") {
    office with{3, 1, 3};
    const auto first = with.hand_out();
    const std::uint64_t twice = first.at(2)[0];
    CHECK(with.pass(30s, {2}).size() == 1);
    CHECK(with.accept(1, first.at(1)[0]));
    CHECK(with.hand_out() == std::map<int, list>{{1, {twice}}});

    SUBCASE("the other was faster") {
        CHECK(with.accept(1, twice));
        CHECK(with.book.heard(2, with.now));
        CHECK_FALSE(with.accept(2, twice));
    }
    SUBCASE("it was faster itself") {
        CHECK(with.book.heard(2, with.now));
        CHECK(with.accept(2, twice));
        CHECK_FALSE(with.accept(1, twice));
    }
    CHECK_FALSE(with.book.heard(2, with.now));
    CHECK_FALSE(with.book.is_lost(2));
    CHECK(with.accept(0, first.at(0)[0]));
    CHECK(with.book.open() == 0);
    with.add(10);
    with.add(11);
    with.add(12);
    CHECK(with.hand_out().size() == 3);  // all have their slots back
}

TEST_CASE("a rank that is back still has what it had: its slots are full until it says so") {
    office with{2, 1, 2};
    const auto first = with.hand_out();
    CHECK(with.pass(30s, {1}).size() == 1);
    CHECK(with.book.heard(1, with.now));
    CHECK(with.accept(0, first.at(0)[0]));
    with.add(2);
    // Not to rank 0, as rank 1 lives; not to rank 1, which has it: it need only end it.
    CHECK(with.hand_out() == std::map<int, list>{{0, {2}}});
    CHECK(with.accept(1, first.at(1)[0]));
    CHECK(with.accept(0, 2));
    CHECK(with.book.open() == 0);
    CHECK_FALSE(with.book.next(with.now));
}

TEST_CASE("a run that two ranks were lost with is given up") {
    office with{4, 1, 1};
    const auto first = with.hand_out();
    const int unlucky = first.begin()->first;
    REQUIRE(unlucky > 0);
    CHECK(with.pass(30s, {unlucky})[0].again.size() == 1);
    const auto second = with.hand_out();
    const int next = second.begin()->first;
    CHECK(next != unlucky);
    REQUIRE(next > 0);
    const auto losses = with.pass(30s, {unlucky, next});
    REQUIRE(losses.size() == 1);
    CHECK(losses[0].again.empty());
    CHECK(places(losses[0].given_up) == list{0});
    CHECK(losses[0].given_up[0].path == "run-0");
    CHECK(with.book.open() == 0);
    CHECK(with.book.heard(unlucky, with.now));
    CHECK_FALSE(with.accept(unlucky, 0));
    CHECK(with.book.lost() == std::vector<int>{next});
}

TEST_CASE("a rank that is quick has what it does in 20 ms, or 64 runs; one that is slow its slots") {
    office with{3, 2};
    with.work(1, 1ms, 200ms);
    CHECK(with.has[1].size() >= 15);
    CHECK(with.has[1].size() <= 20);
    CHECK(with.has[2].size() == 2);  // it has had no result
    with.work(1, 50us, 200ms);
    CHECK(with.has[1].size() >= 60);
    CHECK(with.has[1].size() < 64);
    with.work(2, 15ms, 90ms);
    CHECK(with.has[2].size() <= 2);
}

TEST_CASE("a rank whose results come many at once is as quick as with one at a time") {
    office with{2, 2};
    for (int round = 0; round < 50; ++round) {  // 1,000 a second
        with.work(1, 0us, 0ms);
        for (; with.book.wanted(with.now) > 0; ++with.added) {
            with.add(with.added);
        }
        for (const auto& [to, runs] : with.hand_out()) {
            with.has[to].insert(with.has[to].end(), runs.begin(), runs.end());
        }
        with.now += 5ms;
        for (int i = 0; i < 5 && !with.has[1].empty(); ++i) {
            CHECK(with.accept(1, with.has[1].front()));
            with.has[1].pop_front();
        }
    }
    CHECK(with.has[1].size() >= 10);
    CHECK(with.has[1].size() <= 20);
}

TEST_CASE("a rank that stalls gets no more, gives back what it has not begun, and is trusted again by its rate") {
    office with{3, 2};
    with.work(1, 50us, 50ms);
    const auto before = with.has[1];
    REQUIRE(before.size() > 50);
    CHECK(with.book.stalled(with.now).empty());
    CHECK(with.book.stalls_at() == with.now + 100ms);
    with.now = with.book.stalls_at() + 1us;
    CHECK(with.book.wanted(with.now) == 0);
    CHECK(with.book.stalled(with.now) == std::vector<int>{1});
    CHECK(with.book.stalled(with.now).empty());  // once
    CHECK(with.book.stalls_at() == ledger::time_point::max());
    // It has begun the first, and keeps one; the others go to whoever is free, before all else.
    for (std::size_t i = 2; i < before.size(); ++i) {
        with.book.give_back(1, before[i]);
    }
    CHECK(with.accept(0, with.has[0].front()));
    CHECK(with.accept(2, with.has[2].front()));
    CHECK(with.hand_out() == std::map<int, list>{{0, {before[3]}}, {2, {before[2]}}});
    // A run that was given back is no suspect: nobody was lost with it.
    with.book.leave(2);
    CHECK(with.pass(30s, {1})[0].given_up.empty());
    CHECK(with.book.heard(1, with.now));
    CHECK(with.accept(1, before[0]));
    CHECK(with.hand_out().at(1).size() == 1);  // it is slow by now
    with.book.give_back(1, 1'000'000);         // whatever it says
}

TEST_CASE("near the end of the list the ranks share what is left") {
    office with{2, 2};
    with.work(1, 50us, 50ms);
    with.work(0, 50us, 50ms);
    with.work(1, 50us, 50ms);
    for (const auto& [rank, runs] : with.has) {
        for (const std::uint64_t place : runs) {
            static_cast<void>(with.accept(rank, place));
        }
    }
    REQUIRE(with.book.open() == 0);
    for (std::uint64_t place = 1'000'000; place < 1'000'040; ++place) {
        with.add(place);
    }
    std::size_t most = 0;
    for (const auto& [rank, runs] : with.hand_out(0)) {
        most = std::max(most, runs.size());
    }
    CHECK(most <= 10);
    CHECK(most >= 5);
    CHECK(with.hand_out(1'000).size() == 2);  // there are more than it had seemed
}

TEST_CASE("of runs that ranks were lost with no rank has more than its slots, however quick it is") {
    office with{4, 2};
    with.work(1, 50us, 50ms);
    with.work(2, 50us, 50ms);
    const auto suspects = places(with.book.lose(1).again);
    REQUIRE(suspects.size() > 50);
    for (const std::uint64_t place : with.has[2]) {
        CHECK(with.accept(2, place));
    }
    for (std::uint64_t place = 1'000'000; place < 1'000'100; ++place) {
        with.add(place);
    }
    const auto next = with.hand_out().at(2);
    CHECK(next.size() > 50);
    CHECK(std::ranges::count_if(next, [&](std::uint64_t place) { return std::ranges::count(suspects, place) > 0; }) ==
          2);
    CHECK(next[0] == suspects[0]);
}

TEST_CASE("parts of large runs go before others, and no rank has more of them than slots, however quick it is") {
    office with{3, 2};
    with.work(1, 50us, 50ms);
    for (const std::uint64_t place : with.has[1]) {
        CHECK(with.accept(1, place));
    }
    for (std::uint64_t place = 1'000'000; place < 1'000'100; ++place) {
        with.add(place);
    }
    for (std::uint64_t part = 2'000'000; part < 2'000'008; ++part) {
        with.book.add({.place = part, .steps = smd::step_range{}}, true);
    }
    const auto next = with.hand_out().at(1);
    CHECK(next.size() > 50);
    CHECK(list{next.begin(), next.begin() + 2} == list{2'000'000, 2'000'001});
    CHECK(next[2] == 1'000'000);
    CHECK(with.accept(1, 2'000'000));
    CHECK(with.hand_out().at(1) == list{2'000'002});
}

TEST_CASE("a run of which rank 0 knows something is rank 0's, while it does runs") {
    office with{3, 1};
    const auto known = std::make_shared<smd::row_spool>();
    with.book.add({.place = 7, .whole = true, .known = known}, true);
    with.add(8);
    const auto first = with.hand_out();
    CHECK(first.at(0) == list{7});
    CHECK(with.accept(0, 7));
    with.book.add({.place = 9, .whole = true, .known = known}, true);
    with.book.leave(0);
    CHECK(with.hand_out().size() == 1);
}

TEST_CASE("a run that is not to be done any more is not handed out, and its result is dropped") {
    office with{2, 1, 3};
    const auto first = with.hand_out();
    REQUIRE(with.book.find(2) != nullptr);
    CHECK(with.book.find(2)->path == "run-2");
    CHECK(with.book.remove(2)->place == 2);
    CHECK(with.book.find(2) == nullptr);
    CHECK_FALSE(with.book.remove(2));
    CHECK(with.book.remove(first.at(1)[0]));
    CHECK_FALSE(with.accept(1, first.at(1)[0]));
    CHECK(with.accept(0, first.at(0)[0]));
    CHECK(with.hand_out().empty());
    CHECK(with.book.open() == 0);
    CHECK(with.book.wanted(with.now) == 2);
}

TEST_CASE("one that breaks or leaves gives back what it had; only the runs of one that breaks are suspect") {
    office with{3, 2, 6};
    const auto first = with.hand_out();
    CHECK_FALSE(with.book.has_left(1));
    with.book.leave(1);
    CHECK(with.book.has_left(1));
    const auto broken = with.book.lose(2);
    CHECK(places(broken.again) == first.at(2));
    CHECK_FALSE(with.book.heard(2, with.now));  // for good
    CHECK(with.book.lost() == std::vector<int>{2});
    CHECK_FALSE(with.book.has_joined(1));
    CHECK(with.pass(60s, {1, 2}).empty());
    CHECK(with.accept(0, first.at(0)[0]));
    CHECK(with.accept(0, first.at(0)[1]));
    CHECK(with.hand_out() == std::map<int, list>{{0, first.at(1)}});
    CHECK(with.accept(0, first.at(1)[0]));
    CHECK(with.accept(0, first.at(1)[1]));
    CHECK(with.hand_out() == std::map<int, list>{{0, first.at(2)}});
    CHECK(with.book.open() == 2);
    CHECK_FALSE(with.book.is_deserted());
    with.book.leave(0);
    CHECK(with.book.is_deserted());
}

TEST_CASE("one that never joins is lost after a longer time") {
    ledger book{2, {}, ledger::time_point{}};
    ledger::time_point now{};
    for (int i = 0; i < 120; ++i) {
        now += 1s;
        REQUIRE(book.lose_silent(now).empty());
    }
    CHECK(book.lose_silent(now + 1s).size() == 1);
    CHECK(book.heard(1, now + 2s));
    CHECK_FALSE(book.is_lost(1));
    CHECK_FALSE(book.has_joined(1));
    book.join(1, 3, now);
    CHECK(book.wanted(now) == 3);
}

TEST_CASE("while this process was stopped itself, nobody was silent") {
    office with{2, 1, 2};
    static_cast<void>(with.hand_out());
    CHECK(with.pass(5s, {1}).empty());
    with.now += 3600s;
    CHECK(with.book.lose_silent(with.now).empty());
    CHECK(with.pass(15s, {1}).empty());
    CHECK(with.pass(1s, {1}).size() == 1);
}

TEST_CASE("what is left of a batch that is stopped") {
    office with{2, 1, 4};
    const auto first = with.hand_out();
    CHECK(with.accept(1, first.at(1)[0]));
    CHECK(with.book.abandon().size() == 3);
    CHECK(with.book.open() == 0);
    CHECK_FALSE(with.book.next(with.now));
    CHECK_FALSE(with.accept(0, first.at(0)[0]));
}

TEST_CASE("whatever happens to ranks, each run has one end") {
    std::mt19937 random{20};
    const auto one_of = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    for (int round = 0; round < 200; ++round) {
        const int ranks = 1 + one_of(5);
        const std::uint64_t runs = 40;
        office with{ranks, 1 + static_cast<std::size_t>(one_of(3))};
        std::map<int, std::set<std::uint64_t>> doing;
        std::map<std::uint64_t, int> ends;
        std::set<int> silent;
        std::uint64_t added = 0;
        for (int i = 0; i < 3000 && (added < runs || with.book.open() > 0); ++i) {
            while (added < runs && with.book.wanted(with.now) > 0) {
                with.add(added++);
            }
            for (const auto& [rank, places_of_rank] : with.hand_out()) {
                doing[rank].insert(places_of_rank.begin(), places_of_rank.end());
                REQUIRE(doing[rank].size() <= 3);
            }
            const int rank = one_of(ranks);
            if (!silent.contains(rank) && !doing[rank].empty()) {
                const std::uint64_t place = *doing[rank].begin();
                doing[rank].erase(place);
                if (with.accept(rank, place)) {
                    ++ends[place];
                }
            }
            if (rank > 0 && one_of(10) == 0) {
                silent.contains(rank) ? static_cast<void>(silent.erase(rank)) : static_cast<void>(silent.insert(rank));
            }
            for (const ledger::loss& loss : with.pass(std::chrono::seconds{one_of(8)}, silent)) {
                REQUIRE(silent.contains(loss.rank));
                for (const smd::batch_run& run : loss.given_up) {
                    ++ends[run.place];
                }
            }
        }
        REQUIRE(ends.size() == runs);
        REQUIRE(std::ranges::all_of(ends, [](const auto& end) { return end.second == 1; }));
    }
}
