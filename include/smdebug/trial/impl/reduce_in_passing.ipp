// The bodies of <smdebug/trial/reduce_in_passing.hpp>.
#pragma once

#include <smdebug/trial/reduce_in_passing.hpp>
#include <smdebug/trial/shared/passing_reductions.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::shared_ptr<passing_reader> reduce_in_passing(std::uint64_t most_bytes) {
    return std::make_shared<detail::passing_reductions>(most_bytes);
}

}  // namespace v1
}  // namespace smdebug
