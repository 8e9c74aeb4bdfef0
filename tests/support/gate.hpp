// A gate at which threads wait until a test opens it, once.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

/// Threads: everything may be called at once.
class gate {
public:
    void open() {
        const std::lock_guard lock{guard_};
        open_ = true;
        moved_.notify_all();
    }
    void pass() {
        std::unique_lock lock{guard_};
        ++waiting_;
        moved_.notify_all();
        moved_.wait(lock, [&] { return open_; });
    }
    void await_waiting(int how_many) {
        std::unique_lock lock{guard_};
        moved_.wait(lock, [&] { return waiting_ >= how_many; });
    }

private:
    std::mutex guard_;
    std::condition_variable moved_;
    bool open_ = false;
    int waiting_ = 0;
};

}  // namespace smdebug_test
