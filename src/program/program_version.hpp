// The output of `smdebug --version`: the release, the program's components, and the third parties in them.
#pragma once

#include <string>

namespace smdebug::inline v1::cli::detail {

/// "0.1.0, reduces with avx2", then a line for the compiler, for the form and for each component; `mpi`: that one, or
/// empty.
[[nodiscard]] std::string program_version(const std::string& mpi = {});

}  // namespace smdebug::inline v1::cli::detail
