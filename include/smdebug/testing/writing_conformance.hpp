// The suites that writable storages must pass: outputs, removal, claims; the numbered promises of storage/concepts.hpp.
// Each takes a function that makes an empty storage_under_test.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/writable.hpp>

#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/suite.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::testing {

/// Appends texts as the pieces of one call, from memory that is overwritten when the call returns.
template <class Output>
void append_texts(Output& out, std::vector<std::string> texts) {
    std::vector<byte_view> pieces;
    for (const std::string& text : texts) {
        pieces.push_back(as_bytes(text));
    }
    out.append(pieces);
    for (std::string& text : texts) {
        text.assign(text.size(), '#');
    }
}

/// Runs the suite of object_output, with the storage's own outputs or those that buffer and write().
template <class Make>
void check_output_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        using store_type = decltype(place.store);
        static_assert(object_output<decltype(create_output(place.store, ""))>);
        const auto content = [&](std::string_view key) { return text_of(place.store.read(key)); };

        if (suite.part("1: pieces come behind one another, empty ones too, and are not needed afterwards")) {
            auto out = create_output(place.store, "events/0/a.tfevents");
            append_texts(out, {"one,", "", "two,"});
            append_texts(out, {});
            append_texts(out, {""});
            append_texts(out, {"three,"});
            const std::string large(1'000'000, 'x');
            append_texts(out, {large, "", large, "end"});
            out.commit(durability::cached);
            suite.check(content("events/0/a.tfevents") == "one,two,three," + large + large + "end");
        }
        if (suite.part("1: thousands of pieces in one call")) {
            std::vector<std::string> texts;
            std::string whole;
            for (int i = 0; i < 5000; ++i) {
                texts.push_back(i % 7 == 0 ? "" : std::to_string(i) + ";");
                whole += texts.back();
            }
            auto out = create_output(place.store, "many");
            append_texts(out, texts);
            out.commit(durability::cached);
            suite.check(content("many") == whole);
        }
        if (suite.part("2: there is nothing before commit, and the whole object after it, however durable")) {
            for (const durability how : {durability::cached, durability::on_disk}) {
                for (const auto& [key, text] : conformance_objects()) {
                    suite.about(key);
                    if (how == durability::on_disk) {
                        place.remove(key);
                    }
                    auto out = create_output(place.store, key);
                    append_texts(out, {text.substr(0, text.size() / 2), text.substr(text.size() / 2)});
                    suite.check(!place.store.size(key).has_value());
                    suite.check(!contains(place.store.list("", ""), key));
                    suite.check_throws<not_found>(
                        [&, &missing = key] { static_cast<void>(place.store.read(missing)); });
                    out.commit(how);
                    suite.check(content(key) == text);
                    suite.check(place.store.size(key) == text.size());
                    suite.check(contains(place.store.list("", ""), key));
                }
            }
            suite.check(place.store.list("", "").size() == conformance_objects().size());
        }
        if (suite.part("2: an object without pieces is empty")) {
            create_output(place.store, "a/empty").commit(durability::on_disk);
            suite.check(place.store.size("a/empty") == 0);
        }
        if (suite.part("2: an older object is there until the commit, and replaced by it")) {
            place.write("index/a", "the older, longer one");
            auto out = create_output(place.store, "index/a");
            append_texts(out, {"new"});
            suite.check(content("index/a") == "the older, longer one");
            out.commit(durability::cached);
            suite.check(content("index/a") == "new");
        }
        if (suite.part("2: followers and signals report a commit")) {
            if constexpr (followable_storage<store_type> && announcing_storage<store_type>) {
                if (abilities_of(place.store).follows) {
                    auto follower = place.store.follow("index/");
                    const auto signal = place.store.watch(std::vector<std::string>{"index/"});
                    suite.require(signal != nullptr);
                    auto out = create_output(place.store, "index/0/a");
                    append_texts(out, {"x"});
                    suite.check(!contains(follower.next(), "index/0/a"));
                    out.commit(durability::cached);
                    suite.check(signal->wait_until(far_away()));
                    suite.check(contains(follower.next(), "index/0/a"));
                }
            }
        }
        if (suite.part("3: without a commit it leaves nothing, and an older object as it was")) {
            place.write("index/a", "older");
            for (const char* key : {"index/a", "index/b", "other/c"}) {
                auto out = create_output(place.store, key);
                append_texts(out, {"never ", "seen"});
            }
            { const auto untouched = create_output(place.store, "index/d"); }
            suite.check(place.store.list("", "") == std::vector<std::string>{"index/a"});
            suite.check(content("index/a") == "older");
        }
        if (suite.part("3: one that takes another's place lets go of its own object")) {
            auto out = create_output(place.store, "a");
            append_texts(out, {"a"});
            auto other = create_output(place.store, "b");
            append_texts(other, {"b"});
            out = std::move(other);
            suite.check(place.store.list("a", "").empty());
            append_texts(out, {"b"});
            { const auto gone = std::move(other); }  // it is empty
            auto moved = std::move(out);
            append_texts(moved, {"b"});
            moved.commit(durability::cached);
            suite.check(content("b") == "bbb");
            suite.check(place.store.list("", "") == std::vector<std::string>{"b"});
        }
        if (suite.part("5: of several under one key the last commit wins, and each is whole")) {
            auto first = create_output(place.store, "key");
            auto second = create_output(place.store, "key");
            auto third = create_output(place.store, "key");
            for (int i = 0; i < 3; ++i) {
                append_texts(first, {"first "});
                append_texts(second, {"second "});
                append_texts(third, {"third "});
            }
            second.commit(durability::cached);
            suite.check(content("key") == "second second second ");
            first.commit(durability::cached);
            suite.check(content("key") == "first first first ");
            { const auto gone = std::move(third); }
            suite.check(content("key") == "first first first ");
            suite.check(place.store.list("", "") == std::vector<std::string>{"key"});
        }
        if (suite.part("5: threads write at once, each its own object and all of them one")) {
            std::atomic<int> wrong{0};
            {
                std::vector<std::jthread> writers;
                for (int writer = 0; writer < 4; ++writer) {
                    writers.emplace_back([&, writer] {
                        try {
                            const std::string text(10'000, static_cast<char>('a' + writer));
                            for (int i = 0; i < 25; ++i) {
                                auto shared = create_output(place.store, "deep/folders/shared");
                                append_texts(shared, {text, text});
                                auto own =
                                    create_output(place.store, "deep/" + std::to_string(writer) + std::to_string(i));
                                append_texts(own, {text});
                                own.commit(durability::cached);
                                shared.commit(durability::cached);
                                std::string seen;
                                for (int attempt = 0; seen.empty(); ++attempt) {
                                    try {
                                        seen = content("deep/folders/shared");
                                    } catch (const not_found&) {
                                        if (!place.overwriting_may_hide || attempt == 20) {
                                            break;  // counted below
                                        }
                                    }
                                }
                                wrong += seen == std::string(20'000, seen.empty() ? '?' : seen.front()) ? 0 : 1;
                            }
                        } catch (...) {
                            ++wrong;
                        }
                    });
                }
            }
            suite.check(wrong == 0);
            suite.check(place.store.list("", "").size() == 101);
        }
    });
}

