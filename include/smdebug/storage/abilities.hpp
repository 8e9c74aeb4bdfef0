// What a storage can do, and what pays with it, where its type alone does not tell.
#pragma once

#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/writable.hpp>

#include <concepts>

namespace smdebug {
inline namespace v1 {

/// What a storage can do when it runs.  Optional: `storage_abilities abilities() const` of a storage tells it, where it
/// has operations that it cannot do, or that do not pay; it names those: `return {.views = false};`.
struct storage_abilities {
    bool batches_ranges = true;  ///< read_ranges() costs less than single reads: ranges are worth collecting for it
    bool views = true;           ///< view() may show objects that nobody has read before
    bool reads_ahead = true;     ///< read_ahead() pays for small objects, too, and those that are wanted later only
    bool opens_small = true;     ///< open() pays for small objects, too; else for those above some 100 KiB only
    bool follows = true;         ///< followers cost by what is new; else list(prefix, after) tells as much for less
    bool writes = true;          ///< where not, write() and create() throw unsupported
    bool removes = true;         ///< where not, remove() throws unsupported
    bool claims = true;          ///< where not, claim() and claimed() throw unsupported

    friend bool operator==(const storage_abilities&, const storage_abilities&) = default;
};

/// What a storage can do: that for which it has the operation, unless its abilities() tell otherwise.
/// Cost: none where it has no abilities(), else theirs.
template <class S>
[[nodiscard]] constexpr storage_abilities abilities_of(const S& store) {
    storage_abilities told;
    if constexpr (requires(S& any) { any.abilities(); }) {
        static_assert(
            requires {
                { store.abilities() } -> std::same_as<storage_abilities>;
            }, "abilities() of a storage is const and gives storage_abilities");
        told = store.abilities();
    }
    return {.batches_ranges = told.batches_ranges && range_batch_reader<S>,
            .views = told.views && viewing_storage<S>,
            .reads_ahead = told.reads_ahead && prefetching_storage<S>,
            .opens_small = told.opens_small && detail::opening_storage<S>,
            .follows = told.follows && followable_storage<S>,
            .writes = told.writes && writable_storage<S>,
            .removes = told.removes && removing_storage<S>,
            .claims = told.claims && claiming_storage<S>};
}

}  // namespace v1
}  // namespace smdebug
