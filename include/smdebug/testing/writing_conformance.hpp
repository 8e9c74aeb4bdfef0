// The suites that writable storages must pass: outputs, removal, claims; the numbered promises of storage/concepts.hpp
// and storage_base. Each takes a function that makes an empty storage_under_test.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/suite.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace smdebug::inline v1::testing {

/// Appends texts as the pieces of one call, from memory that is overwritten when the call returns.
inline void append_texts(object_output& out, key_list texts) {
    std::vector<byte_view> pieces;
    for (const std::string& text : texts) {
        pieces.push_back(as_bytes(text));
    }
    out.append(pieces);
    for (std::string& text : texts) {
        text.assign(text.size(), '#');
    }
}

/// Runs the suite of create() and object_output, with the storage's own outputs or those that gather and write().
inline void check_output_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        storage_under_test<any_storage> place = make();
        any_storage& store = place.store;
        const auto content = [&](std::string_view key) { return text_of(store.read(key)); };
        const auto begun = [&](std::string_view key, const key_list& texts) {
            auto out = store.create(key);
            append_texts(*out, texts);
            return out;
        };

        if (suite.part("1: pieces come behind one another, thousands and empty ones, and are not needed afterwards")) {
            key_list texts{std::string(1'000'000, 'x'), "", std::string(1'000'000, 'y')};
            for (int i = 0; i < 5000; ++i) {
                texts.push_back(i % 7 == 0 ? "" : std::to_string(i) + ";");
            }
            std::string whole = "one,two,";
            for (const std::string& text : texts) {
                whole += text;
            }
            const auto out = begun("events/0/a.tfevents", {"one,", "", "two,"});
            for (const std::vector<std::string>& more : {{}, {""}, texts, key_list{"end"}}) {
                append_texts(*out, more);
            }
            out->commit(durability::cached);
            suite.check(content("events/0/a.tfevents") == whole + "end");
        }
        if (suite.part("2: there is nothing before commit, and the whole object after it, however durable")) {
            for (const durability how : {durability::cached, durability::on_disk}) {
                for (const auto& [key, text] : conformance_objects()) {
                    suite.about(key);
                    place.remove(key);
                    const auto out = begun(key, {text.substr(0, text.size() / 2), text.substr(text.size() / 2)});
                    suite.check(!store.size(key) && !contains(store.list("", ""), key));
                    suite.check_throws<not_found>([&, &absent = key] { static_cast<void>(store.read(absent)); });
                    out->commit(how);
                    suite.check(content(key) == text && store.size(key) == text.size());
                    suite.check(contains(store.list("", ""), key));
                }
            }
            store.create("without pieces")->commit(durability::on_disk);
            suite.check(store.size("without pieces") == 0);
            suite.check(store.list("", "").size() == conformance_objects().size() + 1);
        }
        if (suite.part("2: followers and signals report a commit")) {
            const auto follower = store.follow("index/");
            const auto signal = store.watch(key_list{"index/"});
            const auto out = begun("index/0/a", {"x"});
            suite.check(!contains(follower->next(), "index/0/a"));
            out->commit(durability::cached);
            suite.check(signal == nullptr || signal->wait_until(far_away()));
            suite.check(contains(follower->next(), "index/0/a"));
        }
        if (suite.part("3: without a commit it leaves nothing, and an older object as it was")) {
            place.write("index/a", "older");
            for (const char* key : {"index/a", "index/b", "other/c"}) {
                static_cast<void>(begun(key, {"never ", "seen"}));
            }
            static_cast<void>(store.create("index/d"));
            suite.check(store.list("", "") == key_list{"index/a"} && content("index/a") == "older");
        }
        if (suite.part("2, 5: an older object is there until a commit; of several the last wins, and each is whole")) {
            place.write("key", "the older, longer one");
            const auto first = begun("key", {"first "});
            const auto second = begun("key", {"second "});
            auto third = begun("key", {"third "});
            append_texts(*first, {"first"});
            append_texts(*second, {"second"});
            append_texts(*third, {"third"});
            suite.check(content("key") == "the older, longer one");
            second->commit(durability::cached);
            suite.check(content("key") == "second second");
            first->commit(durability::cached);
            third.reset();
            suite.check(content("key") == "first first" && store.list("", "") == key_list{"key"});
        }
        if (suite.part("5: threads write at once, each its own object and all of them one")) {
            const auto shared_text = [&](int attempts) {
                for (;; --attempts) {
                    try {
                        return content("deep/folders/shared");
                    } catch (const not_found&) {
                        if (attempts == 0) {
                            throw;
                        }
                    }
                }
            };
            const int wrong = failures_of(4, [&](int writer) {
                bool right = true;
                const std::string text(10'000, static_cast<char>('a' + writer));
                for (int i = 0; i < 25; ++i) {
                    const auto shared = begun("deep/folders/shared", {text, text});
                    begun("deep/" + std::to_string(writer) + std::to_string(i), {text})->commit(durability::cached);
                    shared->commit(durability::cached);
                    const std::string seen = shared_text(place.overwriting_may_hide ? 20 : 0);
                    right = right && seen == std::string(20'000, seen.front());
                }
                return right;
            });
            suite.check(wrong == 0 && store.list("", "").size() == 101);
        }
    });
}

