#include <smdebug/hook/file_sink.hpp>

#include "hook/object_store.hpp"
#include "support/faulty_storage.hpp"
#include "support/scripted_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

std::unique_ptr<file_sink> sink_into(const faulty_storage& store) {
    return std::make_unique<direct_sink>(any_storage{store}, durability::cached);
}

void append(file_sink& sink, std::string_view first, std::string_view second = {}) {
    const std::array pieces{as_bytes(first), as_bytes(second)};
    sink.append(pieces);
}

std::string text(const memory_storage& store, std::string_view key) {
    return std::string{as_text(store.read(key).view())};
}

}  // namespace

TEST_CASE("direct_sink: a step's events appear before its index, each whole") {
    faulty_storage store;
    const auto sink = sink_into(store);
    sink->begin("events/1", 1);
    append(*sink, "one,", "two,");
    append(*sink, "three");
    CHECK(store.objects().list("", "").empty());
    sink->finish("index/1", "{}", false, 1);
    CHECK(store.calls() == std::vector<std::string>{"create events/1", "append events/1", "append events/1",
                                                    "commit events/1", "create index/1", "append index/1",
                                                    "commit index/1"});
    CHECK(text(store.objects(), "events/1") == "one,two,three");
    CHECK(text(store.objects(), "index/1") == "{}");
    CHECK(sink->has_room(std::uint64_t{1} << 60U));
    CHECK(sink->lost().empty());
}

TEST_CASE("direct_sink: a step without events has an index alone") {
    faulty_storage store;
    const auto sink = sink_into(store);
    sink->finish("index/1", "{}", false, 1);
    CHECK(store.objects().list("", "") == std::vector<std::string>{"index/1"});
}

TEST_CASE("direct_sink: what was abandoned, or begun again, never appears") {
    faulty_storage store;
    const auto sink = sink_into(store);
    sink->begin("events/1", 1);
    append(*sink, "one");
    sink->abandon();
    sink->abandon();
    sink->begin("events/2", 1);
    append(*sink, "two");
    sink->begin("events/3", 1);
    append(*sink, "three");
    sink->finish("index/3", "{}", false, 1);
    CHECK(store.objects().list("", "") == std::vector<std::string>{"events/3", "index/3"});
    CHECK(text(store.objects(), "events/3") == "three");
}

TEST_CASE("direct_sink: where the events fail there is no index, and the next step is not touched by it") {
    for (const std::size_t call : {0U, 1U, 2U}) {
        CAPTURE(call);
        faulty_storage store{{}, {.first = call}};
        const auto sink = sink_into(store);
        const auto step = [&](const std::string& name) {
            sink->begin("events/" + name, 1);
            append(*sink, name);
            sink->finish("index/" + name, name, false, 1);
        };
        CHECK_THROWS_AS(step("1"), unavailable);
        sink->abandon();
        step("2");
        CHECK(store.objects().list("", "") == std::vector<std::string>{"events/2", "index/2"});
    }
}

TEST_CASE("direct_sink: takes an older index away before the events change, where the storage can") {
    faulty_storage store;
    const auto sink = sink_into(store);
    const auto step = [&](const std::string& text) {
        sink->begin("events/1", 1);
        append(*sink, text);
        sink->finish("index/1", text, true, 1);
    };
    step("first");
    // Whichever of the calls fails, the two that are seen belong together.
    for (std::size_t call = 0; call < 7; ++call) {
        store.plan({.first = call});
        CHECK_THROWS_AS(step("again " + std::to_string(call)), unavailable);
        sink->abandon();
        if (store.objects().size("index/1")) {
            CHECK(text(store.objects(), "index/1") == text(store.objects(), "events/1"));
        }
        CHECK(store.objects().size("index/1").has_value() == (call <= 2));
        store.plan({});
        step("whole " + std::to_string(call));
    }
    scripted_storage keeps;
    direct_sink cannot{any_storage{keeps}, durability::cached};
    cannot.finish("index/1", "older", false, 1);
    cannot.finish("index/1", "newer", true, 1);
    CHECK(keeps.size("index/1") == 5);
}

TEST_CASE("direct_sink: a place of any kind loses the older index where what is in it can remove") {
    const scripted_storage keeps;
    const faulty_storage removes;
    for (any_storage place : {any_storage{keeps}, like_s3(removes)}) {
        direct_sink sink{place, durability::cached};
        for (const char* text : {"older", "the newer one"}) {
            sink.begin("events/1", 1);
            append(sink, text);
            sink.finish("index/1", text, true, 1);
        }
        CHECK(place.size("index/1") == 13);
        CHECK(place.size("events/1") == 13);
    }
    CHECK(removes.calls() == std::vector<std::string>{"remove index/1", "write events/1", "write index/1",
                                                      "remove index/1", "write events/1", "write index/1",
                                                      "size index/1", "size events/1"});
}
