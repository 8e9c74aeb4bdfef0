// The suites that storages must pass: the numbered promises of storage/concepts.hpp.
// check_storage_conformance is for every storage: a backend's test calls it with a function that makes a storage
// containing exactly the given objects. The suites of optional abilities take a function that makes an empty
// storage_under_test. Each call of that function makes a new one.
// Errors, of every suite: std::runtime_error, with a line for each broken promise.
// Cost: each function is called some ten times; seconds for a local storage.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/testing/suite.hpp>

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

namespace smdebug::inline v1::testing {

/// Objects by key.
using object_map = std::map<std::string, std::string>;

/// The bytes as a text.
inline std::string text_of(const byte_buffer& bytes) { return std::string{as_text(bytes.view())}; }

/// Objects with names and sizes that storages get wrong: empty, large, all byte values, odd names, keys that are
/// prefixes of others, and an order that differs from that of directories.
inline object_map conformance_objects() {
    std::string every_byte;
    for (int i = 0; i < 256; ++i) {
        every_byte += static_cast<char>(i);
    }
    static const std::string large = [] {  // made once, not for each part
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

/// Runs the suite. `make(objects)` makes a storage with exactly these objects.
template <class Make>
void check_storage_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        const object_map objects = conformance_objects();
        const auto store = make(objects);
        static_assert(storage<std::remove_cvref_t<decltype(store)>>);

        if (suite.part("1: read gives the whole object")) {
            for (const auto& [key, content] : objects) {
                suite.about(key);
                suite.check(text_of(store.read(key)) == content);
            }
        }
        if (suite.part("1: a range gives that part, shorter only at the object's end")) {
            for (const auto& [key, content] : objects) {
                suite.about(key);
                for (const std::uint64_t offset :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, UINT64_MAX}) {
                    for (const std::uint64_t length :
                         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, UINT64_MAX}) {
                        const std::string wanted =
                            offset < content.size()
                                ? content.substr(offset, std::min<std::uint64_t>(length, content.size()))
                                : std::string{};
                        suite.check(text_of(store.read(key, {offset, length})) == wanted);
                    }
                }
            }
        }
        if (suite.part("2: list gives full keys in byte order")) {
            std::vector<std::string> all;
            for (const auto& held : objects) {
                all.push_back(held.first);
            }
            suite.check(store.list("", "") == all);
            for (const std::string_view prefix :
                 {"index/", "index/000000000/", "index/000000000/00000000000", "index/a", "odd/", "training",
                  "training_job_end.ts", "nothing", "nothing/", "index/zzz"}) {
                suite.about(prefix);
                std::vector<std::string> wanted;
                std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
                             [&](const std::string& key) { return key.starts_with(prefix); });
                suite.check(store.list(prefix, "") == wanted);
            }
        }
        if (suite.part("2: list begins strictly after a key, which need not exist")) {
            for (const std::string_view after :
                 {"index/", "index/000000000/000000000001_worker_0.json", "index/000000000/000000000001_worker_00", "a",
                  "zzz", "training_job_end.ts", "index/a", "index/a-"}) {
                suite.about(after);
                std::vector<std::string> wanted;
                for (const auto& held : objects) {
                    if (held.first.starts_with("index/") && held.first.compare(after) > 0) {
                        wanted.push_back(held.first);
                    }
                }
                suite.check(store.list("index/", after) == wanted);
            }
        }
        if (suite.part("3: size says what is there")) {
            for (const auto& [key, content] : objects) {
                suite.about(key);
                suite.check(store.size(key) == std::optional<std::uint64_t>{content.size()});
            }
            for (const std::string_view missing : {"index", "index/", "missing", "index/a/b", "events/large/x", ""}) {
                suite.about(missing);
                suite.check(store.size(missing) == std::nullopt);
            }
        }
        if (suite.part("4: a missing key is not_found, message and where() name it")) {
            for (const std::string_view missing : {"missing", "index/000000009/x.json", "events/large/below_a_file"}) {
                suite.about(missing);
                suite.check_throws<not_found>([&] { static_cast<void>(store.read(missing)); });
                suite.check_throws<not_found>([&] { static_cast<void>(store.read(missing, {0, 1})); });
                try {
                    static_cast<void>(store.read(missing));
                } catch (const error& thrown) {
                    suite.check(std::string_view{thrown.what()}.find(missing) != std::string_view::npos);
                    suite.check(thrown.where().find(missing) != std::string::npos);
                }
            }
        }
        if (suite.part("5: const calls run at once on many threads")) {
            std::atomic<int> wrong{0};
            std::vector<std::jthread> readers;
            for (int thread = 0; thread < 4; ++thread) {
                readers.emplace_back([&] {
                    try {
                        for (int round = 0; round < 6; ++round) {  // some 800 calls
                            for (const auto& [key, content] : objects) {
                                wrong +=
                                    text_of(store.read(key)) == content && store.size(key) == content.size() ? 0 : 1;
                            }
                            wrong += store.list("", "").size() == objects.size() ? 0 : 1;
                        }
                    } catch (...) {
                        ++wrong;
                    }
                });
            }
            readers.clear();
            suite.check(wrong == 0);
        }
        if (suite.part("batches: read_each hands over every object in order, and nothing for what is missing")) {
            std::vector<std::string> keys;
            for (const auto& held : objects) {
                keys.push_back(held.first);
                keys.push_back(held.first + ".missing");
            }
            std::size_t next = 0;
            read_each(store, keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
                suite.require(i == next);
                ++next;
                if (i % 2 == 1) {
                    suite.check(!bytes.has_value());
                } else {
                    suite.require(bytes.has_value());
                    suite.check(as_text(*bytes) == objects.at(keys[i]));
                }
            });
            suite.check(next == keys.size());
        }
        if (suite.part("views: what is shown is the whole object; what is not there is not shown")) {
            if constexpr (viewing_storage<std::remove_cvref_t<decltype(store)>>) {
                for (const auto& [key, content] : objects) {
                    if (const std::optional<byte_buffer> shown = store.view(key)) {
                        suite.check(text_of(*shown) == content);
                    }
                    suite.check(!store.view(key + ".missing"));
                }
                suite.check(!store.view(""));
            }
        }
        if (suite.part("batches: read_ranges hands over every part in order, and nothing for what is missing")) {
            std::vector<std::string> keys;
            for (const auto& held : objects) {
                keys.push_back(held.first);
                keys.push_back(held.first + ".missing");
            }
            std::vector<object_range> ranges;
            for (const std::string& key : keys) {
                for (const byte_range where :
                     {byte_range{0, 1}, {1, 3}, {0, UINT64_MAX}, {200'000, 50}, {299'999, 9}, {UINT64_MAX, 1}}) {
                    ranges.push_back({.key = key, .where = where});
                }
            }
            std::size_t next = 0;
            read_ranges(store, ranges, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
                suite.require(i == next);
                ++next;
                const std::string key{ranges[i].key};
                suite.about(key);
                if (key.ends_with(".missing")) {
                    suite.check(!bytes.has_value());
                    return;
                }
                suite.require(bytes.has_value());
                const std::string& content = objects.at(key);
                const auto& [offset, length] = ranges[i].where;
                suite.check(text_of(*bytes) ==
                            (offset < content.size()
                                 ? content.substr(offset, std::min<std::uint64_t>(length, content.size()))
                                 : std::string{}));
            });
            suite.check(next == ranges.size());
            suite.check_throws<int>(
                [&] { read_ranges(store, ranges, [](auto, const auto&, const object_version&) { throw 5; }); });
        }
        if (suite.part("entries: what list gives, with sizes and versions")) {
            if constexpr (versioned_storage<std::remove_cvref_t<decltype(store)>>) {
                for (const std::string_view prefix :
                     {"", "index/", "odd/", "training_job_end.ts", "nothing", "index/a"}) {
                    for (const std::string_view after : {"", "index/", "index/a", "events/large", "odd/plus", "zzz"}) {
                        suite.about(std::string{prefix}.append(", after ").append(after));
                        const std::vector<std::string> keys = store.list(prefix, after);
                        for (const std::size_t most : {keys.size() + 1, keys.size(), std::size_t{2}, std::size_t{1}}) {
                            const auto found = store.entries(prefix, after, most);
                            suite.require(found.size() == std::min(keys.size(), most));
                            for (std::size_t i = 0; i < found.size(); ++i) {
                                suite.check(found[i].key == keys[i]);
                                suite.check(found[i].size == objects.at(keys[i]).size());
                                suite.check(!found[i].version.empty());
                            }
                        }
                    }
                }
                suite.check(store.entries("", "", 0).empty());
            }
        }
        if (suite.part("it says where it is")) {
            suite.check(!std::string(store.name()).empty());
        }
    });
}

