// The runs that need not be scanned again: a table of 128-bit hashes, so that a million runs take 16 to 32 MB.
// Among a million runs the chance of a collision is 1 in 10^26.
#pragma once

#include <smdebug/core/hash_set.hpp>

#include <cstdint>
#include <string_view>

namespace smdebug::inline v1::detail::sqlite {

/// The hash of a run, its version and its question.
struct run_hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend constexpr bool operator==(const run_hash&, const run_hash&) = default;
};

/// Never {0, 0}.  Cost: a pass over the texts.
[[nodiscard]] run_hash hash_of_run(std::string_view path, std::string_view version, std::string_view question);

/// A set of them: see hash_set.
using done_runs = hash_set<run_hash>;

}  // namespace smdebug::inline v1::detail::sqlite
