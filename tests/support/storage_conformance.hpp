// The suites that storages must pass: the promises of storage/concepts.hpp, each with its number.
// check_storage_conformance is for every storage: a backend's test calls it with a function that makes a storage
// holding exactly the objects it is given.  The suites of optional abilities are called with a function that makes a
// storage_under_test: one that holds nothing yet.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <doctest/doctest.h>
#include <support/skipped.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug_test {

using object_map = std::map<std::string, std::string>;

inline std::string text_of(const smdebug::byte_buffer& bytes) { return std::string{smdebug::as_text(bytes.view())}; }

/// Objects with the names and sizes that storages get wrong: empty, large, bytes of every value, odd names, keys that
/// are prefixes of others, and an order that is not that of directories.
inline object_map conformance_objects() {
    std::string every_byte;
    for (int i = 0; i < 256; ++i) {
        every_byte += static_cast<char>(i);
    }
    static const std::string large = [] {  // once, not for each subcase
        std::string made;
        std::mt19937 random{7};
        for (int i = 0; i < 300'000; ++i) {
            made += static_cast<char>(random() & 0xFFU);
        }
        return made;
    }();
    return {{"index/000000000/000000000000_worker_0.json", "{}"},
            {"index/000000000/000000000001_worker_0.json", "{\"meta\": 1}"},
            {"index/000000000/000000000001_worker_1.json", "x"},
            {"index/000000001/000000001000_worker_0.json", "y"},
            {"index/a", "file beside the folders a-b and a.b"},
            {"index/a-b/c", "sorts before a/..., as '-' comes before '/'"},
            {"index/a.b", "."},
            {"events/empty", ""},
            {"events/every_byte", every_byte},
            {"events/large", large},
            {"odd/with space", "1"},
            {"odd/plus+equals=percent%25", "2"},
            {"odd/h\xC3\xA4sslich \xE2\x82\xAC", "3"},
            {"odd/_job-worker_replica-0_task-0_device-GPU-0.json", "4"},
            {"odd/quote\"back\\slash", "5"},
            {"training_job_end.ts", "end"}};
}

