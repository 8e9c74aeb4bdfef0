#include <smdebug/rules/judge/loss_values.hpp>

#include <smdebug/core/step.hpp>

#include "support/test.hpp"

using namespace smdebug;
using rules::detail::loss_course;

TEST_CASE("loss_course: has fallen in spite of noise, at once or slowly; has not where it began, or above") {
    const auto says = [](const std::vector<double>& losses) {
        loss_course course;
        for (std::size_t i = 0; i < losses.size(); ++i) {
            course.add(static_cast<step_number>(i), losses[i], 4);
        }
        const auto found = course.not_fallen(0.1, 50);
        return found ? found->message : std::string{};
    };
    CHECK(says({1, 1, 1, 1, 1, 1, 1}) == "");  // too few
    CHECK(says({1, 1, 1, 1, 1, 1, 1, 1}) ==
          "the mean of the newest 4 losses, 1, is not below that of the first, 1, by 0.001");
    CHECK(says({1, 1, 1, 1, 0.9, 0.9, 0.9, 0.9}) == "");
    CHECK(says({2, 4, 3, 3, 2, 4, 3, 3}).ends_with("by 0.37065"));  // noise
    CHECK(says({9, 0.5, 0.4, 0.6, 0.5, 3, 3, 3, 3}) == "");         // a plateau below the beginning
    CHECK(says({9, 1, 2, 1, 1, 2, 1, 2, 1, 2, 1, 2}) == "");        // it fell at once
    CHECK(says({1, 5, 9, 7, 2, 2, 2, 2}) == "the mean of the newest 4 losses, 2, is above the first loss, 1");
    loss_course one;
    loss_course against;
    loss_course with;
    for (step_number step = 0; step < 16; ++step) {
        CHECK_FALSE(one.is_against(one));
        one.add(step, step % 3 == 0 ? 1 : 2, 4);
        against.add(step, step % 3 == 0 ? 2 : 1, 4);
        with.add(step, step % 3 == 0 ? 3 : 4, 4);
    }
    CHECK(one.is_against(against));
    CHECK_FALSE(one.is_against(with));
}

TEST_CASE("loss_course: may be against another one while it can be judged, but its direction cannot") {
    loss_course course;
    for (step_number step = 0; step < 20; ++step) {
        CHECK(course.may_be_against() == (step >= 8 && step < 16));
        course.is_noted = true;
        course.add(step, 1, 4);
        CHECK(course.is_noted);
    }
    course.add(3, 1, 4);  // another walk
    CHECK(course.count() == 1);
    CHECK_FALSE(course.is_noted);
}
