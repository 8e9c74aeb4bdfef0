// One writer a worker, and the last of them marks the end of the job.
// The Python package's claim.smd does the first for one worker; here each has a claim, where the storage can keep it.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Where a worker's claim lies: "claim.smd" for the only writer of a run, as in the Python package, whose hook then
/// keeps out, too; "claim_<worker>.smd" for one of several.
[[nodiscard]] inline std::string claim_key(std::string_view worker, std::int64_t writers) {
    return writers <= 1 ? "claim.smd" : "claim_" + locations::file_part_from_worker(worker) + ".smd";
}

/// A worker's right to write a run.  Where the storage keeps no claims, everybody has it.
/// Borrows: the storage.
template <writable_storage Storage>
class run_claim {
public:
    /// Errors: in_use while another living writer has the same worker's name.
    run_claim(Storage& store, std::string worker, std::int64_t writers)
        : store_(&store), worker_(std::move(worker)), writers_(writers) {
        if constexpr (claiming_storage<Storage>) {
            held_.emplace(store.claim(claim_key(worker_, writers_)));
            // Who counts the writers otherwise claims another key: each looks for the other's, after its own is there.
            const std::string other = claim_key(worker_, writers_ <= 1 ? 2 : 1);
            if (store.claimed(other)) {
                throw in_use(std::string{store.name()} +
                                 ": a living process that counts the workers of the job otherwise holds " + other +
                                 ", and may write as " + worker_ + ", too",
                             {.where = other, .worker = worker_});
            }
        }
    }

    /// Gives the right up.  Returns whether this was the last writer: the other workers have written their collections
    /// files, and none of them is at work; a worker that died is not waited for.  Of two that finish at the same
    /// moment both may be told so, but never neither.  Where the storage keeps no claims: always, as in the Python
    /// package.
    [[nodiscard]] bool release() {
        if constexpr (claiming_storage<Storage>) {
            held_->release();
            held_.reset();
            if (writers_ <= 1) {
                return true;
            }
            std::int64_t begun = 0;
            for (const std::string& key : store_->list(locations::collections_folder, {})) {
                const auto worker = locations::worker_of_collections_file(key);
                if (worker) {
                    ++begun;
                    if (*worker != worker_ && store_->claimed(claim_key(*worker, writers_))) {
                        return false;
                    }
                }
            }
            return begun >= writers_;
        } else {
            return true;
        }
    }

private:
    struct nothing {};
    template <class S>
    struct claim_of {
        using type = nothing;
    };
    template <claiming_storage S>
    struct claim_of<S> {
        using type = decltype(std::declval<S&>().claim(std::string_view{}));
    };

    Storage* store_;
    std::string worker_;
    std::int64_t writers_;
    std::optional<typename claim_of<Storage>::type> held_;
};

}  // namespace v1
}  // namespace smdebug
