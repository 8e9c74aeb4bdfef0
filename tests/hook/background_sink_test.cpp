#include <smdebug/hook/background_sink.hpp>

#include "hook/object_store.hpp"
#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

void append(file_sink& sink, std::string_view text) {
    const std::array pieces{as_bytes(text)};
    sink.append(pieces);
}

void step(file_sink& sink, const std::string& name, std::size_t bytes = 10) {
    sink.begin("events/" + name, 1);
    append(sink, std::string(bytes, name.front()));
    sink.finish("index/" + name, name, false, 1);
}

std::string text(const faulty_storage& store, std::string_view key) {
    return std::string{as_text(store.objects().read(key).view())};
}

// The same calls, but in the order and with the texts of a sink that writes at once.
std::vector<std::string> keys_in_order(const faulty_storage& store) {
    std::vector<std::string> committed;
    for (const std::string& call : store.calls()) {
        if (call.starts_with("commit ")) {
            committed.push_back(call.substr(7));
        }
    }
    return committed;
}

}  // namespace

TEST_CASE("background_sink: files appear in the order in which they were handed over, whole, whatever their size") {
    faulty_storage store;
    background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
    std::vector<std::string> expected;
    for (const std::size_t bytes : {1U, 1U << 20U, (1U << 20U) + 1U, 5U << 20U, 100U}) {
        const std::string name = std::to_string(bytes);
        sink.put("other/" + name, name);
        step(sink, name, bytes);
        expected.insert(expected.end(), {"other/" + name, "events/" + name, "index/" + name});
    }
    sink.drain();
    CHECK(keys_in_order(store) == expected);
    CHECK(sink.lost().empty());
    for (const std::size_t bytes : {1U, 1U << 20U, (1U << 20U) + 1U, 5U << 20U, 100U}) {
        const std::string name = std::to_string(bytes);
        CHECK(text(store, "events/" + name) == std::string(bytes, name.front()));
        CHECK(text(store, "index/" + name) == name);
    }
}

