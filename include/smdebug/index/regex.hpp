// Regular expressions over tensor names: the only header that uses PCRE2.
// std::regex lacks look-behind and (?i), and overflows the stack on long names; real collections need both.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;  // PCRE2's opaque types
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace smdebug::inline v1 {

/// A compiled pattern that searches anywhere in a string, like Python's re.search.  Patterns and strings are UTF-8;
/// other bytes match nothing.
/// Cost:    compiling takes some microseconds, and some ten more at the 200th search; only these allocate.
/// Threads: one object, one thread at a time.
class regex {
public:
    /// Errors: value_error, with the position in the pattern.
    explicit regex(std::string_view pattern);
    /// Compiles the pattern anew, so that each copy can be used by its own thread.
    regex(const regex& other) : regex(std::string_view{other.pattern_}) {}
    regex(regex&&) noexcept = default;
    regex& operator=(const regex& other) { return *this = regex{other}; }
    regex& operator=(regex&&) noexcept = default;
    ~regex() = default;

    /// Whether the pattern occurs in `text`.
    /// Errors: value_error if the search is given up, because the pattern needs more than a million steps on this text,
    /// or more than 64 MiB: some tenths of a second, whatever the pattern.
    [[nodiscard]] bool search(std::string_view text) const;

    /// The text of the pattern's first group, (...), at the first match in `text`, which it borrows; nothing without a
    /// match, or without that group.      Errors: as search().
    [[nodiscard]] std::optional<std::string_view> first_group(std::string_view text) const;

    /// The number of groups in the pattern.
    [[nodiscard]] std::size_t groups() const noexcept;

    [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }

private:
    [[nodiscard]] int match(std::string_view text, std::uint32_t options) const noexcept;
    [[nodiscard]] static std::string words_for(int code);

    struct free_code {
        void operator()(pcre2_real_code_8* code) const noexcept;
    };
    struct free_limits {
        void operator()(pcre2_real_match_context_8* context) const noexcept;
    };
    struct free_match {
        void operator()(pcre2_real_match_data_8* data) const noexcept;
    };
    // Compiling to machine code takes as long as some hundred searches of names without it.
    static constexpr std::uint64_t worth_jit = 200;
    // PCRE2's defaults are ten times as many steps, and 20 GB.  Machine code uses only 32 KiB of the thread's stack.
    static constexpr std::uint32_t most_steps = 1'000'000;
    static constexpr std::uint32_t most_memory_kib = std::uint32_t{64} << 10U;

    std::string pattern_;
    mutable std::uint64_t searches_ = 0;
    std::unique_ptr<pcre2_real_code_8, free_code> code_;
    std::unique_ptr<pcre2_real_match_context_8, free_limits> limits_;
    std::unique_ptr<pcre2_real_match_data_8, free_match> match_data_;
};

/// The version of PCRE2 in use, "10.42 2022-12-11".
[[nodiscard]] SMDEBUG_INLINE std::string regex_library_version();

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/regex.ipp>
#endif
