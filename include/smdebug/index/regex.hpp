// Regular expressions over tensor names: the only header that knows PCRE2.
// std::regex lacks look-behind and (?i), and overflows the stack on long names; real collections need both.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;  // PCRE2's names of its opaque types
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace smdebug {
inline namespace v1 {

/// A compiled pattern that searches anywhere in a text, like Python's re.search.  Patterns are UTF-8, and so are texts;
/// bytes of a text that are not match nothing.
/// Cost:    compiling some microseconds, and some ten more at the 200th search; a search allocates nothing but then.
/// Threads: one object, one thread at a time.
class regex {
public:
    /// Errors: value_error, with the place in the pattern.
    explicit regex(std::string_view pattern);

    /// Whether the pattern occurs in `text`.
    /// Errors: value_error when the search is given up, because the pattern needs more than a million steps on this text, or
    ///         more than 64 MiB: some tenths of a second, whatever the pattern.
    [[nodiscard]] bool search(std::string_view text) const;

    /// What the first group of the pattern, (...), has where the pattern occurs first in `text`, which it borrows; nothing
    /// where it does not occur, or without that group.      Errors: as search().
    [[nodiscard]] std::optional<std::string_view> first_group(std::string_view text) const;

    /// How many groups the pattern has.
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
    // To compile to machine code takes as long as some hundred searches of names without it.
    static constexpr std::uint64_t worth_jit = 200;
    // PCRE2's own are ten times as many, and 20 GB.  Machine code has no memory but 32 KiB of the thread's stack.
    static constexpr std::uint32_t most_steps = 1'000'000;
    static constexpr std::uint32_t most_memory_kib = std::uint32_t{64} << 10U;

    std::string pattern_;
    mutable std::uint64_t searches_ = 0;
    std::unique_ptr<pcre2_real_code_8, free_code> code_;
    std::unique_ptr<pcre2_real_match_context_8, free_limits> limits_;
    std::unique_ptr<pcre2_real_match_data_8, free_match> match_data_;
};

/// The version of PCRE2 that searches here, "10.42 2022-12-11".
[[nodiscard]] SMDEBUG_INLINE std::string regex_library_version();

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/regex.ipp>
#endif