// Optional abilities ----------------------------------------------------------------------------------------------

/// An empty storage, and an object that writes into it; several threads may write.
template <class Storage>
struct storage_under_test {
    Storage store;
    std::function<void(const std::string& key, const std::string& content)> write;
    std::function<void(const std::string& key)> remove;
    /// Whether an object may be missing for a moment while it is overwritten, as in OpenStack Swift.
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
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        using store_type = decltype(place.store);
        static_assert(followable_storage<store_type>);
        const auto numbered = [](int i) {
            return "index/00000000" + std::to_string(i / 50) + "/" + std::to_string(1000 + i) + ".json";
        };

        if (suite.part("follow 1: nothing where nothing is, and what comes then")) {
            auto follower = place.store.follow("index/");
            suite.check(follower.next().empty());
            suite.check(follower.next().empty());
            place.write("index/000000000/a", "1");
            suite.check(follower.next() == std::vector<std::string>{"index/000000000/a"});
        }
        if (suite.part("follow 1: everything below the prefix first, in byte order, and nothing else")) {
            for (const auto& [key, content] : conformance_objects()) {
                place.write(key, content);
            }
            for (const std::string prefix : {"index/", "index/000000000/", "events/", "odd/", "nothing/"}) {
                suite.about(prefix);
                suite.check(place.store.follow(prefix).next() == place.store.list(prefix, ""));
            }
        }
        if (suite.part("follow 1: what is written between two calls is in the second")) {
            auto follower = place.store.follow("index/");
            for (int i = 0; i < 120; ++i) {
                place.write(numbered(i), "x");
                place.write("events/" + numbered(i), "not followed");
                const std::vector<std::string> keys = follower.next();
                suite.require(contains(keys, numbered(i)));
                suite.require(is_ascending(keys));
                suite.require(
                    std::all_of(keys.begin(), keys.end(), [](const auto& key) { return key.starts_with("index/"); }));
            }
        }
        if (suite.part("follow 1: folders at any depth, files beside them, and what went and came again")) {
            auto follower = place.store.follow("index/");
            for (const std::string key : {"index/a", "index/b/c", "index/b/d/e/f", "index/b-c", "index/b/d/g"}) {
                suite.about(key);
                place.write(key, "x");
                suite.check(contains(follower.next(), key));
            }
            place.remove("index/b/d/g");
            static_cast<void>(follower.next());
            place.write("index/b/d/g", "again");
            suite.check(contains(follower.next(), "index/b/d/g"));
        }
        if (suite.part(
                "follow 1: with writers at work, each key is in the first answer to a call made after its write")) {
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
                        suite.require(seen.contains(key_of(writer, checked[writer])));
                    }
                    all = all && checked[writer] == each;
                }
            }
        }
        if (suite.part("follow 3: forget makes the next call list everything")) {
            place.write("index/a", "1");
            place.write("index/b/c", "2");
            auto follower = place.store.follow("index/");
            const std::vector<std::string> all{"index/a", "index/b/c"};
            suite.check(follower.next() == all);
            static_cast<void>(follower.next());
            follower.forget();
            suite.check(follower.next() == all);
        }
        if (suite.part("follow 4: a follower outlives its storage, moves, and knows nothing of another")) {
            auto first = place.store.follow("index/");
            { const store_type gone = std::move(place.store); }
            place.write("index/a", "1");
            auto moved = std::move(first);
            suite.check(moved.next() == std::vector<std::string>{"index/a"});
        }
    });
}

