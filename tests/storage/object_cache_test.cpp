#include <smdebug/storage/cache/memory_cache.hpp>

#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace smdebug;
using namespace smdebug::testing;

namespace {

// A minimal cache of one object, for one thread.
class cache_archetype {
public:
    static constexpr bool needs_versions = false;
    explicit cache_archetype(int /*made_on_purpose*/) {}
    cache_archetype(cache_archetype&&) = default;
    cache_archetype& operator=(cache_archetype&&) = default;
    cache_archetype(const cache_archetype&) = delete;
    cache_archetype& operator=(const cache_archetype&) = delete;
    ~cache_archetype() = default;

    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what) {
        return holds(what) ? std::optional{bytes_} : std::nullopt;
    }
    [[nodiscard]] bool holds(const object_identity& what) { return what.key == key_ && what.version == version_; }
    void keep(const object_identity& what, const byte_buffer& bytes) {
        key_ = what.key;
        version_ = what.version;
        bytes_ = bytes;
    }
    void drop(const object_identity& what) { forget(what.key); }
    void forget(std::string_view key) { key_ = key_ == key ? std::string{} : key_; }
    void clear() { key_.clear(); }
    [[nodiscard]] std::uint64_t largest() const { return 1000; }

private:
    std::string key_;
    std::string version_;
    byte_buffer bytes_;
};

struct no_clear : cache_archetype {
    void clear() = delete;
};
struct finds_views : cache_archetype {
    [[nodiscard]] std::optional<byte_view> find(const object_identity&) { return {}; }
};
struct keeps_or_not : cache_archetype {
    bool keep(const object_identity&, const byte_buffer&) { return false; }
};
struct largest_mutably : cache_archetype {
    [[nodiscard]] std::uint64_t largest() { return 0; }
};
struct needs_something : cache_archetype {
    static constexpr std::string_view needs_versions = "perhaps";
};

static_assert(object_cache<cache_archetype> && !scan_cache<cache_archetype>);
static_assert(object_cache<memory_cache> && !scan_cache<memory_cache> && scan_cache<disk_cache>);
static_assert(!object_cache<no_clear> && !object_cache<finds_views> && !object_cache<keeps_or_not> &&
              !object_cache<largest_mutably> && !object_cache<needs_something> && !object_cache<int>);

}  // namespace

TEST_CASE("object_cache: cached_storage needs only what the concept promises") {
    memory_storage objects;
    objects.write("a.tfevents", as_bytes("first"));
    objects.write("b.tfevents", as_bytes("second"));
    auto store = cached(objects, cache_archetype{1}, {.threads_ahead = 0});
    CHECK(text_of(store.read("a.tfevents", {1, 2})) == "ir");
    CHECK(text_of(store.read("a.tfevents")) == "first");
    CHECK(text_of(store.read("b.tfevents")) == "second");
    CHECK(text_of(store.read("a.tfevents")) == "first");
    store.write("a.tfevents", as_bytes("third"));
    CHECK(text_of(store.read("a.tfevents")) == "third");
    objects.write("a.tfevents", as_bytes("fourth"));
    CHECK(text_of(store.read("a.tfevents")) == "third");
    store.forget();
    CHECK(text_of(store.read("a.tfevents")) == "fourth");
}
