// Learns sizes and versions of objects by listing a thousand neighbours with one request.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/known_objects.hpp>
#include <smdebug/storage/concepts.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A key just before another one, such that hardly any key lies between them; printable where that one is.
[[nodiscard]] std::string key_before(std::string_view key);

/// Asks a storage and remembers what it told.  Borrows the storage.
/// Threads: everything may be called at once; one asks at a time, as its answer is mostly that of the others, too.
template <storage Inner>
class object_scout {
public:
    /// `may_do_without` says that a size without a version will do, where a storage tells no more.
    object_scout(const Inner& inner, std::function<bool(std::string_view)> of_interest, bool may_do_without)
        : inner_(inner), of_interest_(std::move(of_interest)), may_do_without_(may_do_without) {}

    [[nodiscard]] known_objects& known() noexcept { return known_; }

    /// What is known of an object; where nothing is, the storage is asked, for its neighbours as well.
    /// Nothing where it is not there, or the storage does not say: reading it will tell why.
    [[nodiscard]] std::optional<known_object> learn(std::string_view key);

    /// Whether an object was replaced or removed since it was as in `was`.
    [[nodiscard]] bool has_changed(std::string_view key, const known_object& was);

    /// Remembers a listing.  `state`: that of known() when the listing began.
    void note(std::vector<object_entry> listed, std::uint64_t state);

    void forget();

    /// Lists entries from the key on, below its top folder; or some that come just before it, where there are too many.
    /// Errors: those of the storage.
    [[nodiscard]] std::vector<object_entry> entries_from(std::string_view key) const
        requires entry_lister<Inner>;
    /// The entry of a key; null where it is not among them.
    [[nodiscard]] static const object_entry* entry_of(const std::vector<object_entry>& window, std::string_view key);

private:
    [[nodiscard]] std::optional<known_object> learn_size(std::string_view key, std::uint64_t state);

    const Inner& inner_;
    std::function<bool(std::string_view)> of_interest_;
    bool may_do_without_;
    known_objects known_;
    std::mutex asking_;
    std::atomic<bool> cannot_list_{false};
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/object_scout.ipp>
#endif

#include <smdebug/storage/cache/impl/object_scout.tpp>
