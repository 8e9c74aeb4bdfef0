// The bodies of <smdebug/hook/run_claim.hpp> that are templates.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/hook/run_claim.hpp>
#include <smdebug/storage/abilities.hpp>

#include <algorithm>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <writable_storage Storage>
run_claim<Storage>::run_claim(Storage& store, std::string worker, std::int64_t writers, durability how)
    : store_(&store),
      worker_(std::move(worker)),
      writers_(writers),
      how_(how),
      by_signs_(writers > 1 && !abilities_of(store).claims && abilities_of(store).removes) {
    if constexpr (claiming_storage<Storage>) {
        if (abilities_of(store).claims) {
            claim();
        }
    }
}

template <writable_storage Storage>
void run_claim<Storage>::begin() {
    if (by_signs_) {
        store_->write(claim_key(worker_, writers_), as_bytes("smdebug, at work\n"));
    }
}

template <writable_storage Storage>
bool run_claim<Storage>::holds() const {
    if constexpr (claiming_storage<Storage>) {
        return !claim_ || still_holds(*claim_);
    } else {
        return true;
    }
}

template <writable_storage Storage>
void run_claim<Storage>::renew() {
    if constexpr (claiming_storage<Storage>) {
        claim_.reset();
        claim();
    }
}

template <writable_storage Storage>
bool run_claim<Storage>::release() {
    if (claim_) {
        claim_->release();
        claim_.reset();
        return writers_ <= 1 || is_last([&](const std::string& worker) { return is_claimed(worker); });
    }
    if constexpr (removing_storage<Storage>) {
        if (by_signs_) {
            static_cast<void>(store_->remove(claim_key(worker_, writers_)));
            std::optional<std::vector<std::string>> signs;  // one listing for all workers
            return is_last([&](const std::string& worker) {
                if (!signs) {
                    signs = store_->list("claim_", "");
                }
                // A listing may be out of date.
                const std::string key = claim_key(worker, writers_);
                return std::binary_search(signs->begin(), signs->end(), key) && store_->size(key).has_value();
            });
        }
    }
    return true;
}

template <writable_storage Storage>
void run_claim<Storage>::claim() {
    claim_.emplace(take_claim(*store_, claim_key(worker_, writers_), how_));
    // A process with another number of writers claims another key: each checks the other's, after its own is there.
    const std::string other = claim_key(worker_, writers_ <= 1 ? 2 : 1);
    if (store_->claimed(other)) {
        throw in_use(std::string{store_->name()} +
                         ": a living process that counts the workers of the job otherwise holds " + other +
                         ", and may write as " + worker_ + ", too",
                     {.where = other, .worker = worker_});
    }
}

template <writable_storage Storage>
bool run_claim<Storage>::is_claimed(const std::string& worker) const {
    if constexpr (claiming_storage<Storage>) {
        return store_->claimed(claim_key(worker, writers_));
    } else {
        return false;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