/// Longer than a correct signal ever needs.
inline change_signal::clock::time_point far_away() { return change_signal::clock::now() + std::chrono::seconds{30}; }

/// Waits until nothing more is announced.
inline void quieten(change_signal& signal) {
    while (signal.wait_until(change_signal::clock::now() + std::chrono::milliseconds{20})) {
    }
}

/// Whether a wait returns although nothing has appeared.
inline bool ends(change_signal& signal) {
    const auto until = far_away();
    static_cast<void>(signal.wait_until(until));
    return change_signal::clock::now() < until;
}

/// Runs the suite of announcing_storage. Returns whether there was anything to check: the system may provide no signal.
template <class Make>
[[nodiscard]] bool check_signal_conformance(Make&& make) {
    bool signals = false;
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        static_assert(announcing_storage<decltype(place.store)>);
        const std::vector<std::string> prefixes{"index/", "training_job_end.ts"};
        const auto signal = place.store.watch(prefixes);
        if (signal == nullptr) {
            return;
        }
        signals = true;

        if (suite.part("watch: what is written after it is announced, although nothing was there")) {
            place.write("index/000000000/a", "1");
            suite.check(signal->wait_until(far_away()));
        }
        if (suite.part("watch: each prefix, new folders, and objects that are replaced")) {
            for (const char* key : {"index/000000000/a", "training_job_end.ts", "index/000000000/b",
                                    "index/000000001/a", "index/c", "index/000000001/a", "training_job_end.ts"}) {
                suite.about(key);
                quieten(*signal);
                place.write(key, "1");
                suite.check(signal->wait_until(far_away()));
            }
        }
        if (suite.part("watch: a write wakes the waiting thread")) {
            for (int round = 0; round < 5; ++round) {
                quieten(*signal);
                const std::jthread writer{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{5});
                    place.write("index/00000000" + std::to_string(round) + "/a", "1");
                }};
                suite.check(signal->wait_until(far_away()));
            }
        }
        if (suite.part("watch: listing after each signal shows everything")) {
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
            suite.check(seen == all);
        }
        if (suite.part("watch: reading the keys that a signal reports, or listing where it reports none, shows "
                       "everything")) {
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
                const auto told = signal->changed_keys();
                const std::vector<std::string> keys = told ? *told : place.store.list("index/", "");
                suite.require(
                    std::all_of(keys.begin(), keys.end(), [](const auto& key) { return key.starts_with("index/"); }));
                seen.insert(keys.begin(), keys.end());
            }
            suite.check(has_all());
        }
        if (suite.part("watch: interrupt ends the wait that is going on, or the next one")) {
            quieten(*signal);
            signal->interrupt();
            suite.check(ends(*signal));
            for (int round = 0; round < 5; ++round) {
                const std::jthread other{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{round});
                    signal->interrupt();
                }};
                suite.check(ends(*signal));
            }
        }
        if (suite.part("watch: a time that has passed is no reason to overlook what has come")) {
            using clock = change_signal::clock;
            quieten(*signal);
            suite.check(!signal->wait_until(clock::now()));
            suite.check(!signal->wait_until(clock::time_point::min()));
            place.write("index/a", "1");
            bool told = signal->wait_until(clock::time_point::min());
            // If the storage's place has only just appeared, the signal may need a second look.
            told = signal->wait_until(clock::time_point::min()) || told;
            suite.check(told);
        }
        if (suite.part("watch: no deadline is a deadline too")) {
            const std::jthread other{[&] { signal->interrupt(); }};
            static_cast<void>(signal->wait_until(change_signal::clock::time_point::max()));
        }
        if (suite.part("watch: a signal outlives its storage")) {
            {
                const auto gone = std::move(place.store);
            }
            quieten(*signal);
            signal->interrupt();
            suite.check(ends(*signal));
        }
    });
    return signals;
}

