// Regular expressions over tensor names: the only header that includes PCRE2.
// std::regex lacks look-behind and (?i), and overflows the stack on long names; real collections need both.
// Used by: trial, hook, cli.
#pragma once

#include <smdebug/core/error.hpp>

// PCRE2 wants this macro before its header; it is the library's own, and every user of the 8-bit library sets it so.
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// A compiled pattern that searches anywhere in a text, like Python's re.search.  Patterns are UTF-8, and so are texts;
/// bytes of a text that are not match nothing.
/// Cost:    compiling some microseconds; a search allocates nothing.
/// Threads: one object, one thread at a time.
class regex {
public:
    /// Errors: value_error, with the place in the pattern.
    explicit regex(std::string_view pattern) : pattern_(pattern) {
        int code = 0;
        PCRE2_SIZE place = 0;
        constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
        code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options, &code,
                                    &place, nullptr));
        if (!code_) {
            throw value_error("the regular expression \"" + pattern_ + "\" is not valid at character " +
                              std::to_string(place) + ": " + words_for(code));
        }
        // Without JIT (not every machine has it) matching is slower, nothing else.
        static_cast<void>(pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE));
        found_.reset(pcre2_match_data_create_8(1, nullptr));
        if (!found_) {
            throw std::bad_alloc();
        }
    }

    /// Whether the pattern occurs in `text`.
    /// Errors: value_error when the search is given up, because the pattern needs too many steps on this text.
    [[nodiscard]] bool search(std::string_view text) const {
        int outcome = match(text, 0);
        if (outcome == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its state on the heap
            outcome = match(text, PCRE2_NO_JIT);
        }
        if (outcome < 0 && outcome != PCRE2_ERROR_NOMATCH) {
            throw value_error("the search for \"" + pattern_ + "\" was given up: " + words_for(outcome));
        }
        return outcome >= 0;
    }

    [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }

private:
    [[nodiscard]] int match(std::string_view text, std::uint32_t options) const noexcept {
        return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), 0, options,
                             found_.get(), nullptr);
    }
    [[nodiscard]] static std::string words_for(int code) {
        PCRE2_UCHAR8 words[256] = {};
        pcre2_get_error_message_8(code, words, sizeof words);
        return reinterpret_cast<const char*>(words);
    }

    struct free_code {
        void operator()(pcre2_code_8* code) const noexcept { pcre2_code_free_8(code); }
    };
    struct free_match {
        void operator()(pcre2_match_data_8* data) const noexcept { pcre2_match_data_free_8(data); }
    };
    std::string pattern_;
    std::unique_ptr<pcre2_code_8, free_code> code_;
    std::unique_ptr<pcre2_match_data_8, free_match> found_;
};

}  // namespace v1
}  // namespace smdebug
