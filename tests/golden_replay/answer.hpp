// The answer to one question: a result, an error by its class, or that it would block.
#pragma once

#include "json_out.hpp"

#include <smdebug/core/error.hpp>

#include "support/standard.hpp"

namespace golden_replay {

/// What came of asking.
class answer {
public:
    [[nodiscard]] static answer result(fragment held) { return {"result", std::move(held), {}}; }
    [[nodiscard]] static answer blocks() { return {"blocks", truth(true), {}}; }
    [[nodiscard]] static answer error(std::string_view error_class, std::string_view message) {
        return {"error", object{}.add("class", in_quotes(error_class)).add("message", in_quotes(message)).done(),
                std::string{error_class}};
    }

    [[nodiscard]] bool is_result() const noexcept { return key_ == "result"; }
    /// Empty where it is no error.
    [[nodiscard]] const std::string& error_class() const noexcept { return error_class_; }

    /// "result", "error" or "blocks", in an object that repeats the question.
    object& add_to(object& out) const { return out.add(key_, held_); }
    /// A value, or in its place {"error": ...} or {"blocks": true}.
    [[nodiscard]] fragment in_place() const { return is_result() ? held_ : object{}.add(key_, held_).done(); }

private:
    answer(std::string_view key, fragment held, std::string error_class)
        : key_(key), held_(std::move(held)), error_class_(std::move(error_class)) {}

    std::string_view key_;  // literals
    fragment held_;
    std::string error_class_;
};

/// A call that the Python package had once, and that was never in this library.
struct removed_call : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Asks: `question()` gives a fragment, or throws what the library throws.  Anything else that is thrown is not an
/// answer, and ends the program.
template <class Question>
[[nodiscard]] answer ask(Question&& question) {
    try {
        return answer::result(std::forward<Question>(question)());
    } catch (const removed_call& error) {
        return answer::error("SMDebugNotImplementedError", error.what());
    } catch (const smdebug::error& error) {
        return error.code() == smdebug::error_code::timed_out ? answer::blocks()
                                                              : answer::error(error.python_name(), error.message());
    }
}

}  // namespace golden_replay
