// Reductions of an archived run without inflating it twice.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/passing_reader.hpp>

#include <cstdint>
#include <memory>

namespace smdebug {
inline namespace v1 {

/// Reduces every tensor of a compressed .tar while it is inflated for its directory, in one pass, whatever the order of its
/// members: for_each_tensor(), rules that ask for reductions, and all else that asks a scan for them alone, then need not
/// inflate it again.
///
///     smd::trial run = smd::create_trial("old.tar.gz", {}, {.archive = {.in_passing = smd::reduce_in_passing()}});
///
/// It is for one archive after another, of one thread.  For trials with an event_decoder<> and a kernel of the library: others
/// read as if it were not there.  Tensors that are asked for their values are inflated again, too.
/// Memory: `most_bytes`: some 300 bytes a tensor, of records up to 512 bytes the record; what comes behind that is read
///         as if it were not there.
[[nodiscard]] std::shared_ptr<passing_reader> reduce_in_passing(std::uint64_t most_bytes = std::uint64_t{256} << 20U);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/passing_reductions.hpp>
#endif
