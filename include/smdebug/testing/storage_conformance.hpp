// The suites that storages must pass: the promises of the concept `storage`, and of the functions of storage_base.
// check_storage_conformance is for every storage: a backend's test calls it with a function that makes a storage
// containing exactly the given objects. The other suites are for what a storage can do beyond that, and take a function
// that makes an empty storage_under_test. Each call of that function makes a new one.
// Errors, of every suite: std::runtime_error, with a line for each broken promise.
// Cost: each function is called some ten times; seconds for a local storage.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/testing/suite.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::testing {

using key_list = std::vector<std::string>;

/// Objects by key.
using object_map = std::map<std::string, std::string>;

/// An empty storage, and what writes into it by other means; several threads may write.
template <class Storage = any_storage>
struct storage_under_test {
    Storage store;
    std::function<void(const std::string& key, const std::string& content)> write;
    std::function<void(const std::string& key)> remove;
    /// Whether an object may be missing for a moment while it is overwritten, as in OpenStack Swift.
    bool overwriting_may_hide = false;

    operator storage_under_test<any_storage>() &&  // NOLINT: implicit: the suites take storages of any kind
        requires(!std::same_as<Storage, any_storage>) {
            return {std::move(store), std::move(write), std::move(remove), overwriting_may_hide};
        }
};

using make_filled = std::function<any_storage(const object_map& objects)>;
using make_empty = std::function<storage_under_test<any_storage>()>;

