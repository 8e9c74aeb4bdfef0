// The front door of formats/: what a catalog is built from, where it is not the index files of a run.
#pragma once

#include <smdebug/formats/run_contents.hpp>

#include <concepts>

namespace smdebug {
inline namespace v1 {

/// Looks through data that another tool wrote, and says what it holds as tensors at steps.  A type S models
/// `catalog_source` when:
///  1. update(contents) adds to `contents` what has come since the last call, and tells whether anything has; the first call
///     adds what is there.  What may still change (a step of which more is being written) is left for a later call;
///  2. once `contents.ended()` is set, nothing more comes, and update() is not called again, unless there was nothing at all;
///  3. what is damaged is noted as a problem, and the rest is added; an error means that nothing can be said at all, and
///     the next call goes on from where the last one was;
///  4. it is used by one thread at a time.
/// Objects are named by their keys in the storage that the source reads: presented_run is given the same one.
/// Optional: `static constexpr bool own_steps = false`, where the data have no global steps and the source makes them of the
/// modes' own, see storage_abilities.
template <class S>
concept catalog_source = std::movable<S> && requires(S& source, run_contents& contents) {
    { source.update(contents) } -> std::same_as<bool>;
};

}  // namespace v1
}  // namespace smdebug
