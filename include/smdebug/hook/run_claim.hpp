// One writer a worker, and the last of them marks the end of the job.
// The Python package's claim.smd does the first for one worker; here each has a claim, where the storage can keep it.
// Where it cannot, workers leave signs: they exclude no process, but show the last worker that it is the last.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Where a worker's claim, or sign, lies: "claim.smd" for the only writer of a run, as in the Python package, whose
/// hook then keeps out, too; "claim_<worker>.smd" for one of several.
[[nodiscard]] inline std::string claim_key(std::string_view worker, std::int64_t writers) {
    return writers <= 1 ? "claim.smd" : "claim_" + locations::file_part_from_worker(worker) + ".smd";
}

/// A worker's right to write a run.  Where the storage keeps no claims, every process has it; each of several workers
/// then puts an object, its sign, where its claim would be, from begin() to release().
/// Destroyed without release() it gives up the claim; the sign of a worker that did not end well stays, until that
/// worker has been started again.
class run_claim {
public:
    /// `how`: whether the claim is whole after a loss of power, so that nobody has to be asked whose it was.
    /// Errors: in_use while another living writer has the same worker's name.
    run_claim(any_storage store, std::string worker, std::int64_t writers, durability how = durability::cached);

    /// Writes this worker's sign, where there are no claims.
    void begin();

    /// Whether the claim is still there, as far as can be told: it goes with a run's folder that is removed.
    [[nodiscard]] bool holds() const;
    /// Takes it again.      Errors: in_use.
    void renew();

    /// Gives the right up; to be called once.  Returns whether this was the last writer: the other workers have written
    /// their collections files, and none of them is at work.  Of two that finish at the same moment at least one gets
    /// true. A worker that died does not count where there are claims; where there are signs, its sign keeps the others
    /// from being the last. Where the storage can neither claim nor remove: always true, as in the Python package.
    [[nodiscard]] bool release();

private:
    void claim();

    // Whether all workers have begun, and no other one is at work.
    [[nodiscard]] bool is_last(function_ref<bool(const std::string& worker)> at_work) const;

    any_storage store_;
    std::string worker_;
    std::int64_t writers_;
    durability how_;
    bool by_signs_;
    std::optional<any_claim> claim_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/run_claim.ipp>
#endif
