// The bodies of <smdebug/hook/exit_list.hpp>.
#pragma once

#include <smdebug/hook/exit_list.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE exit_entry::exit_entry(void* who, void (*finish)(void*) noexcept)
    : who_(who), home_(&list_of_this_process()) {
    const std::scoped_lock lock{home_->guard};
    home_->entries.push_back({who, finish});
    // Anew each time: handlers are called in the order opposite to that in which they were given, and this one has
    // to come before those of the libraries that the work needs (OpenSSL's), which may have been loaded since.
    static_cast<void>(std::atexit([] { finish_all(); }));
}

SMDEBUG_INLINE exit_entry::~exit_entry() {
    const std::scoped_lock lock{home_->guard};
    std::erase_if(home_->entries, [&](const entry& one) { return one.who == who_; });
}

SMDEBUG_INLINE std::atomic<exit_entry::list*>& exit_entry::newest() noexcept {
    static std::atomic<list*> one{nullptr};
    return one;
}

SMDEBUG_INLINE exit_entry::list& exit_entry::list_of_this_process() {
    list* latest = newest().load();
    while (latest == nullptr || latest->process != posix::process_number()) {
        auto* const made = new list{.before = latest};
        if (newest().compare_exchange_strong(latest, made)) {
            return *made;
        }
        delete made;
    }
    return *latest;
}

SMDEBUG_INLINE void exit_entry::finish_all() noexcept {
    list* const latest = newest().load();
    if (latest != nullptr && latest->process == posix::process_number()) {
        const std::scoped_lock lock{latest->guard};
        for (const entry& one : latest->entries) {
            one.finish(one.who);
        }
        latest->entries.clear();
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