/// Runs the suite of versioned_storage.
template <class Make>
void check_version_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        using store_type = decltype(place.store);
        static_assert(versioned_storage<store_type>);
        const auto version_of = [&](const std::string& key) {
            const auto found = place.store.entries(key, "", 1);
            return found.empty() ? std::string{} : found.front().version;
        };

        if (suite.part("entries: another version whenever the bytes are others, though size and key are the same")) {
            std::set<std::string> seen;
            for (int round = 0; round < 20; ++round) {
                place.write("index/a", std::to_string(100 + round));
                const std::string version = version_of("index/a");
                suite.check(!version.empty());
                suite.check(seen.insert(version).second);
            }
            place.remove("index/a");
            suite.check(version_of("index/a").empty());
            place.write("index/a", "999");
            suite.check(seen.insert(version_of("index/a")).second);
        }
        if (suite.part("read_versioned: the bytes, and the version that they had")) {
            for (const auto& [key, content] : conformance_objects()) {
                suite.about(key);
                place.write(key, content);
                const versioned_object read = place.store.read_versioned(key);
                suite.check(text_of(read.bytes) == content);
                suite.check(!read.version.empty());
                place.write(key, content + "x");
                suite.check(version_of(key) != read.version);
                suite.check(place.store.read_versioned(key).version != read.version);
            }
            suite.check_throws<not_found>([&] { static_cast<void>(place.store.read_versioned("missing")); });
        }
    });
}

/// Runs the suite of dated_storage.
template <class Make>
void check_dating_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        using namespace std::chrono_literals;
        auto place = make();
        static_assert(dated_storage<decltype(place.store)>);
        if (suite.part("modified: about now, never earlier after another write, and nothing for what is not there")) {
            suite.check(!place.store.modified("index/a").has_value());
            place.write("index/a", "1");
            const auto first = place.store.modified("index/a");
            suite.require(first.has_value());
            // A wide margin: another machine's clock may be off.
            suite.check(std::chrono::abs(*first - std::chrono::system_clock::now()) < 24h);
            place.write("index/a", "2");
            const auto second = place.store.modified("index/a");
            suite.require(second.has_value());
            suite.check(*second >= *first);
            for (const std::string_view missing : {"index", "index/", "index/b", "index/a/b", ""}) {
                suite.about(missing);
                suite.check(!place.store.modified(missing).has_value());
            }
            place.remove("index/a");
            suite.check(!place.store.modified("index/a").has_value());
        }
    });
}

}  // namespace smdebug::inline v1::testing
