// The answer to one question: a result, an error by its class, or that it would block.
// Used by: tests/golden_replay.
#pragma once

#include "json_out.hpp"

#include <smdebug/core/error.hpp>

#include <string_view>
#include <utility>

namespace golden_replay {

[[nodiscard]] inline fragment error_json(std::string_view error_class, std::string_view message) {
    return object{}.add("class", quoted(error_class)).add("message", quoted(message)).done();
}

/// What came of asking.
class answer {
public:
    answer(std::string_view key, fragment held) : key_(key), held_(std::move(held)) {}

    [[nodiscard]] bool is_result() const noexcept { return key_ == "result"; }
    /// "result", "error" or "blocks", in an object that repeats the question.
    object& add_to(object& out) const { return out.add(key_, held_); }
    /// A value, or in its place {"error": ...} or {"blocks": true}.
    [[nodiscard]] fragment in_place() const { return is_result() ? held_ : object{}.add(key_, held_).done(); }

private:
    std::string_view key_;  // literals
    fragment held_;
};

/// Asks: `question()` gives a fragment, or throws what the library throws.  Anything else that is thrown is not an
/// answer, and ends the program.
template <class Question>
[[nodiscard]] answer ask(Question&& question) {
    try {
        return {"result", std::forward<Question>(question)()};
    } catch (const smdebug::timed_out&) {
        return {"blocks", truth(true)};
    } catch (const smdebug::error& error) {
        return {"error", error_json(error.python_name(), error.message())};
    }
}

}  // namespace golden_replay