/// Objects with names and sizes that storages get wrong: empty, large, all byte values, odd names, keys that are
/// prefixes of others, and an order that differs from that of directories.
inline object_map conformance_objects() {
    static const object_map made = [] {  // once, not for each part
        std::string every_byte;
        for (int i = 0; i < 256; ++i) {
            every_byte += static_cast<char>(i);
        }
        std::string large(300'000, ' ');
        std::generate(large.begin(), large.end(),
                      [random = std::mt19937{7}]() mutable { return static_cast<char>(random() & 0xFFU); });
        return object_map{{"index/000000000/000000000000_worker_0.json", "{}"},
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
    }();
    return made;
}

// What the suites are written with ----------------------------------------------------------------------------------

inline std::string text_of(const byte_buffer& bytes) { return std::string{as_text(bytes.view())}; }

inline bool contains(const key_list& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

inline bool all_begin_with(std::string_view prefix, const key_list& keys) {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return key.starts_with(prefix); });
}

/// Calls work(i) for i = 0, 1, ... on that many threads at once. Returns how many calls returned false or threw.
inline int failures_of(int threads, function_ref<bool(int)> work) {
    std::vector<std::future<bool>> calls;
    for (int i = 0; i < threads; ++i) {
        calls.push_back(std::async(std::launch::async, work, i));
    }
    return static_cast<int>(std::count_if(calls.begin(), calls.end(), [](std::future<bool>& call) {
        try {
            return !call.get();
        } catch (...) {
            return true;
        }
    }));
}

/// Longer than a correct signal ever needs.
inline change_signal::clock::time_point far_away() { return change_signal::clock::now() + std::chrono::seconds{30}; }

/// Waits until nothing more is announced.
inline void quieten(change_signal& signal) {
    while (signal.wait_until(change_signal::clock::now() + std::chrono::milliseconds{20})) {
    }
}

// Every storage -----------------------------------------------------------------------------------------------------

/// Runs the suite of the concept `storage`, and of the functions of storage_base that every storage has.
inline void check_storage_conformance(const make_filled& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        const object_map objects = conformance_objects();
        const any_storage store = make(objects);
        key_list all;
        key_list asked;  // what is there, and what is not, in turns
        for (const auto& held : objects) {
            all.push_back(held.first);
            asked.insert(asked.end(), {held.first, held.first + ".missing"});
        }
        std::vector<byte_range> wheres;
        for (const std::uint64_t offset : {UINT64_C(0), UINT64_C(1), UINT64_C(4096), UINT64_MAX}) {
            wheres.insert(wheres.end(), {{offset, 1}, {offset, 100}, {offset, UINT64_MAX}});
        }
        std::vector<object_range> ranges;
        for (const std::string& key : asked) {
            for (const byte_range where : wheres) {
                ranges.push_back({key, where});
            }
        }
        const auto listed = [&](std::string_view prefix, std::string_view after) {
            key_list keys = all;
            std::erase_if(keys, [&](const std::string& key) { return !key.starts_with(prefix) || key <= after; });
            return keys;
        };
        const auto is_right = [&](std::string_view key, byte_range where, const std::optional<byte_view>& bytes) {
            const auto held = objects.find(std::string{key});
            if (!bytes || held == objects.end()) {
                return !bytes && held == objects.end();
            }
            const std::size_t begin = std::min<std::uint64_t>(where.offset, held->second.size());
            return as_text(*bytes) == std::string_view{held->second}.substr(begin).substr(0, where.length);
        };
        using batch_sink = function_ref<bool(std::size_t, std::optional<byte_view>)>;
        const auto read_batch = [&](bool parts, batch_sink sink) {
            if (!parts) {
                return store.read_each(asked, [&](std::size_t i, std::optional<byte_view> bytes,
                                                  const object_version&) { return sink(i, bytes); });
            }
            store.read_ranges(ranges,
                              [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version&) {
                                  return sink(i, bytes ? std::optional{bytes->view()} : std::nullopt);
                              });
        };

        if (suite.part("1: a range gives that part, shorter only at the object's end")) {
            for (const std::string& key : all) {
                suite.about(key);
                suite.check(is_right(key, whole_object, store.read(key).view()));
                for (const byte_range where : wheres) {
                    suite.check(is_right(key, where, store.read(key, where).view()));
                    suite.check(store.read(key, {where.offset, 0}).empty());
                }
            }
        }
        if (suite.part("2: list gives full keys in byte order")) {
            for (const char* prefix : {"", "index/", "index/000000000/", "index/000000000/00000000000", "index/a",
                                       "odd/", "training", "training_job_end.ts", "nothing", "nothing/", "index/zzz"}) {
                suite.about(prefix);
                suite.check(store.list(prefix, "") == listed(prefix, ""));
            }
        }
        if (suite.part("2: list begins strictly after a key, which need not exist")) {
            for (const char* after :
                 {"index/", "index/000000000/000000000001_worker_0.json", "index/000000000/000000000001_worker_00", "a",
                  "zzz", "training_job_end.ts", "index/a", "index/a-"}) {
                suite.about(after);
                suite.check(store.list("index/", after) == listed("index/", after));
            }
        }
        if (suite.part("3: size says what is there")) {
            for (const auto& [key, content] : objects) {
                suite.about(key);
                suite.check(store.size(key) == content.size());
            }
            for (const char* missing : {"index", "index/", "missing", "index/a/b", "events/large/x", ""}) {
                suite.about(missing);
                suite.check(store.size(missing) == std::nullopt);
            }
        }
        if (suite.part("4: a missing key is not_found, message and where() name it")) {
            for (const std::string missing : {"missing", "index/000000009/x.json", "events/large/below_a_file"}) {
                suite.about(missing);
                for (const byte_range where : {whole_object, byte_range{0, 1}}) {
                    suite.check_throws<not_found>([&] { static_cast<void>(store.read(missing, where)); });
                }
                try {
                    static_cast<void>(store.read(missing));
                } catch (const error& thrown) {
                    suite.check(std::string_view{thrown.what()}.find(missing) != std::string_view::npos);
                    suite.check(thrown.where().find(missing) != std::string::npos);
                }
            }
        }
        if (suite.part("5: it says where it is")) {
            suite.check(!store.name().empty());
        }
        if (suite.part("6: const calls run at once on many threads")) {
            suite.check(failures_of(4, [&](int) {
                            bool right = true;
                            for (int round = 0; round < 6; ++round) {  // some 800 calls
                                for (const auto& [key, content] : objects) {
                                    right = right && text_of(store.read(key)) == content &&
                                            store.size(key) == content.size();
                                }
                                right = right && store.list("", "") == all;
                            }
                            return right;
                        }) == 0);
        }
        for (const bool parts : {false, true}) {
            const std::size_t count = parts ? ranges.size() : asked.size();
            const std::string function = parts ? "batches: read_ranges " : "batches: read_each ";
            if (suite.part(function + "hands over everything in order, and nothing for what is missing")) {
                std::size_t next = 0;
                read_batch(parts, [&](std::size_t i, std::optional<byte_view> bytes) {
                    suite.require(i == next++);
                    const object_range& one = parts ? ranges[i] : object_range{asked[i], whole_object};
                    suite.about(one.key);
                    suite.require(is_right(one.key, one.where, bytes));
                    return true;
                });
                suite.check(next == count);
            }
            if (suite.part(function + "calls a sink that threw or returned false no more")) {
                for (const std::size_t end : {std::size_t{0}, count / 2, count - 1}) {
                    std::size_t calls = 0;
                    read_batch(parts, [&](std::size_t i, auto) { return ++calls, i < end; });
                    suite.check(calls == end + 1);
                    suite.check_throws<int>([&] {
                        read_batch(parts, [&](std::size_t i, auto) { return ++calls, i < end ? true : throw 5; });
                    });
                    suite.check(calls == 2 * (end + 1));
                }
            }
        }
        if (suite.part("views: what is shown is the whole object; what is not there is not shown")) {
            for (const std::string& key : asked) {
                const std::optional<byte_buffer> shown = store.view(key);
                suite.check(!shown || is_right(key, whole_object, shown->view()));
            }
            suite.check(!store.view(""));
        }
        if (suite.part("entries: what list gives, with sizes and versions")) {
            for (const std::string prefix : {"", "index/", "odd/", "training_job_end.ts", "nothing", "index/a"}) {
                for (const std::string after : {"", "index/", "index/a", "events/large", "odd/plus", "zzz"}) {
                    suite.about(prefix + ", after " + after);
                    const key_list keys = store.list(prefix, after);
                    for (const std::size_t most : {keys.size() + 1, keys.size(), std::size_t{2}, std::size_t{1}}) {
                        const auto found = store.entries(prefix, after, most);
                        suite.require(!found || found->size() == std::min(keys.size(), most));
                        for (std::size_t i = 0; found && i < found->size(); ++i) {
                            const object_entry& one = (*found)[i];
                            suite.check(one.key == keys[i] && one.size == objects.at(keys[i]).size());
                            suite.check(!one.version.empty());
                        }
                    }
                }
            }
            suite.check(store.entries("", "", 0).value_or(std::vector<object_entry>{}).empty());
        }
    });
}

