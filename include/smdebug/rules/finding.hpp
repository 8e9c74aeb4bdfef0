// A rule's verdict at a step: whether its condition was met, and for what; or something that it only wants to say.
#pragma once

#include <smdebug/core/step.hpp>

#include <limits>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// A verdict about one step, or about one tensor at a step.  A plain finding{} says that nothing was found; one that is
/// not met but has a message is a note: see note().
struct finding {
    bool met = false;         ///< the condition was met
    bool damaged = false;     ///< a note about a record that is damaged, missing or cannot be read
    std::string tensor = {};  ///< the tensor that met it, if it was one
    std::string worker = {};
    std::string rule = {};       ///< its name; the caller of the rule fills in this and the next three
    step_number step = -1;       ///< global
    step_number mode_step = -1;  ///< the same step, counted in its mode
    smdebug::mode mode = smdebug::mode::global;
    double value = std::numeric_limits<double>::quiet_NaN();      ///< what was compared ...
    double threshold = std::numeric_limits<double>::quiet_NaN();  ///< ... with what
    std::string message = {};                                     ///< a sentence for people

    [[nodiscard]] explicit operator bool() const noexcept { return met; }

    /// A note: something that could not be judged, or that people should know.  It is no finding and changes no status:
    /// `check`, `scan` and the programs of rules print it on standard error, databases have it among their messages,
    /// rule_outcome::notes and on_note get it.
    [[nodiscard]] static finding note(std::string text) {
        finding said;
        said.message = std::move(text);
        return said;
    }
};

}  // namespace v1
}  // namespace smdebug
