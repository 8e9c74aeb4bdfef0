#include <smdebug/hook/observer_list.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

// Wants tensors of even steps whose names begin with a letter; may throw at the end.
struct noting final : smd::hook_observer {
    noting(char letter, bool throws) : first(letter), fails(throws) {}
    bool wants(const smd::hook_step& step) override {
        ++asked;
        return step.step % 2 == 0;
    }
    bool wants(std::string_view tensor) override { return tensor.front() == first; }
    void see(std::string_view name, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {
        seen.emplace_back(name);
    }
    void end_step(const smd::hook_step& step) override {
        ended.push_back(step.step);
        if (fails) {
            throw std::runtime_error(std::string{first});
        }
    }
    char first;
    bool fails;
    int asked = 0;
    std::vector<std::string> seen;
    std::vector<smd::step_number> ended;
};

}  // namespace

TEST_CASE("observer_list: abandoning a step does not call end_step()") {
    smd::detail::observer_list list;
    const auto a = std::make_shared<noting>('a', false);
    list.add(a);
    list.begin_step({.step = 0});
    list.abandon_step();
    CHECK_FALSE(list.want("a1"));
    list.end_step({.step = 0});
    CHECK(a->ended.empty());
    list.begin_step({.step = 2});
    CHECK(list.want("a1"));
    list.end_step({.step = 2});
    CHECK(a->ended == std::vector<smd::step_number>{2});
}

TEST_CASE("observer_list: each sees what it wants, and nothing of steps that it does not") {
    smd::detail::observer_list list;
    const auto a = std::make_shared<noting>('a', false);
    const auto b = std::make_shared<noting>('b', false);
    CHECK_FALSE(list.want("a1"));
    list.add(a);
    list.add(b);
    list.begin_step({.step = 0});
    CHECK(list.want("a1"));
    CHECK_FALSE(list.want("c"));
    list.show("a1", {}, {});
    list.show("b1", {}, {});
    list.show("c", {}, {});
    list.end_step({.step = 0});
    CHECK_FALSE(list.want("a1"));
    list.begin_step({.step = 1});
    CHECK_FALSE(list.want("a1"));
    list.show("a2", {}, {});
    list.end_step({.step = 1});
    CHECK(a->seen == std::vector<std::string>{"a1"});
    CHECK(b->seen == std::vector<std::string>{"b1"});
    CHECK(a->ended == std::vector<smd::step_number>{0, 1});
    CHECK(a->asked == 2);
}

TEST_CASE("observer_list: an observer may add another in every call") {
    struct inviting final : smd::hook_observer {
        explicit inviting(smd::detail::observer_list& to) : list(&to) {}
        bool wants(const smd::hook_step& /*step*/) override { return invite(); }
        bool wants(std::string_view /*tensor*/) override { return invite(); }
        void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
                 std::span<const std::string_view> /*collections*/) override {
            invite();
            ++seen;
        }
        void end_step(const smd::hook_step& /*step*/) override { invite(); }
        bool invite() {
            for (int i = 0; i < 100; ++i) {  // so that a vector would have to grow
                list->add(std::make_shared<noting>('x', false));
            }
            return true;
        }
        smd::detail::observer_list* list;
        int seen = 0;
    };
    smd::detail::observer_list list;
    const auto host = std::make_shared<inviting>(list);
    list.add(host);
    list.begin_step({.step = 0});
    CHECK(list.want("t"));
    list.show("t", {}, {});
    list.end_step({.step = 0});
    CHECK(host->seen == 1);
}

TEST_CASE("observer_list: all observers are notified of the end, even if one throws") {
    smd::detail::observer_list list;
    const auto a = std::make_shared<noting>('a', true);
    const auto b = std::make_shared<noting>('b', true);
    list.add(a);
    list.add(b);
    list.begin_step({.step = 4});
    CHECK_THROWS_WITH(list.end_step({.step = 4}), "a");
    CHECK(b->ended == std::vector<smd::step_number>{4});
    list.end_step({.step = 5});  // a step unknown to all observers
    CHECK(a->ended == std::vector<smd::step_number>{4});
}