// What a storage can do beyond that -----------------------------------------------------------------------------------

/// Runs the suite of follow() and key_follower.
inline void check_follower_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        storage_under_test<any_storage> place = make();
        const auto numbered = [](int i) {
            return "index/00000000" + std::to_string(i / 50) + "/" + std::to_string(1000 + i) + ".json";
        };

        if (suite.part("follow 1: everything below the prefix first, in byte order, and nothing else")) {
            for (const auto& [key, content] : conformance_objects()) {
                place.write(key, content);
            }
            for (const std::string prefix : {"index/", "index/000000000/", "events/", "odd/", "nothing/"}) {
                suite.about(prefix);
                suite.check(place.store.follow(prefix)->next() == place.store.list(prefix, ""));
            }
        }
        if (suite.part("follow 1: what is written between two calls is in the second, at any depth")) {
            key_list keys{"index/a", "index/b/c", "index/b/d/e/f", "index/b-c", "index/b/d/g"};
            for (int i = 0; i < 120; ++i) {
                keys.push_back(numbered(i));
            }
            const auto follower = place.store.follow("index/");
            suite.check(follower->next().empty());
            suite.check(follower->next().empty());
            for (const std::string& key : keys) {
                suite.about(key);
                place.write(key, "x");
                place.write("events/" + key, "not followed");
                const key_list told = follower->next();
                suite.require(contains(told, key) && all_begin_with("index/", told));
                suite.require(std::adjacent_find(told.begin(), told.end(), std::greater_equal<>{}) == told.end());
            }
            place.remove("index/b/d/g");
            static_cast<void>(follower->next());
            place.write("index/b/d/g", "again");
            suite.check(contains(follower->next(), "index/b/d/g"));
        }
        if (suite.part(
                "follow 1: each key is in the first answer to a call made after its write, also of another thread")) {
            constexpr int all = 600;
            std::atomic<int> written{0};
            const std::jthread writer{[&] {
                for (; written < all; ++written) {
                    place.write(numbered(written), "x");
                }
            }};
            const auto follower = place.store.follow("index/");
            std::set<std::string> seen;
            for (int checked = 0; checked < all;) {
                const int there = written;
                const key_list told = follower->next();
                seen.insert(told.begin(), told.end());
                for (; checked < there; ++checked) {
                    suite.require(seen.contains(numbered(checked)));
                }
            }
        }
        if (suite.part("follow 3, 4: forget makes the next call list everything; it outlives its storage")) {
            place.write("index/a", "1");
            const auto follower = place.store.follow("index/");
            { const any_storage gone = std::move(place.store); }
            place.write("index/b/c", "2");
            const key_list all{"index/a", "index/b/c"};
            suite.check(follower->next() == all);
            static_cast<void>(follower->next());
            follower->forget();
            suite.check(follower->next() == all);
        }
    });
}

