// The usual hook: it writes where out_dir says, into a folder or into S3.
#pragma once

#include <smdebug/hook/basic_hook.hpp>
#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

/// A hook whose place is chosen at run time: by out_dir, or any storage in an any_storage.
using hook = basic_hook<any_storage>;

}  // namespace v1
}  // namespace smdebug
