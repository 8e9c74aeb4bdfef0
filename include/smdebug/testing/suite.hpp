// A conformance suite as it goes: parts that begin alike and fail apart, whatever the test framework of the program.
// Failures are collected, and thrown as one sentence a line, so that a suite works under any framework and under none.
#pragma once

#include <smdebug/core/function_ref.hpp>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// One walk over the parts of a suite, and what was wrong in them.  One thread.
class conformance_suite {
public:
    /// Whether it is this part's turn.
    [[nodiscard]] bool part(std::string_view name) {
        if (seen_++ != turn_) {
            return false;
        }
        part_ = name;
        about_.clear();
        return true;
    }

    /// What the next checks of this part are about: a key, a prefix.
    void about(std::string_view what) { about_ = what; }

    /// Notes a failure, with the place of the call.
    void check(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        if (!holds) {
            fail("does not hold", file, line);
        }
    }

    /// The same, and ends the part.
    void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        check(holds, file, line);
        if (!holds) {
            throw part_ended{};
        }
    }

    /// Notes a failure unless `call` throws an E.
    template <class E, class Call>
    void check_throws(Call&& call, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        try {
            call();
        } catch (const E&) {
            return;
        }
        fail("throws nothing", file, line);
    }

    /// Calls body(suite) once for each part that it asks for.
    /// Errors: std::runtime_error with a line for each failure.
    static void walk(function_ref<void(conformance_suite&)> body) {
        conformance_suite all;
        for (bool more = true; more; ++all.turn_) {
            all.seen_ = 0;
            all.part_.clear();
            bool whole = false;  // else parts behind the one that ended early are not seen
            try {
                body(all);
                whole = true;
            } catch (const part_ended&) {  // noted
            } catch (const std::exception& thrown) {
                all.failures_ += "\n  " + all.part_ + all.subject() + ": throws \"" + thrown.what() + '"';
            }
            more = whole ? all.turn_ + 1 < all.seen_ : !all.part_.empty();
        }
        if (!all.failures_.empty()) {
            throw std::runtime_error("the storage does not conform:" + all.failures_);
        }
    }

private:
    struct part_ended {};

    [[nodiscard]] std::string subject() const { return about_.empty() ? "" : " (" + about_ + ")"; }

    void fail(std::string_view how, std::string_view file, int line) {
        file.remove_prefix(file.find_last_of('/') + 1);  // npos + 1 is 0
        failures_ += "\n  " + part_ + subject() + ": ";
        failures_.append(how).append(", ").append(file).append(":").append(std::to_string(line));
    }

    std::size_t turn_ = 0;
    std::size_t seen_ = 0;
    std::string part_;
    std::string about_;
    std::string failures_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
