// How a job stands: whether anything more can be expected of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// How a job stands.
enum class job_state : std::uint8_t {
    running,  ///< it has not ended
    stalled,  ///< it has not ended, and has written nothing for long: its process may have died
    ended,    ///< its end-of-job mark is there, and all that it wrote is loaded
};

/// "running", "stalled", "ended".
[[nodiscard]] constexpr std::string_view name_of(job_state state) noexcept {
    switch (state) {
        case job_state::running:
            return "running";
        case job_state::stalled:
            return "stalled";
        case job_state::ended:
            break;
    }
    return "ended";
}

}  // namespace v1
}  // namespace smdebug