/// Runs the suite of remove().
inline void check_removal_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        storage_under_test<any_storage> place = make();
        any_storage& store = place.store;
        if (suite.part("remove: says whether it was there, and removes nothing else")) {
            suite.check(!store.remove("index/a"));
            place.write("index/a", "1");
            place.write("index/ab", "2");
            for (const char* none : {"index", "index/a/b", "index/aa", "inde"}) {
                suite.about(none);
                suite.check(!store.remove(none));
            }
            suite.check(store.remove("index/a"));
            suite.check(!store.remove("index/a") && !store.remove("index/a", durability::on_disk));
            suite.check(!store.size("index/a") && store.list("", "") == key_list{"index/ab"});
            suite.check(store.remove("index/ab", durability::on_disk) && store.list("", "").empty());
            place.write("index/a", "again");
            suite.check(text_of(store.read("index/a")) == "again");
        }
    });
}

/// Runs the suite of claim(), claimed() and object_claim.
inline void check_claim_conformance(const make_empty& make) {
    detail::conformance_suite::walk([&](detail::conformance_suite& suite) {
        storage_under_test<any_storage> place = make();
        any_storage& store = place.store;
        const auto refused = [&](std::string_view key) {
            try {
                static_cast<void>(store.claim(key));
            } catch (const unavailable& thrown) {
                suite.check(thrown.code() == error_code::in_use);
                suite.check(std::string_view{thrown.what()}.find(key) != std::string_view::npos);
                suite.check(thrown.where().find(key) != std::string::npos);
                return true;
            }
            return false;
        };

        if (suite.part("claim 1, 2: it is seen, no one else gets it, and it ends with the release")) {
            suite.check(!store.claimed("run/claim"));
            const auto held = store.claim("run/claim");
            suite.check(held->holds() && store.claimed("run/claim") && refused("run/claim"));
            suite.check(store.claimed("run/claim") && store.size("run/claim"));
            suite.check(store.list("", "") == key_list{"run/claim"});
            const auto other = store.claim("run/other", durability::on_disk);
            suite.check(!store.claimed("run/third"));
            held->release();
            suite.check(!store.claimed("run/claim") && store.claimed("run/other"));
            suite.check(store.list("", "") == key_list{"run/other"});
            auto again = store.claim("run/claim");
            held->release();  // again: it no longer holds the claim
            suite.check(store.claimed("run/claim") && refused("run/claim"));
            again.reset();
            suite.check(!store.claimed("run/claim"));
        }
        if (suite.part("claim 4: what is there and is no claim stays, and counts as held")) {
            for (const std::string text : {"", "somebody's"}) {
                suite.about(text);
                place.write("key", text);
                suite.check(store.claimed("key") && refused("key") && store.size("key"));
                place.remove("key");
                suite.check(!store.claimed("key") && !refused("key"));
            }
        }
        if (suite.part("claim: one that others have removed or replaced leaves alone what is there then")) {
            const auto first = store.claim("key");
            place.remove("key");
            suite.check(!store.claimed("key"));
            const auto second = store.claim("key");
            first->release();
            suite.check(store.claimed("key") && refused("key"));
            place.remove("key");
            place.write("key", "another's");
            second->release();
            suite.check(text_of(store.read("key")) == "another's");
        }
        if (suite.part("claim 2: of many threads one holds it at a time")) {
            std::atomic<int> inside{0};
            std::atomic<int> turns{0};
            const auto until = far_away();
            const int wrong = failures_of(4, [&](int thread) {
                bool alone = true;
                while (turns < 100 && change_signal::clock::now() < until) {
                    try {
                        if (thread == 0) {
                            static_cast<void>(store.claimed("key"));  // an onlooker
                            continue;
                        }
                        const auto held = store.claim("key");
                        alone = inside++ == 0 && store.claimed("key") && alone;
                        std::this_thread::yield();
                        --inside;
                        ++turns;
                    } catch (const unavailable& held) {
                        if (held.code() != error_code::in_use) {
                            throw;
                        }
                        std::this_thread::yield();
                    }
                }
                return alone;
            });
            suite.check(wrong == 0 && turns >= 100 && store.list("", "").empty());
        }
    });
}

}  // namespace smdebug::inline v1::testing
