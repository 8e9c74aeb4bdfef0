// What `smdebug diff` prints about two runs in words and tables: since when they differ, in what, and by how much.
#pragma once

#include <program/console.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/diff_runs.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// "[3, 7]", the place of an element in C order; nothing of a scalar.
[[nodiscard]] std::string place_text(std::size_t place, std::span<const std::size_t> extents);

/// "12 of 1,000 elements differ, the largest difference is 3.1e-05 at [3, 7] (0.5 and 0.500031)"; what differs
/// otherwise in its own words.
[[nodiscard]] std::string to_message(const run_difference& each);

/// The content of tables and of the first sentence, gathered while two runs are walked.
/// Memory: a few numbers for each step from the first difference on, and for each tensor that differs.
class diff_story {
public:
    /// `by_mode`: steps are numbers of their modes.
    explicit diff_story(bool by_mode = false) : by_mode_(by_mode) {}

    void add(const run_difference& each);
    void add(const compared_step& step);

    /// How many problems run 1 or 2 has: data that could not be read, and so not compared.
    void add_problems(unsigned run, std::size_t count) { unread_[run - 1] = count > 0; }

    /// A heading: in what way the runs are alike.
    [[nodiscard]] std::string title(const diff_summary& all) const;

    /// The first line.
    [[nodiscard]] std::string sentence(const diff_summary& all, const std::optional<double>& rtol,
                                       const std::optional<double>& atol) const;

    /// Differences other than values, one line for each range of steps, and a table.
    void print_others(console& to) const;

    /// How much the runs differ, from the first differing step on; if there are many steps, a selection.
    void print_steps(console& to) const;

private:
    // As far as is known of all of both.
    [[nodiscard]] bool are_same(const diff_summary& all) const { return all.same() && !unread_[0] && !unread_[1]; }

    [[nodiscard]] std::string what_came(const diff_summary& all, const std::optional<double>& rtol,
                                        const std::optional<double>& atol) const;

    struct other {
        step_number step = -1;
        std::size_t times = 0;
        std::string what = {};
    };
    static constexpr std::size_t most_rows = 30;
    static constexpr std::size_t first_rows = 10;

    std::string parted_;
    bool by_mode_;
    std::array<std::map<mode, std::vector<step_number>>, 2> alone_;  // steps that one run has; GLOBAL: of any mode
    std::array<bool, 2> unread_{};
    std::map<std::tuple<run_difference_kind, unsigned, std::string>, other> others_;
    std::vector<compared_step> steps_;
};

}  // namespace smdebug::inline v1::cli::detail