/// Runs the suite.  `make(objects)` gives a storage that holds just these.
template <class Make>
void check_storage_conformance(Make&& make) {
    const object_map objects = conformance_objects();
    const auto store = make(objects);
    static_assert(smdebug::storage<std::remove_cvref_t<decltype(store)>>);

    SUBCASE("1: read gives the whole object") {
        for (const auto& [key, content] : objects) {
            CAPTURE(key);
            CHECK(text_of(store.read(key)) == content);
        }
    }
    SUBCASE("1: a range gives that part, shorter only at the object's end") {
        for (const auto& [key, content] : objects) {
            CAPTURE(key);
            for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, UINT64_MAX}) {
                for (const std::uint64_t length :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, UINT64_MAX}) {
                    const std::string wanted =
                        offset < content.size()
                            ? content.substr(offset, std::min<std::uint64_t>(length, content.size()))
                            : std::string{};
                    CHECK(text_of(store.read(key, {offset, length})) == wanted);
                }
            }
        }
    }
    SUBCASE("2: list gives full keys in byte order") {
        std::vector<std::string> all;
        for (const auto& held : objects) {
            all.push_back(held.first);
        }
        CHECK(store.list("", "") == all);
        for (const std::string_view prefix :
             {"index/", "index/000000000/", "index/000000000/00000000000", "index/a", "odd/", "training",
              "training_job_end.ts", "nothing", "nothing/", "index/zzz"}) {
            CAPTURE(prefix);
            std::vector<std::string> wanted;
            std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
                         [&](const std::string& key) { return key.starts_with(prefix); });
            CHECK(store.list(prefix, "") == wanted);
        }
    }
    SUBCASE("2: list begins strictly after a key, which need not exist") {
        for (const std::string_view after :
             {"index/", "index/000000000/000000000001_worker_0.json", "index/000000000/000000000001_worker_00", "a",
              "zzz", "training_job_end.ts", "index/a", "index/a-"}) {
            CAPTURE(after);
            std::vector<std::string> wanted;
            for (const auto& held : objects) {
                if (held.first.starts_with("index/") && held.first > after) {
                    wanted.push_back(held.first);
                }
            }
            CHECK(store.list("index/", after) == wanted);
        }
    }
    SUBCASE("3: size tells what is there") {
        for (const auto& [key, content] : objects) {
            CAPTURE(key);
            CHECK(store.size(key) == std::optional<std::uint64_t>{content.size()});
        }
        for (const std::string_view missing : {"index", "index/", "missing", "index/a/b", "events/large/x", ""}) {
            CAPTURE(missing);
            CHECK(store.size(missing) == std::nullopt);
        }
    }
    SUBCASE("4: a missing key is not_found, and the message names it") {
        for (const std::string_view missing : {"missing", "index/000000009/x.json", "events/large/below_a_file"}) {
            CAPTURE(missing);
            CHECK_THROWS_AS(static_cast<void>(store.read(missing)), smdebug::not_found);
            CHECK_THROWS_AS(static_cast<void>(store.read(missing, {0, 1})), smdebug::not_found);
            try {
                static_cast<void>(store.read(missing));
            } catch (const smdebug::error& thrown) {
                CHECK(std::string_view{thrown.what()}.find(missing) != std::string_view::npos);
                CHECK(thrown.where().find(missing) != std::string::npos);
            }
        }
    }
    SUBCASE("5: const calls run at once on many threads") {
        std::atomic<int> wrong{0};
        std::vector<std::jthread> readers;
        for (int thread = 0; thread < 4; ++thread) {
            readers.emplace_back([&] {
                for (int round = 0; round < 6; ++round) {  // some 800 calls
                    for (const auto& [key, content] : objects) {
                        wrong += text_of(store.read(key)) == content && store.size(key) == content.size() ? 0 : 1;
                    }
                    wrong += store.list("", "").size() == objects.size() ? 0 : 1;
                }
            });
        }
        readers.clear();
        CHECK(wrong == 0);
    }
    SUBCASE("batches: read_each hands over every object in order, and nothing for what is missing") {
        std::vector<std::string> keys;
        for (const auto& held : objects) {
            keys.push_back(held.first);
            keys.push_back(held.first + ".missing");
        }
        std::size_t next = 0;
        smdebug::read_each(store, keys, [&](std::size_t i, std::optional<smdebug::byte_view> bytes) {
            REQUIRE(i == next);
            ++next;
            if (i % 2 == 1) {
                CHECK_FALSE(bytes.has_value());
            } else {
                REQUIRE(bytes.has_value());
                CHECK(smdebug::as_text(*bytes) == objects.at(keys[i]));
            }
        });
        CHECK(next == keys.size());
    }
    SUBCASE("views: what is shown is the whole object; what is not there is not shown") {
        if constexpr (smdebug::viewing_storage<std::remove_cvref_t<decltype(store)>>) {
            for (const auto& [key, content] : objects) {
                if (const std::optional<smdebug::byte_buffer> shown = store.view(key)) {
                    CHECK(text_of(*shown) == content);
                }
                CHECK_FALSE(store.view(key + ".missing"));
            }
            CHECK_FALSE(store.view(""));
        }
    }
    SUBCASE("batches: read_ranges hands over every part in order, and nothing for what is missing") {
        std::vector<std::string> keys;
        for (const auto& held : objects) {
            keys.push_back(held.first);
            keys.push_back(held.first + ".missing");
        }
        std::vector<smdebug::object_range> ranges;
        for (const std::string& key : keys) {
            for (const smdebug::byte_range where :
                 {smdebug::byte_range{0, 1}, {1, 3}, {0, UINT64_MAX}, {200'000, 50}, {299'999, 9}, {UINT64_MAX, 1}}) {
                ranges.push_back({.key = key, .where = where});
            }
        }
        std::size_t next = 0;
        smdebug::read_ranges(store, ranges, [&](std::size_t i, std::optional<smdebug::byte_buffer> bytes) {
            REQUIRE(i == next);
            ++next;
            const std::string key{ranges[i].key};
            CAPTURE(key);
            if (key.ends_with(".missing")) {
                CHECK_FALSE(bytes.has_value());
                return;
            }
            REQUIRE(bytes.has_value());
            const std::string& content = objects.at(key);
            const auto& [offset, length] = ranges[i].where;
            CHECK(text_of(*bytes) == (offset < content.size()
                                          ? content.substr(offset, std::min<std::uint64_t>(length, content.size()))
                                          : std::string{}));
        });
        CHECK(next == ranges.size());
        CHECK_THROWS_AS(smdebug::read_ranges(store, ranges, [](auto, const auto&) { throw 5; }), int);
    }
    SUBCASE("entries: what list gives, with sizes and versions") {
        if constexpr (smdebug::entry_lister<std::remove_cvref_t<decltype(store)>>) {
            for (const std::string_view prefix : {"", "index/", "odd/", "training_job_end.ts", "nothing", "index/a"}) {
                for (const std::string_view after : {"", "index/", "index/a", "events/large", "odd/plus", "zzz"}) {
                    CAPTURE(prefix);
                    CAPTURE(after);
                    const std::vector<std::string> keys = store.list(prefix, after);
                    for (const std::size_t most : {keys.size() + 1, keys.size(), std::size_t{2}, std::size_t{1}}) {
                        const auto found = store.entries(prefix, after, most);
                        REQUIRE(found.size() == std::min(keys.size(), most));
                        for (std::size_t i = 0; i < found.size(); ++i) {
                            CHECK(found[i].key == keys[i]);
                            CHECK(found[i].size == objects.at(keys[i]).size());
                            CHECK_FALSE(found[i].version.empty());
                        }
                    }
                }
            }
            CHECK(store.entries("", "", 0).empty());
        }
    }
    SUBCASE("it says where it is") { CHECK_FALSE(std::string(store.name()).empty()); }
}

