// The hook of every day: it writes where out_dir says, into a folder or into S3.
#pragma once

#include <smdebug/hook/basic_hook.hpp>
#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

/// A hook whose place is chosen at run time: by out_dir, or any storage in an any_storage.  What it costs more than one
/// of a known storage: two allocations a step, and an indirect call a write.
using hook = basic_hook<any_storage>;

}  // namespace v1
}  // namespace smdebug
