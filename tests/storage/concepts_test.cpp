#include <smdebug/storage/concepts.hpp>

#include "support/archetypes.hpp"
#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// Near misses: each has one function that is not quite the concept's.
struct base {
    [[nodiscard]] byte_buffer read(std::string_view, byte_range) const { return {}; }
    [[nodiscard]] std::vector<std::string> list(std::string_view, std::string_view) const { return {}; }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view) const { return {}; }
    [[nodiscard]] std::string name() const { return {}; }
};
struct reads_wholes : base {
    [[nodiscard]] byte_buffer read(std::string_view) const { return {}; }
};
struct reads_strings : base {
    [[nodiscard]] std::string read(std::string_view, byte_range) const { return {}; }
};
struct lists_views : base {
    [[nodiscard]] std::vector<std::string_view> list(std::string_view, std::string_view) const { return {}; }
};
struct lists_without_after : base {
    [[nodiscard]] std::vector<std::string> list(std::string_view) const { return {}; }
};
struct lists_mutably : base {
    [[nodiscard]] std::vector<std::string> list(std::string_view, std::string_view) { return {}; }
};
struct plain_size : base {
    [[nodiscard]] std::uint64_t size(std::string_view) const { return 0; }
};
struct unnamed : base {
    void name() const {}
};
struct writes_perhaps : base {
    bool write(std::string_view, byte_view) { return true; }
};
struct writes_strings : base {
    void write(std::string_view, const std::string&) {}
};
struct writes_without_reading {
    void write(std::string_view, byte_view) {}
};

// Functions of storage_base in a class that does not derive from it: any_storage refuses each.
struct reads_versions : base {
    [[nodiscard]] versioned_object read_versioned(std::string_view) const { return {}; }
};
struct places : base {
    [[nodiscard]] place_kind place() const { return place_kind::folder; }
};
struct reports : base {
    [[nodiscard]] std::vector<problem> problems() const { return {}; }
};
struct reads_ahead : base {
    [[nodiscard]] bool read_ahead(std::string_view) const { return true; }
};
struct removes : base {
    bool remove(std::string_view) { return true; }
};

static_assert(!detail::overrides_storage_base<base> && !detail::overrides_storage_base<writable_archetype>);
static_assert(detail::overrides_storage_base<reads_versions> && detail::overrides_storage_base<places> &&
              detail::overrides_storage_base<reports> && detail::overrides_storage_base<reads_ahead> &&
              detail::overrides_storage_base<removes>);

static_assert(storage<base> && storage<storage_archetype> && !std::copyable<storage_archetype>);
static_assert(!storage<reads_wholes> && !storage<reads_strings> && !storage<lists_views> &&
              !storage<lists_without_after> && !storage<lists_mutably> && !storage<plain_size> && !storage<unnamed>);
static_assert(writable_storage<writable_archetype> && !writable_storage<storage_archetype> &&
              !writable_storage<writes_perhaps> && !writable_storage<writes_strings> &&
              !writable_storage<writes_without_reading>);
static_assert(storage<storage_base> && storage<base_archetype> && writable_storage<storage_base>);

}  // namespace

TEST_CASE("storage concepts: the library's storages model them") {
    CHECK(writable_storage<local_storage>);
    CHECK(writable_storage<memory_storage>);
    CHECK(writable_storage<any_storage>);
    CHECK(writable_storage<cached_storage>);
}