// Optional abilities ----------------------------------------------------------------------------------------------

/// A storage that holds nothing, and the hand that writes into it; several threads may write.
template <class Storage>
struct storage_under_test {
    Storage store;
    std::function<void(const std::string& key, const std::string& content)> write;
    std::function<void(const std::string& key)> remove;
    /// Whether an object that is written again may be missing for a moment, as OpenStack Swift has it.
    bool overwriting_may_hide = false;
};

inline bool contains(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

inline bool is_ascending(const std::vector<std::string>& keys) {
    return std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>{}) == keys.end();
}

/// Runs the suite of followable_storage.
template <class Make>
void check_follower_conformance(Make&& make) {
    auto place = make();
    using store_type = decltype(place.store);
    static_assert(smdebug::followable_storage<store_type>);
    const auto numbered = [](int i) {
        return "index/00000000" + std::to_string(i / 50) + "/" + std::to_string(1000 + i) + ".json";
    };

    SUBCASE("follow 1: nothing where nothing is, and what comes then") {
        auto follower = place.store.follow("index/");
        CHECK(follower.next().empty());
        CHECK(follower.next().empty());
        place.write("index/000000000/a", "1");
        CHECK(follower.next() == std::vector<std::string>{"index/000000000/a"});
    }
    SUBCASE("follow 1: everything below the prefix first, in byte order, and nothing else") {
        for (const auto& [key, content] : conformance_objects()) {
            place.write(key, content);
        }
        for (const std::string prefix : {"index/", "index/000000000/", "events/", "odd/", "nothing/"}) {
            CAPTURE(prefix);
            CHECK(place.store.follow(prefix).next() == place.store.list(prefix, ""));
        }
    }
    SUBCASE("follow 1: what is written between two calls is in the second") {
        auto follower = place.store.follow("index/");
        for (int i = 0; i < 120; ++i) {
            place.write(numbered(i), "x");
            place.write("events/" + numbered(i), "not followed");
            const std::vector<std::string> keys = follower.next();
            REQUIRE(contains(keys, numbered(i)));
            REQUIRE(is_ascending(keys));
            REQUIRE(std::all_of(keys.begin(), keys.end(), [](const auto& key) { return key.starts_with("index/"); }));
        }
    }
    SUBCASE("follow 1: folders at any depth, files beside them, and what went and came again") {
        auto follower = place.store.follow("index/");
        for (const std::string key : {"index/a", "index/b/c", "index/b/d/e/f", "index/b-c", "index/b/d/g"}) {
            CAPTURE(key);
            place.write(key, "x");
            CHECK(contains(follower.next(), key));
        }
        place.remove("index/b/d/g");
        static_cast<void>(follower.next());
        place.write("index/b/d/g", "again");
        CHECK(contains(follower.next(), "index/b/d/g"));
    }
    SUBCASE("follow 1: with writers at work, each key is in the first answer asked for after it was written") {
        constexpr std::size_t writers = 2;
        constexpr int each = 300;
        std::array<std::atomic<int>, writers> written{};
        std::vector<std::jthread> threads;
        const auto key_of = [](std::size_t writer, int i) {
            return "index/00000000" + std::to_string(i / 100) + "/" + std::to_string(1000 + i) + "_" +
                   std::to_string(writer);
        };
        for (std::size_t writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&, writer] {
                for (int i = 0; i < each; ++i) {
                    place.write(key_of(writer, i), "x");
                    written[writer] = i + 1;
                }
            });
        }
        auto follower = place.store.follow("index/");
        std::set<std::string> seen;
        std::array<int, writers> checked{};
        for (bool all = false; !all;) {
            std::array<int, writers> there{};
            std::copy(written.begin(), written.end(), there.begin());
            for (std::string& key : follower.next()) {
                seen.insert(std::move(key));
            }
            all = true;
            for (std::size_t writer = 0; writer < writers; ++writer) {
                for (; checked[writer] < there[writer]; ++checked[writer]) {
                    REQUIRE(seen.contains(key_of(writer, checked[writer])));
                }
                all = all && checked[writer] == each;
            }
        }
    }
    SUBCASE("follow 3: forget makes the next call list everything") {
        place.write("index/a", "1");
        place.write("index/b/c", "2");
        auto follower = place.store.follow("index/");
        const std::vector<std::string> all{"index/a", "index/b/c"};
        CHECK(follower.next() == all);
        static_cast<void>(follower.next());
        follower.forget();
        CHECK(follower.next() == all);
    }
    SUBCASE("follow 4: a follower outlives its storage, moves, and knows nothing of another") {
        auto first = place.store.follow("index/");
        { const store_type gone = std::move(place.store); }
        place.write("index/a", "1");
        auto moved = std::move(first);
        CHECK(moved.next() == std::vector<std::string>{"index/a"});
    }
}

