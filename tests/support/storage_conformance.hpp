// One suite that every storage must pass: the promises of storage/concepts.hpp, each with its number.
// A backend's test calls it with a function that makes a storage holding exactly the objects it is given.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
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
    std::string large;
    std::mt19937 random{7};
    for (int i = 0; i < 300'000; ++i) {
        large += static_cast<char>(random() & 0xFFU);
    }
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
                for (int round = 0; round < 20; ++round) {
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
    SUBCASE("it says where it is") { CHECK_FALSE(std::string(store.name()).empty()); }
}

}  // namespace smdebug_test
