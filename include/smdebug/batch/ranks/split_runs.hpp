// Runs that several ranks share, by steps: what rank 0 makes of a run that was only opened, and of the results of its parts.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The runs that are done in parts.  A part is a run with a place of its own, behind those of any list.  Joined, the parts say
/// what the whole run would have said, or give what the run is done with, by this process (run_result::parts_inform), or
/// nothing: one that failed, that has a message, or that was not looked at to its end, has the run done whole.
/// Memory: a result for each such run and each of its parts, until it is joined.      Threads: one.
class split_runs {
public:
    /// The first place of a part.
    static constexpr std::uint64_t first_place = std::uint64_t{1} << 63U;

    [[nodiscard]] static bool is_part(std::uint64_t place) noexcept { return place >= first_place; }

    /// `run` was opened, which gave `opened`: its parts, that are to be done.
    [[nodiscard]] std::vector<batch_run> split(batch_run run, run_result opened);

    /// What comes of a part's result.
    struct step_taken {
        std::optional<run_result> joined = {};    ///< the run's: it was the last part
        std::optional<batch_run> again = {};      ///< the run, to be done whole
        std::vector<std::uint64_t> useless = {};  ///< parts that nobody need do any more
    };
    [[nodiscard]] step_taken take(run_result part);

    /// The run of a part, which is not done any more, and its other parts; nothing where it is not under way.
    [[nodiscard]] std::optional<batch_run> give_up(std::uint64_t part, std::vector<std::uint64_t>& useless);

private:
    struct shared_run {
        batch_run run = {};  // as the list has it
        run_result opened = {};
        std::vector<std::optional<run_result>> parts = {};
        std::size_t left = 0;
    };
    using shared_runs = std::map<std::uint64_t, shared_run>;  // by the place of the first part

    [[nodiscard]] shared_runs::iterator run_of(std::uint64_t part);
    [[nodiscard]] static std::vector<std::uint64_t> places_left(const shared_runs::value_type& of);
    [[nodiscard]] static run_result joined(shared_run&& of);
    [[nodiscard]] static std::shared_ptr<row_spool> rows_of(const shared_run& of);

    shared_runs runs_;
    std::uint64_t next_ = first_place;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/split_runs.ipp>
#endif