/// A time that a correct signal never needs.
inline smdebug::change_signal::clock::time_point far_away() {
    return smdebug::change_signal::clock::now() + std::chrono::seconds{30};
}

/// Waits until nothing is announced any more.
inline void quieten(smdebug::change_signal& signal) {
    while (signal.wait_until(smdebug::change_signal::clock::now() + std::chrono::milliseconds{20})) {
    }
}

/// Whether a wait ends although nothing comes to be there.
inline bool ends(smdebug::change_signal& signal) {
    const auto until = far_away();
    static_cast<void>(signal.wait_until(until));
    return smdebug::change_signal::clock::now() < until;
}

/// Runs the suite of announcing_storage.  Where the system gives no signal there is nothing to check.
template <class Make>
void check_signal_conformance(Make&& make) {
    auto place = make();
    static_assert(smdebug::announcing_storage<decltype(place.store)>);
    const std::vector<std::string> prefixes{"index/", "training_job_end.ts"};
    const auto signal = place.store.watch(prefixes);
    if (signal == nullptr) {
        skipped(lacking::set_up, "the system gives no signal");
        return;
    }

    SUBCASE("watch: what is written after it is announced, although nothing was there") {
        place.write("index/000000000/a", "1");
        CHECK(signal->wait_until(far_away()));
    }
    SUBCASE("watch: each prefix, new folders, and objects that are replaced") {
        for (const char* key : {"index/000000000/a", "training_job_end.ts", "index/000000000/b", "index/000000001/a",
                                "index/c", "index/000000001/a", "training_job_end.ts"}) {
            CAPTURE(key);
            quieten(*signal);
            place.write(key, "1");
            CHECK(signal->wait_until(far_away()));
        }
    }
    SUBCASE("watch: a write wakes the one who waits") {
        for (int round = 0; round < 5; ++round) {
            quieten(*signal);
            const std::jthread writer{[&] {
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
                place.write("index/00000000" + std::to_string(round) + "/a", "1");
            }};
            CHECK(signal->wait_until(far_away()));
        }
    }
    SUBCASE("watch: who looks after each signal sees everything") {
        constexpr int all = 200;
        const auto key_of = [](int i) { return "index/" + std::to_string(100 + i / 20) + "/" + std::to_string(i); };
        const std::jthread writer{[&] {
            for (int i = 0; i < all; ++i) {
                place.write(key_of(i), "1");
            }
        }};
        int seen = 0;
        while (seen < all && signal->wait_until(far_away())) {
            while (seen < all && place.store.size(key_of(seen))) {
                ++seen;
            }
        }
        CHECK(seen == all);
    }
    SUBCASE(
        "watch: who looks at the keys that a signal tells, and at everything where it tells none, sees everything") {
        constexpr int all = 300;
        const auto key_of = [](int i) { return "index/" + std::to_string(100 + i / 50) + "/" + std::to_string(i); };
        const std::jthread writer{[&] {
            for (int i = 0; i < all; ++i) {
                place.write(key_of(i), "1");
                std::this_thread::sleep_for(std::chrono::microseconds{i % 3 == 0 ? 100 : 0});
            }
        }};
        std::set<std::string> seen;
        const auto has_all = [&] {
            for (int i = 0; i < all; ++i) {
                if (!seen.contains(key_of(i))) {
                    return false;
                }
            }
            return true;
        };
        while (!has_all() && signal->wait_until(far_away())) {
            const auto told = signal->told();
            const std::vector<std::string> keys = told ? *told : place.store.list("index/", "");
            REQUIRE(std::all_of(keys.begin(), keys.end(), [](const auto& key) { return key.starts_with("index/"); }));
            seen.insert(keys.begin(), keys.end());
        }
        CHECK(has_all());
    }
    SUBCASE("watch: interrupt ends the wait that is going on, or the next one") {
        quieten(*signal);
        signal->interrupt();
        CHECK(ends(*signal));
        for (int round = 0; round < 5; ++round) {
            const std::jthread other{[&] {
                std::this_thread::sleep_for(std::chrono::milliseconds{round});
                signal->interrupt();
            }};
            CHECK(ends(*signal));
        }
    }
    SUBCASE("watch: a time that has passed is no reason to overlook what has come") {
        using clock = smdebug::change_signal::clock;
        quieten(*signal);
        CHECK_FALSE(signal->wait_until(clock::now()));
        CHECK_FALSE(signal->wait_until(clock::time_point::min()));
        place.write("index/a", "1");
        bool told = signal->wait_until(clock::time_point::min());
        // Where the place has only now come to be there, the signal may need a second look.
        told = signal->wait_until(clock::time_point::min()) || told;
        CHECK(told);
    }
    SUBCASE("watch: no deadline is a deadline too") {
        const std::jthread other{[&] { signal->interrupt(); }};
        static_cast<void>(signal->wait_until(smdebug::change_signal::clock::time_point::max()));
    }
    SUBCASE("watch: a signal outlives its storage") {
        { const auto gone = std::move(place.store); }
        quieten(*signal);
        signal->interrupt();
        CHECK(ends(*signal));
    }
}