/// Runs the suite of removing_storage.
template <class Make>
void check_removal_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        static_assert(removing_storage<decltype(place.store)>);

        if (suite.part("remove: says whether it was there, and removes nothing else")) {
            suite.check(!place.store.remove("index/a"));
            place.write("index/a", "1");
            place.write("index/ab", "2");
            for (const std::string_view none : {"index", "index/a/b", "index/aa", "inde"}) {
                suite.about(none);
                suite.check(!place.store.remove(none));
            }
            suite.check(place.store.remove("index/a"));
            suite.check(!place.store.remove("index/a"));
            suite.check(!place.store.size("index/a").has_value());
            suite.check(place.store.list("", "") == std::vector<std::string>{"index/ab"});
            place.write("index/a", "again");
            suite.check(text_of(place.store.read("index/a")) == "again");
        }
    });
}

/// Runs the suite of claiming_storage.
template <class Make>
void check_claim_conformance(Make&& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        auto place = make();
        auto& store = place.store;
        static_assert(claiming_storage<decltype(place.store)>);
        const auto refused = [&](std::string_view key) {
            try {
                static_cast<void>(store.claim(key));
            } catch (const in_use& thrown) {
                suite.check(std::string_view{thrown.what()}.find(key) != std::string_view::npos);
                suite.check(thrown.where().find(key) != std::string::npos);
                return true;
            }
            return false;
        };

        if (suite.part("claim 1, 2: it is seen, no one else gets it, and it ends with the release")) {
            suite.check(!store.claimed("run/claim"));
            auto held = store.claim("run/claim");
            suite.check(store.size("run/claim").has_value());
            suite.check(store.claimed("run/claim"));
            suite.check(refused("run/claim"));
            suite.check(store.claimed("run/claim"));
            suite.check(store.list("", "") == std::vector<std::string>{"run/claim"});
            auto other = store.claim("run/other");
            suite.check(!store.claimed("run/third"));
            held.release();
            suite.check(!store.claimed("run/claim"));
            suite.check(store.claimed("run/other"));
            suite.check(store.list("", "") == std::vector<std::string>{"run/other"});
            const auto again = store.claim("run/claim");
            held.release();  // again: it no longer holds the claim
            suite.check(store.claimed("run/claim"));
            suite.check(refused("run/claim"));
        }
        if (suite.part("claim: destruction releases; moving does not")) {
            {
                auto held = store.claim("a");
                auto moved = std::move(held);
                { const auto gone = std::move(held); }
                suite.check(store.claimed("a"));
                held = store.claim("b");
                suite.check(store.claimed("b"));
                held = std::move(moved);
                suite.check(!store.claimed("b"));
                suite.check(store.claimed("a"));
            }
            suite.check(!store.claimed("a"));
            suite.check(store.list("", "").empty());
        }
        if (suite.part("claim 5: what is there and is no claim stays, and counts as held")) {
            place.write("empty", "");
            place.write("text", "somebody's");
            for (const char* key : {"empty", "text"}) {
                suite.about(key);
                suite.check(store.claimed(key));
                suite.check(refused(key));
                suite.check(store.size(key).has_value());
                place.remove(key);
                suite.check(!store.claimed(key));
                suite.check(!refused(key));
            }
        }
        if (suite.part("claim: one that others have removed or replaced leaves alone what is there then")) {
            auto first = store.claim("key");
            place.remove("key");
            suite.check(!store.claimed("key"));
            auto second = store.claim("key");
            first.release();
            suite.check(store.claimed("key"));
            suite.check(refused("key"));
            place.remove("key");
            place.write("key", "another's");
            second.release();
            suite.check(text_of(store.read("key")) == "another's");
        }
        if (suite.part("claim 2: of many threads one holds it at a time")) {
            constexpr int wanted = 100;
            std::atomic<int> inside{0};
            std::atomic<int> crowds{0};  // also counts calls that fail
            std::atomic<int> turns{0};
            std::atomic<bool> looks{true};
            const auto until = far_away();
            {
                const std::jthread onlooker{[&] {
                    while (looks) {
                        try {
                            static_cast<void>(store.claimed("key"));
                        } catch (...) {
                            ++crowds;
                        }
                    }
                }};
                std::vector<std::jthread> threads;
                for (int thread = 0; thread < 3; ++thread) {
                    threads.emplace_back([&] {
                        while (turns < wanted && change_signal::clock::now() < until) {
                            try {
                                auto held = store.claim("key");
                                crowds += inside.fetch_add(1) == 0 && store.claimed("key") ? 0 : 1;
                                std::this_thread::yield();
                                inside.fetch_sub(1);
                                ++turns;
                            } catch (const in_use&) {
                                std::this_thread::yield();
                            } catch (...) {
                                ++crowds;
                                break;
                            }
                        }
                    });
                }
                threads.clear();
                looks = false;
            }
            suite.check(crowds == 0);
            suite.check(turns >= wanted);
            suite.check(store.list("", "").empty());
        }
    });
}

}  // namespace smdebug::inline v1::testing
