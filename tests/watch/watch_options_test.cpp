#include <smdebug/watch/watch.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

std::string refusal_of(const watch_options& options) {
    return smdebug_test::message_of<value_error>([&] { check(options); });
}

}  // namespace

TEST_CASE("watch_options: by default everything, at each step") {
    const watch_options options;
    check(options);
    CHECK(is_due(options.save_config.in(mode::train), 0));
    CHECK(is_due(options.save_config.in(mode::global), 7));
    CHECK(options.include_regex.empty());
}

TEST_CASE("watch_options: what cannot be meant is refused, in a sentence that names the option") {
    CHECK(refusal_of({.keep_steps = 0}) == "keep_steps is 0: rules need at least the current step");
    CHECK(refusal_of({.save_config = {.save_interval = 0}}).starts_with("save_config.save_interval is 0"));
    CHECK(refusal_of({.include_regex = {"a("}}).starts_with("include_regex: "));
    CHECK(refusal_of({.reduction_config = reduction_config{.norms = {"l3"}}}).find("\"l3\"") != std::string::npos);
    CHECK(refusal_of({.reduction_config = reduction_config{}}).starts_with("reduction_config names nothing"));
}