/// Runs the suite of watch() and change_signal. Returns whether there was anything to check: the system may provide no
/// signal.
[[nodiscard]] inline bool check_signal_conformance(const make_empty& make) {
    bool signals = false;
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        using clock = change_signal::clock;
        storage_under_test<any_storage> place = make();
        const auto signal = place.store.watch(key_list{"index/", "training_job_end.ts"});
        if (signal == nullptr) {
            return;
        }
        signals = true;

        if (suite.part("watch: each prefix, although nothing was there, new folders, and objects that are replaced")) {
            for (const char* key : {"index/000000000/a", "training_job_end.ts", "index/000000000/b",
                                    "index/000000001/a", "index/c", "index/000000001/a", "training_job_end.ts"}) {
                suite.about(key);
                place.write(key, "1");
                suite.check(signal->wait_until(far_away()));
                quieten(*signal);
            }
        }
        if (suite.part("watch: a write wakes the waiting thread")) {
            for (const std::string folder : {"0", "1", "2", "3", "4"}) {
                quieten(*signal);
                const std::jthread writer{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{5});
                    place.write("index/" + folder + "/a", "1");
                }};
                suite.check(signal->wait_until(far_away()));
            }
        }
        for (const bool by_keys : {false, true}) {
            if (suite.part(by_keys ? "watch: the keys that a signal reports, or all if it reports none, are everything"
                                   : "watch: listing after each signal shows everything")) {
                const auto key_of = [](int i) { return "index/" + std::to_string(i / 40) + "/" + std::to_string(i); };
                std::set<std::string> missing;
                for (int i = 0; i < 300; ++i) {
                    missing.insert(key_of(i));
                }
                const std::jthread writer{[&] {
                    for (int i = 0; i < 300; ++i) {
                        place.write(key_of(i), "1");
                        std::this_thread::sleep_for(std::chrono::microseconds{i % 3 == 0 ? 100 : 0});
                    }
                }};
                while (!missing.empty() && signal->wait_until(far_away())) {
                    const auto told = by_keys ? signal->changed_keys() : std::nullopt;
                    const key_list keys = told ? *told : place.store.list("index/", "");
                    suite.require(all_begin_with("index/", keys));
                    std::for_each(keys.begin(), keys.end(), [&](const std::string& key) { missing.erase(key); });
                }
                suite.check(missing.empty());
            }
        }
        if (suite.part("watch: a time that has passed is no reason to overlook what has come")) {
            quieten(*signal);
            suite.check(!signal->wait_until(clock::now()) && !signal->wait_until(clock::time_point::min()));
            place.write("index/a", "1");
            const bool told = signal->wait_until(clock::time_point::min());
            // If the storage's place has only just appeared, the signal may need a second look.
            suite.check(signal->wait_until(clock::time_point::min()) || told);
        }
        if (suite.part("watch: interrupt ends the wait that is going on, or the next one, also without a storage")) {
            {
                const any_storage gone = std::move(place.store);
            }
            quieten(*signal);
            signal->interrupt();
            static_cast<void>(signal->wait_until(clock::time_point::max()));  // no deadline is a deadline, too
            for (int round = 0; round < 5; ++round) {
                const std::jthread other{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{round});
                    signal->interrupt();
                }};
                const auto until = far_away();
                static_cast<void>(signal->wait_until(until));
                suite.check(clock::now() < until);
            }
        }
    });
    return signals;
}

/// Runs the suite of entries() and read_versioned().
inline void check_version_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        const storage_under_test<any_storage> place = make();
        const auto version_of = [&](const std::string& key) {
            const auto found = place.store.entries(key, "", 1);
            suite.require(found.has_value());
            return found->empty() ? std::string{} : found->front().version;
        };

        if (suite.part("entries: another version whenever the bytes are others, though size and key are the same")) {
            std::set<std::string> seen{""};
            for (int round = 0; round < 20; ++round) {
                place.write("index/a", std::to_string(100 + round));
                suite.check(seen.insert(version_of("index/a")).second);
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
                suite.check(text_of(read.bytes) == content && !read.version.empty());
                place.write(key, content + "x");
                suite.check(version_of(key) != read.version);
                suite.check(place.store.read_versioned(key).version != read.version);
            }
            suite.check_throws<not_found>([&] { static_cast<void>(place.store.read_versioned("missing")); });
        }
    });
}

/// Runs the suite of modified().
inline void check_dating_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        const storage_under_test<any_storage> place = make();
        if (suite.part("modified: about now, never earlier after another write, and nothing for what is not there")) {
            suite.check(!place.store.modified("index/a"));
            place.write("index/a", "1");
            const auto first = place.store.modified("index/a");
            suite.require(first.has_value());
            // A wide margin: another machine's clock may be off.
            suite.check(std::chrono::abs(*first - std::chrono::system_clock::now()) < std::chrono::hours{24});
            place.write("index/a", "2");
            suite.check(place.store.modified("index/a") >= first);
            place.remove("index/a");
            for (const char* missing : {"index/a", "index", "index/", "index/b", "index/a/b", ""}) {
                suite.about(missing);
                suite.check(!place.store.modified(missing));
            }
        }
    });
}

}  // namespace smdebug::inline v1::testing
