// What `smdebug --version` says: the release, the components that the program has, and whose code is in them.
#pragma once

#include <string>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// "0.1.0, reduces with avx2", then a line for the compiler, for the form and for each component; `mpi`: that one, or empty.
[[nodiscard]] std::string program_version(const std::string& mpi = {});

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
