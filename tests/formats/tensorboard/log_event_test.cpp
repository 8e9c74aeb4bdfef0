#include <smdebug/formats/tensorboard/log_event.hpp>

#include "support/log_builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using smdebug::detail::log_event;
using smdebug::detail::log_value_kind;
using smdebug::detail::read_log_event;

namespace {

[[nodiscard]] std::string event_of(const std::vector<std::string>& values) {
    std::string summary;
    for (const std::string& value : values) {
        summary += proto::text(1, value);
    }
    return proto::fixed(1, 12.5) + proto::whole(2, 7) + proto::text(5, summary);
}

}  // namespace

TEST_CASE("read_log_event: what each value holds") {
    const std::string bytes =
        event_of({scalar_value("a", 1), logged_tensor("b", "scalars", 1, {2, 3}, "123456781234567812345678"),
                  histogram_value("c", 0, 1, 1, 1, 1, {1}, {1}), image_value("d"), text_value("e", "x")});
    log_event event;
    REQUIRE(read_log_event(as_bytes(bytes), event) == status::ok);
    CHECK(event.wall_time == 12.5);
    CHECK(event.step == 7);
    CHECK_FALSE(event.is_start);
    REQUIRE(event.values.size() == 5);
    CHECK(event.values[0].kind == log_value_kind::scalar);
    CHECK(event.values[0].tag == "a");
    CHECK(event.values[1].kind == log_value_kind::tensor);
    CHECK(event.values[1].plugin == "scalars");
    CHECK_FALSE(event.values[1].message.empty());
    CHECK(event.values[2].kind == log_value_kind::histogram);
    CHECK(event.values[3].kind == log_value_kind::opaque);
    CHECK(event.values[4].plugin == "text");

    const std::string start = log_restart(3);
    REQUIRE(read_log_event(as_bytes(start).subspan(12, start.size() - 16), event) == status::ok);
    CHECK(event.is_start);
    CHECK(event.step == 3);
    CHECK(event.values.empty());
}

TEST_CASE("read_log_event: every cut is an event with less in it, or damage; nothing is read behind the end") {
    const std::string bytes = event_of({scalar_value("a", 1), logged_tensor("b", "scalars", 1, {2}, "12345678"),
                                        histogram_value("c", 0, 1, 1, 1, 1, {1, 2}, {1, 0})});
    log_event event;
    std::size_t damaged = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        damaged += read_log_event(as_bytes({cut.data(), cut.size()}), event) != status::ok ? 1U : 0U;
    }
    CHECK(damaged > bytes.size() / 2);
}

TEST_CASE("kind_by_plugin: those that TensorBoard has") {
    CHECK(detail::kind_by_plugin("scalars") == log_value_kind::scalar);
    CHECK(detail::kind_by_plugin("histograms") == log_value_kind::histogram_tensor);
    CHECK(detail::kind_by_plugin("text") == log_value_kind::text);
    CHECK(detail::kind_by_plugin("images") == log_value_kind::opaque);
    CHECK(detail::kind_by_plugin("hparams") == log_value_kind::opaque);
    CHECK(detail::kind_by_plugin("") == log_value_kind::tensor);
    CHECK(detail::kind_by_plugin("pr_curves") == log_value_kind::tensor);
}
