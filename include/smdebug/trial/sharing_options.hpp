// How much rules that share a trial keep of what they read, and which threads read ahead for them.
#pragma once

#include <smdebug/core/spare_threads.hpp>

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
    /// Where there are many runs at once: who lends threads for the next steps, up to 8, each for some of them; where
    /// none is free, the thread that walks reduces them.  Null: one thread beside it, which is always to be had.
    /// Findings and numbers are the same whatever it lends.
    std::shared_ptr<detail::spare_threads> threads = {};
    /// A scan that is made anyway: rules look on, in order of the steps, on one thread beside that which walks.  Values are
    /// kept of the first steps and of tensors whose values rules read, so that each event file is read once.  Null: rules
    /// scan for themselves.
    std::shared_ptr<detail::joint_scan> joint = {};
};

}  // namespace v1
}  // namespace smdebug
