// The ranks other than 0: what they are handed they do, and rank 0 hears of it.
#pragma once

#include <smdebug/batch/ranks/channel.hpp>
#include <smdebug/batch/ranks/messages.hpp>
#include <smdebug/batch/ranks/rank_options.hpp>
#include <smdebug/batch/ranks/rank_work.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// One rank's part in a batch.  Where rank 0 is silent for too long, or talks nonsense, this rank ends, by
/// rank_channel::quit().
class worker {
public:
    worker(rank_channel& channel, const rank_options& options, rank_work::engine engine, std::stop_token stop);

    /// Once: returns when rank 0 says that all is done.
    void run();

private:
    using clock = std::chrono::steady_clock;

    void tell(const rank_message& what) { channel_.send(0, message_bytes(what)); }
    void report();
    void send_results();
    void look_for_rank_0();
    // Whether it was the last word.
    [[nodiscard]] bool hear(const rank_channel::packet& packet);

    rank_channel& channel_;
    const rank_options& options_;
    rank_work::engine engine_;
    std::stop_token stop_;
    clock::time_point now_ = clock::now();
    clock::time_point looked_ = now_;
    clock::time_point heard_ = now_;
    clock::time_point next_alive_ = now_;
    clock::time_point next_results_ = now_;
    bool has_heard_ = false;
    bool leaves_ = false;
    bool has_ended_ = false;
    bool is_full_ = false;  // rows are on their way: more would only wait in memory
    rank_work work_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/worker.ipp>
#endif
