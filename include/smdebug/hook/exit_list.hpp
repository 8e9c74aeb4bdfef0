// Work on background threads that exit() would cut off.
// exit() destroys no local objects: a hook in main's frame would lose what waits to be written.  The list is global,
// one a process; it is empty while no hook writes in the background.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <atomic>
#include <mutex>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// While it lives, finish(who) is called once when the program ends by exit(), or by returning from main: on the thread
/// that ends it, while others may still run.  Not where it ends by a signal, abort(), _exit() or quick_exit(), and not
/// in a forked child. Threads: may be made and destroyed on any.  Its destruction waits while finish() is at work.
class exit_entry {
public:
    exit_entry(void* who, void (*finish)(void*) noexcept);
    exit_entry(const exit_entry&) = delete;
    exit_entry& operator=(const exit_entry&) = delete;
    ~exit_entry();

private:
    struct entry {
        void* who;
        void (*finish)(void*) noexcept;
    };
    struct list {
        list* before = nullptr;  // the parent process's: kept reachable, so it is no leak
        long process = posix::process_number();
        std::mutex guard{};
        std::vector<entry> entries{};
    };

    // Never destroyed: hooks may be destroyed later.
    [[nodiscard]] static std::atomic<list*>& newest() noexcept;
    // A forked child begins its own: the parent's names threads that are not there, and may be locked for ever.
    [[nodiscard]] static list& list_of_this_process();
    static void finish_all() noexcept;

    void* who_;
    list* home_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/exit_list.ipp>
#endif