TEST_CASE("background_sink: the caller's memory is not needed when append returns") {
    faulty_storage store;
    std::atomic<bool> may_write{false};
    store.before_each([&](const std::string&) { may_write.wait(false); });
    background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
    std::string memory(500'000, 'a');
    sink.begin("events/1", 1);
    append(sink, memory);
    memory.assign(memory.size(), 'b');
    append(sink, memory);
    memory.assign(memory.size(), 'c');
    sink.finish("index/1", "1", false, 1);
    may_write = true;
    may_write.notify_all();
    sink.drain();
    CHECK(text(store, "events/1") == std::string(500'000, 'a') + std::string(500'000, 'b'));
}

TEST_CASE("background_sink: a step that fails anywhere has no index, is reported once, and loses no other step") {
    // create, append (2), commit; create, append, commit of the index
    for (std::size_t call = 0; call < 7; ++call) {
        CAPTURE(call);
        faulty_storage store{{}, {.first = call}};
        background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
        step(sink, "1", 1'500'000);
        step(sink, "2", 1'500'000);
        sink.drain();
        const auto lost = sink.lost();
        REQUIRE(lost.size() == 1);
        CHECK(lost.front().key == (call < 3 ? "events/1" : "index/1"));
        CHECK_THROWS_AS(std::rethrow_exception(lost.front().why), unavailable);
        CHECK(sink.lost().empty());
        CHECK_FALSE(store.objects().size("index/1"));
        CHECK(store.objects().size("events/1").has_value() == (call > 3));
        CHECK(text(store, "index/2") == "2");
        CHECK(store.objects().size("events/2") == 1'500'000);
    }
}

TEST_CASE("background_sink: a file beside the steps that failed costs no step") {
    faulty_storage store{{}, {.first = 2}};
    background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
    sink.put("collections", "all");
    step(sink, "1");
    sink.drain();
    const auto lost = sink.lost();
    REQUIRE(lost.size() == 1);
    CHECK(lost.front().key == "collections");
    CHECK(text(store, "index/1") == "1");
}

TEST_CASE("background_sink: an older index goes before the new events come, and stays where these are lost before") {
    for (std::size_t call = 0; call < 8; ++call) {
        CAPTURE(call);
        faulty_storage store;
        background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
        step(sink, "1", 10);
        sink.drain();
        store.plan({.first = call});
        sink.begin("events/1", 1);
        append(sink, "again");
        sink.finish("index/1", "again", true, 1);
        step(sink, "2");
        sink.drain();
        CHECK(sink.lost().size() == 1);
        const bool is_there = store.objects().size("index/1").has_value();
        CHECK(is_there == (call <= 2 || call >= 7));
        if (is_there) {
            CHECK((text(store, "index/1") == "1") == (text(store, "events/1") == "1111111111"));
        }
        CHECK(store.objects().size("index/2").has_value() == (call < 7));
    }
}

TEST_CASE("background_sink: what was abandoned, or not finished, never appears") {
    for (const std::size_t bytes : {10U, 1'500'000U}) {  // the other thread has not heard of it, or has
        CAPTURE(bytes);
        faulty_storage store;
        {
            background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
            for (int i = 0; i < 3; ++i) {
                sink.begin("events/abandoned", 1);
                append(sink, std::string(bytes, 'x'));
                sink.abandon();
            }
            sink.abandon();
            step(sink, "1");
            sink.begin("events/again", 1);
            append(sink, std::string(bytes, 'x'));
            step(sink, "2");
            sink.finish("index/3", "no events", false, 1);
            sink.begin("events/unfinished", 1);
            append(sink, std::string(bytes, 'x'));
        }
        CHECK(store.objects().list("", "") ==
              std::vector<std::string>{"events/1", "events/2", "index/1", "index/2", "index/3"});
        CHECK(text(store, "events/1") == std::string(10, '1'));
        CHECK(text(store, "events/2") == std::string(10, '2'));
    }
}

TEST_CASE("background_sink: has_room() is right if the sink drops, and always true if it waits") {
    faulty_storage store;
    std::atomic<bool> may_write{false};
    store.before_each([&](const std::string&) { may_write.wait(false); });
    background_sink drops{
        any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U, .when_full = full_pool::drop}};
    const background_sink* const that = &drops;
    static_cast<void>(that);
    CHECK(drops.has_room(2U << 20U));
    CHECK_FALSE(drops.has_room((2U << 20U) + 1));
    drops.begin("events/1", 1);
    append(drops, std::string(1'500'000, 'x'));
    const std::size_t left = (2U << 20U) - 1'500'000;
    CHECK(drops.has_room(left));
    CHECK_FALSE(drops.has_room(left + 1));
    append(drops, std::string(left, 'x'));
    CHECK(drops.has_room(0));
    CHECK_FALSE(drops.has_room(1));
    may_write = true;
    may_write.notify_all();
    drops.finish("index/1", "1", false, 1);
    drops.drain();
    CHECK(drops.has_room(2U << 20U));
    CHECK(store.objects().size("events/1") == 2U << 20U);
    background_sink waits{any_storage{store}, durability::cached, {.pool_bytes = 1}};
    CHECK(waits.has_room(std::uint64_t{1} << 50U));
}

TEST_CASE(
    "background_sink: while a commit takes long, steps are taken as long as there is room; one that fails is lost") {
    for (const bool in_parts : {true, false}) {  // an object is sent piece by piece, or as a whole when it is committed
        CAPTURE(in_parts);
        const faulty_storage store;
        const std::string commits = in_parts ? "commit events/" : "write events/";
        std::atomic<bool> may_commit{false};
        store.before_each([&](const std::string& call) {
            if (call.starts_with(commits)) {
                may_commit.wait(false);
            }
        });
        any_storage place = in_parts ? any_storage{store} : like_s3(store);
        background_sink sink{place, durability::cached, {.pool_bytes = 4U << 20U}};
        store.plan({.first = 1, .only = commits});
        for (const char* name : {"1", "2", "3"}) {
            step(sink, name, 700'000);
            CHECK(store.objects().list("", "").empty());
        }
        may_commit = true;
        may_commit.notify_all();
        sink.drain();
        const auto lost = sink.lost();
        REQUIRE(lost.size() == 1);
        CHECK(lost.front().key == "index/2");
        CHECK(store.objects().list("", "") == std::vector<std::string>{"events/1", "events/3", "index/1", "index/3"});
        CHECK(store.objects().size("events/3") == 700'000);
    }
}

TEST_CASE("background_sink: drain waits until the last file is there") {
    faulty_storage store;
    store.before_each([&](const std::string&) { std::this_thread::sleep_for(1ms); });
    background_sink sink{any_storage{store}, durability::cached, {.pool_bytes = 2U << 20U}};
    sink.drain();  // nothing to wait for
    for (int i = 0; i < 5; ++i) {
        step(sink, std::to_string(i));
        sink.drain();
        CHECK(store.objects().size("index/" + std::to_string(i)));
    }
}
