// Everything of a run that can be checked against something else: index files against the event files that they name,
// event files against the index files that name them, collections files against each other and against the names seen.
// The format has no checksum over index and collections files: this is what tells a flipped bit there.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/difference.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <vector>

namespace smdebug {
inline namespace v1 {

/// Compares everything in `store` that a run says twice; what does not agree, file by file.  Damage is a difference, no
/// error: nothing is thrown but bad_alloc.  Of a running job what may still come is not missed.
/// What the format says only once cannot be told: a saved shape and its names, or a mode step, without values beside
/// it; regexes and saving intervals in the collections file of a single worker; a flipped byte in a payload under the
/// package's constant in place of a checksum.
/// Data of other tools that are shown as a run say nothing twice: there only the storage's problems are differences, as
/// they are of an archive: what is damaged as damaged_file, what is whole and was not read as unread.
/// Cost: reads the whole run, one file after another, and takes every checksum.
[[nodiscard]] std::vector<difference> verify_run(const any_storage& store, const size_limits& limits = {});
template <storage Storage>
[[nodiscard]] std::vector<difference> verify_run(const Storage& store, const size_limits& limits = {}) {
    return verify_run(any_storage::to_read(store), limits);
}
/// The same of a trial's run, whatever its range leaves out, and of index files that it skipped.
[[nodiscard]] std::vector<difference> verify_run(const trial& run);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/verify.ipp>
#endif
