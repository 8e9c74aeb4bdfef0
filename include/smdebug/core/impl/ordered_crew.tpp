// The bodies of <smdebug/core/ordered_crew.hpp> that are templates.
#pragma once

#include <smdebug/core/ordered_crew.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Task, class Part>
ordered_crew<Task, Part>::serving::~serving() {
    {
        const std::scoped_lock lock{of.guard_};
        of.quit_ = true;
    }
    of.room_.notify_all();
    threads.clear();
}

template <class Task, class Part>
void ordered_crew<Task, Part>::begin() {
    taken_ = emitted_ = 0;
    over_ = quit_ = false;
    for (slot& each : slots_) {
        if (each.task) {  // the last run may have left it half filled
            each.part = empty_;
        }
        each.task.reset();
        each.failed = nullptr;
        each.done = false;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
