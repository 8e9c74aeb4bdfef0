// Runs and results as bytes, for another process of the same program: exact doubles, any bytes in texts.
// What comes from outside is checked: bytes that are cut, or that lie, are an error and never more than that.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// All but the rows of reductions, which may be too many to be in memory: row_spool gives them in pieces.  Of them the bytes
/// say whether there are any.
/// The first byte is the layout's version, which is another one whenever a field comes or goes.
/// Cost: one pass, one allocation or some.
[[nodiscard]] std::string to_bytes(const batch_run& run);
[[nodiscard]] std::string to_bytes(const run_result& result);

/// The same back.  Errors: corrupt_data with the offset: cut, too long, or a value that cannot be; unsupported: another
/// version, thus another version of the program.
[[nodiscard]] batch_run run_from_bytes(std::string_view bytes);
[[nodiscard]] run_result result_from_bytes(std::string_view bytes);

namespace detail {

inline constexpr std::uint8_t result_bytes_version = 5;

/// Little-endian numbers of 8 bytes; texts behind their length.
class byte_writer {
public:
    byte_writer() { small(result_bytes_version); }

    void small(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void number(std::uint64_t value);
    void real(double value);
    void text(std::string_view value);
    void run(const batch_run& value);
    /// Errors: value_error: one of its `others` has others.
    void result(const run_result& value);

    [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

private:
    void one_result(const run_result& value);
    void range(const step_range& value);
    void found(const finding& value);
    void verdict(const rule_result& value);

    std::string bytes_;
};

/// Borrows the bytes.  Every function: corrupt_data where they end too early or say what cannot be.
class byte_reader {
public:
    /// Errors: also unsupported.
    explicit byte_reader(std::string_view bytes);

    /// A value up to, and including, `last`, or from `first` on.
    [[nodiscard]] std::uint8_t small(std::uint8_t last, std::uint8_t first = 0);
    [[nodiscard]] std::uint64_t number();
    [[nodiscard]] double real();
    [[nodiscard]] std::string text();
    [[nodiscard]] batch_run run();
    [[nodiscard]] run_result result();
    /// How many elements follow, each of which takes at least so many bytes: a length that lies allocates nothing.
    [[nodiscard]] std::size_t count(std::size_t least_bytes);
    /// Nothing may be left.
    void end() const;

private:
    [[nodiscard]] run_result one_result();
    [[nodiscard]] step_range range();
    [[nodiscard]] finding found();
    [[nodiscard]] rule_result verdict();
    [[nodiscard]] std::string_view bytes(std::size_t length);
    [[noreturn]] void fail(const char* what) const;

    std::string_view bytes_;
    std::size_t offset_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/result_bytes.ipp>
#endif
