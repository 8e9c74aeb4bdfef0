// How much rules that share a trial keep of what they read, and which threads read ahead for them.
#pragma once

#include <smdebug/core/thread_budget.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace smdebug {
inline namespace v1 {
namespace detail {
class joint_scan;
}

/// How much rules that share a trial keep of what they read.
struct sharing_options {
    /// Values of tensors, in bytes: of those asked for last, at this step and the one before; and as much again for the
    /// last saves of tensors that comparisons were asked about.  Reductions and answers of measures are kept besides, of
    /// the last 16 saves.
    std::size_t value_bytes = std::size_t{256} << 20U;
    /// Whether a thread reduces the next steps, up to 8 that are there already, while rules look at the one at hand.
    bool look_ahead = true;
    /// Event files of a storage far away, in bytes: half for those of the next steps, a quarter for those of the last
    /// ones.  Of a step that is larger the rest is read when it is asked for.
    std::uint64_t file_bytes = std::uint64_t{256} << 20U;
    /// Where there are many runs at once: the threads that they share, of which up to `most_threads` read ahead, each some of the
    /// next steps; where none is free, the thread that walks reduces them.  Null: one thread beside it, which is always to be had.
    /// Findings and numbers are the same, however many there are.
    std::shared_ptr<thread_budget> threads = {};
    unsigned most_threads = 8;
    /// A scan that is made anyway: rules look on, in order of the steps, on one thread beside that which walks.  Values are
    /// kept of the first steps and of tensors whose values rules read, so that each event file is read once.  Null: rules
    /// scan for themselves.
    std::shared_ptr<detail::joint_scan> joint = {};

    /// The same, where so many bytes are to do for a run: an eighth of them for values, a sixteenth for files, and a thread
    /// for each 128 MiB.
    [[nodiscard]] sharing_options within(std::uint64_t bytes) const {
        sharing_options some = *this;
        some.value_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(value_bytes, bytes / 16));
        some.file_bytes = std::min(file_bytes, bytes / 16);
        some.most_threads = static_cast<unsigned>(std::min<std::uint64_t>(most_threads, bytes >> 27U));
        return some;
    }
};

}  // namespace v1
}  // namespace smdebug
