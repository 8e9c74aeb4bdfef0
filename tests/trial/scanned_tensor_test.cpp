#include <smdebug/trial/scanned_tensor.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include "support/test.hpp"

using namespace smdebug;
using smdebug::detail::scanned_tensor;

TEST_CASE("scanned_tensor: it has values, or a failure, or neither") {
    decoded_tensor values;
    values.shape = {2, 3};
    const shape_type saved{4};
    scanned_tensor tensor;
    tensor.saved_shape = &saved;
    CHECK(tensor.values() == nullptr);
    CHECK(tensor.failure() == nullptr);
    CHECK(tensor.shape() == &saved);
    tensor.content = smdebug::detail::scanned_values{.tensor = &values, .repeats = 5};
    CHECK(tensor.values() == &values);
    CHECK(tensor.repeats() == 5);
    CHECK(tensor.failure() == nullptr);
    CHECK(tensor.shape() == &values.shape);
    const smdebug::lookup_error why{.why = lookup_failure_kind::damaged};
    tensor.content = smdebug::detail::unread_values{.why = &why};
    CHECK(tensor.values() == nullptr);
    CHECK(tensor.repeats() == 0);
    CHECK(tensor.failure() == &why);
    CHECK_FALSE(tensor.file_failed());
    CHECK(tensor.shape() == &saved);
    tensor.content = smdebug::detail::unread_values{.why = &why, .whole_file = true};
    CHECK(tensor.file_failed());
    const smdebug::detail::early_reductions passed{.shape = {7}};
    tensor.content = &passed;
    CHECK(tensor.shape() == &passed.shape);
    CHECK(tensor.failure() == nullptr);
}

TEST_CASE("scanned_tensor: a failure names its record's place") {
    scanned_tensor tensor;
    const std::string key = "events/x";
    tensor.event_file = key;
    tensor.offset = 77;
    const smdebug::lookup_error damaged = tensor.damaged(status::truncated);
    CHECK(damaged.why == lookup_failure_kind::damaged);
    CHECK(damaged.damage == status::truncated);
    CHECK(damaged.where == key);
    CHECK(damaged.offset == 77);
    try {
        throw unavailable("the line is down");
    } catch (const error&) {
        const smdebug::lookup_error failed = tensor.failed();
        CHECK(failed.why == lookup_failure_kind::unreadable);
        CHECK(failed.note == "the line is down");
        CHECK(failed.where == key);
        CHECK(failed.offset == 77);
    }
}
