// What the ranks of a batch tell each other, and its bytes.
#pragma once

#include <smdebug/batch/ranks/result_bytes.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// To rank 0: a rank takes runs, so many at a time.
struct rank_ready {
    std::uint64_t slots = 0;
    std::string machine = {};
};
/// Both ways, each second: the sender lives.
struct rank_alive {};
/// To the others: no run comes any more; what they have they end.
struct no_more_runs {};
/// To the others: they end as soon as they can.
struct stop_runs {};
/// To rank 0: rows of reductions, as row_spool has them, of the run whose result comes afterwards.
struct result_rows {
    std::uint64_t place = 0;
    std::uint64_t number = 0;  // 0: the result's own; else of its others, from 1
    std::string rows = {};
};
/// To rank 0: the rank has ended, all its results have been sent; why, where it broke.
struct rank_ended {
    std::string failure = {};
};
/// To the others: everything is written; they may go.
struct all_done {
    std::uint64_t lost = 0;  // a rank that does not answer; 0: there is none
};

/// To rank 0: the rank has been told to stop, by a signal; others are to do what it has.
struct rank_leaves {};

/// To the others: a rank that has more runs than it begins soon gives back what it can.
struct give_back_runs {};
/// To rank 0: these it has not begun, and will not.
struct runs_back {
    std::vector<std::uint64_t> places = {};
};

/// Kinds of messages are numbered in this order: a new one comes last.  batch_run: to the others, they are to do it;
/// run_result: to rank 0.
using rank_message = std::variant<rank_ready, rank_alive, batch_run, run_result, no_more_runs, stop_runs, rank_ended,
                                  all_done, result_rows, rank_leaves, give_back_runs, runs_back>;

/// The version as in result_bytes.hpp, the kind, what is in it.
[[nodiscard]] std::string message_bytes(const rank_message& message);
/// Errors: as run_from_bytes().
[[nodiscard]] rank_message message_from_bytes(std::string_view bytes);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/messages.ipp>
#endif
