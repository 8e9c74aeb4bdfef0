// Who has work under way on a thread of its own that exit() would cut off.
// exit() destroys no local objects: a hook in main's frame would lose what waits to be written.  The list of a process
// is the one thing here that is not an object of the user's; it is empty while no hook writes in the background.
// Used by: hook (background_sink).
#pragma once

#include <smdebug/storage/posix_file.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// While it lives, finish(who) is called once when the program ends by exit(), or by returning from main: on the thread
/// that ends it, while others may still run.  Not where it ends by a signal, abort(), _exit() or quick_exit(), and not
/// in a forked child. Threads: may be made and destroyed on any.  Its destruction waits while finish() is at work.
class exit_entry {
public:
    exit_entry(void* who, void (*finish)(void*) noexcept) : who_(who), home_(&list_of_this_process()) {
        const std::scoped_lock lock{home_->guard};
        home_->entries.push_back({who, finish});
        // Anew each time: handlers are called in the order opposite to that in which they were given, and this one has
        // to come before those of the libraries that the work needs (OpenSSL's), which may have been loaded since.
        static_cast<void>(std::atexit([] { finish_all(); }));
    }
    exit_entry(const exit_entry&) = delete;
    exit_entry& operator=(const exit_entry&) = delete;
    ~exit_entry() {
        const std::scoped_lock lock{home_->guard};
        std::erase_if(home_->entries, [&](const entry& one) { return one.who == who_; });
    }

private:
    struct entry {
        void* who;
        void (*finish)(void*) noexcept;
    };
    struct list {
        list* before = nullptr;  // the parent process's: still reached, and so not lost
        long process = posix::process_number();
        std::mutex guard{};
        std::vector<entry> entries{};
    };

    // Never destroyed: hooks may be, later.
    [[nodiscard]] static std::atomic<list*>& newest() noexcept {
        static std::atomic<list*> one{nullptr};
        return one;
    }
    // A forked child begins its own: the parent's names threads that are not there, and may be locked for ever.
    [[nodiscard]] static list& list_of_this_process() {
        list* known = newest().load();
        while (known == nullptr || known->process != posix::process_number()) {
            auto* const made = new list{.before = known};
            if (newest().compare_exchange_strong(known, made)) {
                return *made;
            }
            delete made;
        }
        return *known;
    }
    static void finish_all() noexcept {
        list* const known = newest().load();
        if (known != nullptr && known->process == posix::process_number()) {
            const std::scoped_lock lock{known->guard};
            for (const entry& one : known->entries) {
                one.finish(one.who);
            }
            known->entries.clear();
        }
    }

    void* who_;
    list* home_;
};

}  // namespace v1
}  // namespace smdebug
