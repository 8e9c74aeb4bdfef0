// What verifying a run finds: two things that do not agree.
#pragma once

#include <smdebug/core/step.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// What kind of disagreement a difference is.
enum class difference_kind : std::uint8_t {
    damaged_file,    ///< it cannot be read, or not understood
    renamed_key,     ///< an unknown key beside a missing one, or one key twice
    missing_file,    ///< an index file names an event file that is not there
    unnamed_file,    ///< an event file that no index file names
    unnamed_record,  ///< a record that its index file does not name
    damaged_record,  ///< a checksum, or what it holds
    place,           ///< where a record lies, or how long it is
    name,            ///< of a tensor
    step,
    mode,  ///< or the step in it
    shape,
    workers,
    collections,
    unread,  ///< it is whole, and was not looked at
};

/// "renamed key".
[[nodiscard]] constexpr std::string_view name_of(difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 14> names{
        "damaged file", "renamed key", "missing file", "unnamed file", "unnamed record", "damaged record", "place",
        "name",         "step",        "mode",         "shape",        "workers",        "collections",    "unread"};
    return names[static_cast<std::size_t>(kind)];
}

/// Two things of a run that do not agree.
struct difference {
    difference_kind kind = difference_kind::damaged_file;
    std::string file = {};  ///< its key
    std::optional<step_number> step = {};
    std::string worker = {};
    std::string tensor = {};
    std::string what = {};  ///< a sentence without the above
};
}  // namespace v1
}  // namespace smdebug
