// What of a run is not in its catalog although it is there: a part of the run, which everybody has who has the trial.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Why something of a run was not looked at.
enum class problem_kind : std::uint8_t {
    damaged,      ///< it cannot be read, is cut, or contradicts itself
    unsupported,  ///< it is whole, and this library does not read it
    replaced,     ///< it was written, and what was written later takes its place: points of a log before a restart
    left_out,     ///< it is passed over: another kind of data is read, or it cannot be told where it belongs
};

/// "damaged", "unsupported", "replaced", "left out".
[[nodiscard]] constexpr std::string_view name_of(problem_kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"damaged", "unsupported", "replaced", "left out"};
    return names[static_cast<std::size_t>(kind)];
}

/// Something of a run that was not looked at.
struct problem {
    problem_kind kind = problem_kind::damaged;
    std::string where =
        {};                 ///< the file's key in the storage, and the place in it: "a/events.out.tfevents.1, byte 248"
    std::string what = {};  ///< a sentence without its end

    friend bool operator==(const problem&, const problem&) = default;
};

/// How a file begins that Git LFS has put in the place of one that was not fetched, and what to say of it.
inline constexpr std::string_view lfs_pointer_begin = "version https://git-lfs.github.com/spec/";
inline constexpr std::string_view lfs_pointer_text =
    "it is a pointer of Git LFS, not the file itself: fetch that by git lfs pull";

/// "a/events.out.tfevents.1, byte 248: the record is damaged".
[[nodiscard]] inline std::string text_of(const problem& one) {
    return one.where.empty() ? one.what : one.where + ": " + one.what;
}

}  // namespace v1
}  // namespace smdebug
