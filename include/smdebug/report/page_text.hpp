// A report as text: one self-contained HTML file.  Names and messages are data, never markup: a policy in the page
// allows only the page's own script, by its hash, and no network access.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/report/run_series.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::report::detail {

/// A difference between the two runs of a report.
struct reported_difference {
    std::string kind = {};
    std::optional<step_number> step = {};  ///< unset where it belongs to none
    std::string worker = {};
    std::string tensor = {};
    double largest = 0;
    std::string what = {};  ///< a sentence
};

/// The result of comparing the two runs of a report.
struct reported_comparison {
    std::string title = {};
    std::string sentence = {};
    struct step {
        step_number step = 0;
        std::size_t tensors = 0;
        std::size_t differing = 0;
        double largest = 0;
    };
    std::vector<step> steps = {};                       ///< from the first different one on
    std::vector<reported_difference> differences = {};  ///< the first ones
    std::size_t all = 0;
};

/// One run of a batch.
struct reported_verdict {
    std::string rule = {};
    std::string status = {};
    std::size_t findings = 0;
    std::optional<step_number> first = {};
    std::string details = {};
};
struct reported_row {
    std::string path = {};
    std::string state = {};
    std::string error = {};
    std::string link = {};  ///< the run's own report, relative to this one; empty: none
    std::size_t steps = 0;
    std::vector<reported_verdict> verdicts = {};
    std::vector<float> loss = {};
    std::optional<step_number> loss_lost = {};  ///< the first step at which it is NaN or infinite
};

/// A page: one run, two runs and their differences, or the rows of a batch.
struct page {
    std::string title = {};
    std::vector<reported_run> runs = {};
    std::optional<reported_comparison> comparison = {};
    std::vector<reported_row> batch = {};
    bool is_batch = false;
    /// Seconds after which an open page reloads, while the job runs.  0: it does not.
    std::uint32_t look_again = 0;
};

/// The page in pieces, to be concatenated.
[[nodiscard]] std::vector<std::string> page_text(const page& what);

/// The data of a run: see report/src/data.js.
[[nodiscard]] std::string data_text(const reported_run& run);

/// JSON without any character that has a meaning in HTML.
[[nodiscard]] std::string json_for_html(std::string_view json);
[[nodiscard]] std::string text_for_html(std::string_view text);

/// Appends numbers to bytes, little-endian.
class data_writer {
public:
    /// Seven bits a byte, the lowest first, the highest bit set in all but the last.
    void whole(std::uint64_t value);
    /// Appends a signed number as whole() does: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
    void whole_signed(std::int64_t value) {
        whole((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
    }
    /// As a float; an absent number as a special NaN.
    void number(double value);
    /// As a double, bit by bit.
    void wide_number(double value) { put(value); }
    /// A byte, 1 if all are written as doubles, then each number.
    void numbers(std::span<const double> values);
    void byte(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
    /// Which rows of a column exist, as run lengths: of missing rows, of existing ones, of missing ones, ...
    void presence(const std::vector<bool>& there);
    /// A column of the existing rows: a byte, then 0: one number for all of them; 1: a number each; 2: no data, the
    /// column equals the one before, in the same rows; 3, 4: as 0 and 1, in doubles.
    void column(const tensor_series& of, std::size_t column, bool follows_another);

    [[nodiscard]] byte_view bytes() const noexcept { return bytes_; }

private:
    template <class Number>
    void put(const Number& number) {
        const auto bytes = std::as_bytes(std::span{&number, 1});
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    std::vector<std::byte> bytes_;
};

/// Whether a float shows the number, except for its last digits: false for a number beyond the range of floats or so
/// small that a float keeps few digits of it.  True for NaN and infinity.
[[nodiscard]] bool fits_float(double value) noexcept;

/// Base64 with padding.
[[nodiscard]] std::string base64(byte_view bytes);

}  // namespace smdebug::inline v1::report::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/page_text.ipp>
#endif
