#include <smdebug/core/function_ref.hpp>

#include "support/test.hpp"

using smdebug::function_ref;

namespace {

int add_one(int value) { return value + 1; }

struct counter {
    int calls = 0;
    int operator()() { return ++calls; }
};

int call(function_ref<int(int)> callable, int value) { return callable(value); }

static_assert(std::is_trivially_copyable_v<function_ref<void()>>);
static_assert(sizeof(function_ref<void()>) == 2 * sizeof(void*));
static_assert(std::is_constructible_v<function_ref<int(int)>, int (*)(int)>);
static_assert(!std::is_constructible_v<function_ref<int(int)>, int (*)(int, int)>, "too many parameters");
static_assert(!std::is_constructible_v<function_ref<std::string(int)>, int* (*)(int)>, "another result");
static_assert(!std::is_constructible_v<function_ref<void()>, int>, "not callable");
static_assert(!std::is_constructible_v<function_ref<int()>, const counter&>, "callable, but not through const");

}  // namespace

TEST_CASE("function_ref: calls a lambda with what it has captured") {
    int sum = 0;
    const auto add = [&sum](int value) { return sum += value; };
    CHECK(call(add, 3) == 3);
    CHECK(call(add, 4) == 7);
    CHECK(call([](int value) { return 2 * value; }, 5) == 10);
}

TEST_CASE("function_ref: refers to the callable and does not copy it") {
    counter count;
    const function_ref<int()> first = count;
    const function_ref<int()> second = first;  // NOLINT: the copy is the point
    CHECK(first() == 1);
    CHECK(second() == 2);
    CHECK(count.calls == 2);
}

TEST_CASE("function_ref: takes a pointer to a function") {
    int (*pointer)(int) = add_one;
    CHECK(call(pointer, 1) == 2);
}

TEST_CASE("function_ref: passes references and move-only arguments through") {
    const auto append = [](std::string& text, std::unique_ptr<int> number) { text += std::to_string(*number); };
    const function_ref<void(std::string&, std::unique_ptr<int>)> callable = append;
    std::string text = "n=";
    callable(text, std::make_unique<int>(42));
    CHECK(text == "n=42");
}

TEST_CASE("function_ref: converts the callable's result") {
    const auto seven = [] { return 7; };
    const function_ref<double()> converted = seven;
    CHECK(converted() == 7.0);
}

TEST_CASE("function_ref: passes on an exception of the callable") {
    const auto thrower = [](int value) -> int { throw value; };
    CHECK_THROWS_AS(call(thrower, 1), int);
}

TEST_CASE("function_ref: drops the callable's result if its own type is void") {
    int called = 0;
    auto counts = [&] { return ++called; };
    const smdebug::function_ref<void()> reference = counts;
    reference();
    CHECK(called == 1);
}

TEST_CASE("goes_on: a void visitor continues; otherwise its result decides") {
    int called = 0;
    const auto silent = [&](int by) { called += by; };
    CHECK(smdebug::detail::goes_on(silent, 3));
    CHECK(called == 3);
    const auto says = [](bool more) { return more; };
    CHECK(smdebug::detail::goes_on(says, true));
    CHECK_FALSE(smdebug::detail::goes_on(says, false));
}

TEST_CASE("visitor_ref: a void visitor takes all; otherwise its result decides") {
    int called = 0;
    const auto silent = [&](int by, const int&) { called += by; };
    CHECK(smdebug::visitor_ref<int, const int&>{silent}(3, 0));
    CHECK(called == 3);
    const auto says = [](bool more) { return more; };
    CHECK(smdebug::visitor_ref<bool>{says}(true));
    CHECK_FALSE(smdebug::visitor_ref<bool>{says}(false));
    const auto takes = [](std::unique_ptr<int> given) { return *given == 7; };
    CHECK(smdebug::visitor_ref<std::unique_ptr<int>>{takes}(std::make_unique<int>(7)));
}
