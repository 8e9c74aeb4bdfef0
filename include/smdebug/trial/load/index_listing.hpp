// Finding the index files that have come since the last look, without listing what is known.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Lists a run's index files, again and again.
/// A storage that follows its folders says what is new.  Any other is listed from the first step on to which a worker
/// may still add: what comes before it, late and out of order, is only seen after forget().
/// Borrows: the storage, for its life.  One thread at a time.
class index_listing {
public:
    /// `window`: of the steps that some worker has not written, only those among as many last ones are listed again.
    index_listing(const any_storage& store, std::size_t window) : store_(store), window_(window) {}

    /// Keys below index/ in byte order: all that came since the last call, and maybe others.
    /// Errors: what the storage throws; nothing is lost then.
    [[nodiscard]] std::vector<std::string> next(const catalog& last);

    /// Makes the next call list everything.
    void forget();

private:
    // A key that stands before those of the first step to which a worker may still add, and behind all others.
    [[nodiscard]] std::string first_open_key(const catalog& last);

    static constexpr step_number step_with_long_name = 1'000'000'000'000;  // its keys do not sort by step

    const any_storage& store_;
    std::size_t window_;
    step_number open_from_ = 0;
    bool from_start_ = true;
    std::optional<any_follower> follower_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/index_listing.ipp>
#endif
