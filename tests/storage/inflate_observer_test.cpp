#include <smdebug/storage/concepts.hpp>

#include "support/archive_builder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct note final : smdebug::object_notes {
    explicit note(std::string all) : text(std::move(all)) {}
    std::string text;
};

/// Records the first bytes of each object.
struct noting final : inflate_observer {
    std::shared_ptr<const smdebug::object_notes> pass(std::string_view key,
                                                      const smdebug::opened_object& object) override {
        std::array<std::byte, 5> head{};
        const std::size_t length = object.read_at(0, head);
        keys.emplace_back(key);
        if (key.ends_with("2.tfevents")) {
            throw corrupt_data("not this one", {.where = std::string{key}});
        }
        return std::make_shared<note>(std::string{as_text(byte_view{head}.first(length))});
    }

    std::vector<std::string> keys;
};

using objects = std::map<std::string, std::string>;

std::string note_of(const archive_storage& store, std::string_view key) {
    const auto object = store.open(key);
    REQUIRE(object != nullptr);
    const auto* const written = dynamic_cast<const note*>(object->notes());
    return written == nullptr ? "nothing" : written->text;
}

}  // namespace

TEST_CASE("inflate_observer: an archive shows its event files during decompression, and keeps the notes") {
    const objects files{{"a/0.tfevents", "first of all"},
                        {"a/1.tfevents", ""},
                        {"a/2.tfevents", "third"},
                        {"a/index/0.json", "{}"},
                        {"a/3.tfevents", "the last"}};
    for (const std::string& archive : {gzip_of(tar_of(files)), zstd_of(tar_of(files))}) {
        memory_storage store;
        store.write("x", as_bytes(archive));
        const auto passing = std::make_shared<noting>();
        const archive_storage whole{store, "x", {}, {.in_passing = passing}};
        CHECK(passing->keys ==
              std::vector<std::string>{"a/0.tfevents", "a/1.tfevents", "a/2.tfevents", "a/3.tfevents"});
        CHECK(note_of(whole, "a/0.tfevents") == "first");
        CHECK(note_of(whole, "a/1.tfevents").empty());
        CHECK(note_of(whole, "a/2.tfevents") == "nothing");
        CHECK(note_of(whole, "a/3.tfevents") == "the l");
        CHECK(note_of(whole, "a/index/0.json") == "nothing");
        CHECK(note_of(whole.within("a"), "0.tfevents") == "first");
        CHECK(whole.open("a/4.tfevents") == nullptr);
    }
}

TEST_CASE("inflate_observer: an archive with random access does not call it") {
    const objects files{{"a/0.tfevents", "first of all"}};
    for (const std::string& archive : {tar_of(files), zip_of(files)}) {
        memory_storage store;
        store.write("x", as_bytes(archive));
        const auto passing = std::make_shared<noting>();
        const archive_storage whole{store, "x", {}, {.in_passing = passing}};
        CHECK(passing->keys.empty());
        CHECK(as_text(whole.read("a/0.tfevents").view()) == "first of all");
    }
}
