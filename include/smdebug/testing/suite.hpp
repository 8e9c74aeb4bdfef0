// One run of a conformance suite: parts with a common setup that fail independently. Failures are thrown as one error
// with a sentence a line, so that a suite works under any test framework and under none.
#pragma once

#include <smdebug/core/function_ref.hpp>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

/// One pass over the parts of a suite, with the failures found in them. One thread.
class conformance_suite {
public:
    /// Whether it is this part's turn.
    [[nodiscard]] bool part(std::string_view name) {
        const bool is_next = seen_++ == turn_;
        if (is_next) {
            part_ = name;
            about_.clear();
        }
        return is_next;
    }

    /// Names what the next checks of this part are about: a key, a prefix.
    void about(std::string_view what) { about_ = what; }

    /// Records a failure, with the place of the call.
    void check(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        if (!holds) {
            fail("does not hold", file, line);
        }
    }

    /// Records a failure as check() does, and ends the part.
    void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        check(holds, file, line);
        if (!holds) {
            throw part_ended{};
        }
    }

    /// Records a failure unless `call` throws an Error.
    template <class Error, class Call>
    void check_throws(Call&& call, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        try {
            call();
            fail("throws nothing", file, line);
        } catch (const Error&) {  // as promised
        }
    }

    /// Calls body(suite) once for each part.
    /// Errors: std::runtime_error with a line for each failure.
    static void walk(function_ref<void(conformance_suite&)> body) {
        conformance_suite all;
        for (bool more = true; more; ++all.turn_) {
            all.seen_ = 0;
            all.part_.clear();
            bool whole = false;  // if false, the part ended early, so later parts were not seen
            try {
                body(all);
                whole = true;
            } catch (const part_ended&) {  // recorded already
            } catch (const std::exception& thrown) {
                all.note("throws \"" + std::string{thrown.what()} + '"');
            }
            more = whole ? all.turn_ + 1 < all.seen_ : !all.part_.empty();
        }
        if (!all.failures_.empty()) {
            throw std::runtime_error("the storage does not conform:" + all.failures_);
        }
    }

private:
    struct part_ended {};

    void fail(const char* how, std::string_view file, int line) {
        file.remove_prefix(file.find_last_of('/') + 1);  // npos + 1 is 0
        note(std::string{how} + ", " + std::string{file} + ":" + std::to_string(line));
    }
    void note(const std::string& how) {
        failures_ += "\n  " + part_ + (about_.empty() ? "" : " (" + about_ + ")") + ": " + how;
    }

    std::size_t turn_ = 0;
    std::size_t seen_ = 0;
    std::string part_;
    std::string about_;
    std::string failures_;
};

}  // namespace smdebug::inline v1::detail
