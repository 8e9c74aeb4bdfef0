// The bodies of <smdebug/index/regex.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/regex.hpp>

// PCRE2 wants this macro before its header; it is the library's own, and every user of the 8-bit library sets it so.
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>

namespace smdebug::inline v1 {

SMDEBUG_INLINE regex::regex(std::string_view pattern) : pattern_(pattern) {
    int code = 0;
    PCRE2_SIZE place = 0;
    constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
    code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options, &code, &place,
                                nullptr));
    if (!code_) {
        throw value_error("the regular expression \"" + pattern_ + "\" is not valid at character " +
                          std::to_string(place) + ": " + words_for(code));
    }
    match_data_.reset(pcre2_match_data_create_8(2, nullptr));  // for the whole and its first group
    limits_.reset(pcre2_match_context_create_8(nullptr));
    if (!match_data_ || !limits_) {
        throw std::bad_alloc();
    }
    static_cast<void>(pcre2_set_match_limit_8(limits_.get(), most_steps));
    static_cast<void>(pcre2_set_depth_limit_8(limits_.get(), most_steps));
    static_cast<void>(pcre2_set_heap_limit_8(limits_.get(), most_memory_kib));
}

SMDEBUG_INLINE void regex::free_code::operator()(pcre2_code_8* code) const noexcept { pcre2_code_free_8(code); }

SMDEBUG_INLINE void regex::free_match::operator()(pcre2_match_data_8* data) const noexcept {
    pcre2_match_data_free_8(data);
}

SMDEBUG_INLINE void regex::free_limits::operator()(pcre2_match_context_8* context) const noexcept {
    pcre2_match_context_free_8(context);
}

SMDEBUG_INLINE bool regex::search(std::string_view text) const {
    if (++searches_ == worth_jit) {  // without JIT (not every machine has it) matching is slower, nothing else
        static_cast<void>(pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE));
    }
    int outcome = match(text, 0);
    if (outcome == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its state on the heap
        outcome = match(text, PCRE2_NO_JIT);
    }
    if (outcome < 0 && outcome != PCRE2_ERROR_NOMATCH) {
        throw value_error("the search for \"" + pattern_ + "\" in a text of " + std::to_string(text.size()) +
                          " bytes was given up: " + words_for(outcome));
    }
    return outcome >= 0;
}

SMDEBUG_INLINE std::optional<std::string_view> regex::first_group(std::string_view text) const {
    if (!search(text) || groups() == 0) {
        return std::nullopt;
    }
    const PCRE2_SIZE* const bounds = pcre2_get_ovector_pointer_8(match_data_.get());
    if (bounds[2] == PCRE2_UNSET) {
        return std::nullopt;
    }
    return text.substr(bounds[2], bounds[3] - bounds[2]);
}

SMDEBUG_INLINE std::size_t regex::groups() const noexcept {
    std::uint32_t count = 0;
    static_cast<void>(pcre2_pattern_info_8(code_.get(), PCRE2_INFO_CAPTURECOUNT, &count));
    return count;
}

SMDEBUG_INLINE int regex::match(std::string_view text, std::uint32_t options) const noexcept {
    return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), 0, options,
                         match_data_.get(), limits_.get());
}

SMDEBUG_INLINE std::string regex::words_for(int code) {
    PCRE2_UCHAR8 words[256] = {};
    pcre2_get_error_message_8(code, words, sizeof words);
    return reinterpret_cast<const char*>(words);
}

SMDEBUG_INLINE std::string regex_library_version() {
    std::string version(static_cast<std::size_t>(std::max(pcre2_config_8(PCRE2_CONFIG_VERSION, nullptr), 1)), '\0');
    pcre2_config_8(PCRE2_CONFIG_VERSION, version.data());
    version.pop_back();  // it ends its texts with a zero
    return version;
}

}  // namespace smdebug::inline v1
