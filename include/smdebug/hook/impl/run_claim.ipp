// The bodies of <smdebug/hook/run_claim.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/hook/run_claim.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE run_claim::run_claim(any_storage store, std::string worker, std::int64_t writers, durability how)
    : store_(std::move(store)),
      worker_(std::move(worker)),
      writers_(writers),
      how_(how),
      by_signs_(writers > 1 && !store_.abilities().claims && store_.abilities().removes) {
    renew();
}

SMDEBUG_INLINE void run_claim::begin() {
    if (by_signs_) {
        store_.write(claim_key(worker_, writers_), as_bytes("smdebug, at work\n"));
    }
}

SMDEBUG_INLINE bool run_claim::holds() const { return !claim_ || claim_->holds(); }

SMDEBUG_INLINE void run_claim::renew() {
    claim_.reset();
    if (store_.abilities().claims) {
        claim();
    }
}

SMDEBUG_INLINE bool run_claim::release() {
    if (claim_) {
        claim_->release();
        claim_.reset();
        return writers_ <= 1 ||
               is_last([&](const std::string& worker) { return store_.claimed(claim_key(worker, writers_)); });
    }
    if (by_signs_) {
        store_.remove(claim_key(worker_, writers_));
        std::optional<std::vector<std::string>> signs;  // one listing for all workers
        return is_last([&](const std::string& worker) {
            if (!signs) {
                signs = store_.list("claim_", "");
            }
            // A listing may be out of date.
            const std::string key = claim_key(worker, writers_);
            return std::binary_search(signs->begin(), signs->end(), key) && store_.size(key).has_value();
        });
    }
    return true;
}

SMDEBUG_INLINE void run_claim::claim() {
    claim_.emplace(store_.claim(claim_key(worker_, writers_), how_));
    // A process with another number of writers claims another key: each checks the other's, after its own is there.
    const std::string other = claim_key(worker_, writers_ <= 1 ? 2 : 1);
    if (store_.claimed(other)) {
        throw in_use(store_.name() + ": a living process that counts the workers of the job otherwise holds " + other +
                         ", and may write as " + worker_ + ", too",
                     {.where = other, .worker = worker_});
    }
}

SMDEBUG_INLINE bool run_claim::is_last(function_ref<bool(const std::string& worker)> at_work) const {
    std::int64_t begun = 0;
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        const auto worker = locations::worker_of_collections_file(key);
        if (worker) {
            ++begun;
            if (*worker != worker_ && at_work(*worker)) {
                return false;
            }
        }
    }
    return begun >= writers_;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