/// Runs the suite of entry_lister, and of versioned_reader where it is one.
template <class Make>
void check_version_conformance(Make&& make) {
    auto place = make();
    using store_type = decltype(place.store);
    static_assert(smdebug::entry_lister<store_type>);
    const auto version_of = [&](const std::string& key) {
        const auto found = place.store.entries(key, "", 1);
        return found.empty() ? std::string{} : found.front().version;
    };

    SUBCASE("entries: another version whenever the bytes are others, though size and key are the same") {
        std::set<std::string> seen;
        for (int round = 0; round < 20; ++round) {
            place.write("index/a", std::to_string(100 + round));
            const std::string version = version_of("index/a");
            CHECK_FALSE(version.empty());
            CHECK(seen.insert(version).second);
        }
        place.remove("index/a");
        CHECK(version_of("index/a").empty());
        place.write("index/a", "999");
        CHECK(seen.insert(version_of("index/a")).second);
    }
    SUBCASE("read_versioned: the bytes, and the version that they had") {
        if constexpr (smdebug::versioned_reader<store_type>) {
            for (const auto& [key, content] : conformance_objects()) {
                CAPTURE(key);
                place.write(key, content);
                const smdebug::versioned_object read = place.store.read_versioned(key);
                CHECK(text_of(read.bytes) == content);
                CHECK_FALSE(read.version.empty());
                place.write(key, content + "x");
                CHECK(version_of(key) != read.version);
                CHECK(place.store.read_versioned(key).version != read.version);
            }
            CHECK_THROWS_AS(static_cast<void>(place.store.read_versioned("missing")), smdebug::not_found);
        }
    }
}

/// Runs the suite of dated_storage.
template <class Make>
void check_dating_conformance(Make&& make) {
    using namespace std::chrono_literals;
    auto place = make();
    static_assert(smdebug::dated_storage<decltype(place.store)>);
    SUBCASE("modified: about now, never earlier after another write, and nothing for what is not there") {
        CHECK_FALSE(place.store.modified("index/a").has_value());
        place.write("index/a", "1");
        const auto first = place.store.modified("index/a");
        REQUIRE(first.has_value());
        // Wide: another machine's clock may be off.
        CHECK(std::chrono::abs(*first - std::chrono::system_clock::now()) < 24h);
        place.write("index/a", "2");
        const auto second = place.store.modified("index/a");
        REQUIRE(second.has_value());
        CHECK(*second >= *first);
        for (const std::string_view missing : {"index", "index/", "index/b", "index/a/b", ""}) {
            CAPTURE(missing);
            CHECK_FALSE(place.store.modified(missing).has_value());
        }
        place.remove("index/a");
        CHECK_FALSE(place.store.modified("index/a").has_value());
    }
}

}  // namespace smdebug_test
