// Rank 0 of a batch: hands out runs, gives results to the sink, notices who does not answer, and ends it all.
#pragma once

#include <smdebug/batch/ranks/channel.hpp>
#include <smdebug/batch/ranks/messages.hpp>
#include <smdebug/batch/ranks/rank_ledger.hpp>
#include <smdebug/batch/ranks/rank_options.hpp>
#include <smdebug/batch/ranks/rank_work.hpp>
#include <smdebug/batch/ranks/side_threads.hpp>
#include <smdebug/batch/ranks/split_runs.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// One batch.  The order of its end: no run is left, or it is stopped; every rank has ended, or is lost; what has no
/// result is undone; the sink has everything; the others may go.
class coordinator {
public:
    coordinator(rank_channel& channel, const rank_options& options, run_feeder::source from, result_writer::sink to,
                rank_work::engine engine, std::stop_token stop);
    coordinator(const coordinator&) = delete;
    coordinator& operator=(const coordinator&) = delete;

    /// Once.      Errors: what source, sink or rank 0's engine threw, once all others have been told to stop.
    [[nodiscard]] ranks_outcome run();

private:
    using clock = std::chrono::steady_clock;
    enum class phase {
        working,
        closing,   // no run is left: ranks end what they have
        stopping,  // what they have is not ended
    };

    // What is done once a turn of the loop
    void look_at_own_side();
    void hand_out();
    void say_alive();
    void look_for_losses();
    void look_for_stalls();
    void listen();
    [[nodiscard]] bool have_all_ended();

    void hear(const rank_channel::packet& packet);
    void on_ready(int rank, const rank_ready& what);
    void on_rows(int rank, const result_rows& what);
    void on_result(int rank, run_result&& result);
    void on_opened(int rank, run_result&& opened);
    void on_part(int rank, run_result&& part);
    void emit(run_result&& result);
    void remove(const std::vector<std::uint64_t>& places);
    void on_runs_back(int rank, const std::vector<std::uint64_t>& places);
    void on_leaving(int rank);
    void on_ended(int rank, const std::string& failure);
    void on_loss(const rank_ledger::loss& what, const std::string& why);

    void begin_closing();
    void tell_phase(int rank);
    void begin_stopping(std::exception_ptr why);
    void end_what_is_open(const std::string& why);
    void say_good_bye();
    void emit_undone(batch_run&& run, const std::string& why);
    void tell(int rank, const rank_message& what) { channel_.send(rank, message_bytes(what)); }
    void tell_others(const rank_message& what);
    void note(const std::string& text) const;
    [[nodiscard]] std::string name_of_rank(int rank) const;
    [[nodiscard]] bool is_over_time() const { return now_ > stop_deadline_; }

    struct other {
        bool ended = false;
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<row_spool>> rows =
            {};  // of runs whose results are to come
        std::string machine = {};
    };

    rank_channel& channel_;
    const rank_options& options_;
    rank_work::engine engine_;
    std::stop_token stop_;
    clock::time_point now_ = clock::now();
    rank_ledger ledger_;
    split_runs split_;
    std::vector<other> ranks_;
    phase phase_ = phase::working;
    clock::time_point stop_deadline_ = clock::time_point::max();
    clock::time_point next_alive_ = now_;
    std::exception_ptr failure_;
    ranks_outcome outcome_;
    rank_work own_;
    result_writer writer_;
    run_feeder feeder_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/coordinator.ipp>
#endif
