#include <smdebug/formats/tensorboard/log_files.hpp>

#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using smdebug::detail::log_event;
using smdebug::detail::log_value_kind;
using smdebug::detail::read_log_event;
using smdebug::detail::read_scalar_event;

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

TEST_CASE("read_scalar_event: the usual event of one scalar, of every step and length of a tag that it takes") {
    const auto bytes_of = [](std::uint64_t step, const std::string& tag) {
        return proto::fixed(1, 12.5) + (step == 0 ? std::string{} : proto::whole(2, step)) +
               proto::text(5, proto::text(1, scalar_value(tag, 0.5F)));
    };
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
                                     std::uint64_t{1} << 35U, static_cast<std::uint64_t>(INT64_MAX) - 1}) {
        for (const std::size_t length : {0U, 1U, 7U, 8U, 60U, 116U}) {
            const std::string tag(length, 't');
            const std::string bytes = bytes_of(step, tag);
            smdebug::detail::scalar_event read;
            REQUIRE(read_scalar_event(as_bytes(bytes), read));
            CHECK(read.wall_time == 12.5);
            CHECK(read.step == static_cast<std::int64_t>(step));
            CHECK(read.tag == tag);
            CHECK(read.number == 0.5F);
        }
    }
    smdebug::detail::scalar_event read;
    CHECK_FALSE(read_scalar_event(as_bytes(bytes_of(static_cast<std::uint64_t>(INT64_MAX), "a")), read));  // no step
    CHECK_FALSE(read_scalar_event(as_bytes(bytes_of(UINT64_MAX, "a")), read));
    CHECK_FALSE(read_scalar_event(as_bytes(bytes_of(1, std::string(300, 't'))), read));  // left to read_log_event()
}

TEST_CASE(
    "read_scalar_event: of an event with any byte changed or cut, it reads what read_log_event reads, or nothing") {
    const std::string whole =
        proto::fixed(1, 12.5) + proto::whole(2, 300) + proto::text(5, proto::text(1, scalar_value("layer/loss", 0.5F)));
    std::size_t taken = 0;
    const auto compare = [&](const std::string& bytes) {
        const std::vector<char> exact(bytes.begin(), bytes.end());  // a read beyond its end is detected
        const byte_view message = as_bytes({exact.data(), exact.size()});
        smdebug::detail::scalar_event quick;
        if (!read_scalar_event(message, quick)) {
            return;
        }
        ++taken;
        log_event event;
        REQUIRE(read_log_event(message, event) == status::ok);
        REQUIRE(event.values.size() == 1);
        CHECK(event.values[0].kind == log_value_kind::scalar);
        CHECK(event.values[0].tag == quick.tag);
        CHECK(event.values[0].plugin.empty());
        CHECK(event.step == quick.step);
        CHECK(std::bit_cast<std::uint64_t>(event.wall_time) == std::bit_cast<std::uint64_t>(quick.wall_time));
        CHECK(std::bit_cast<std::uint32_t>(event.values[0].number) == std::bit_cast<std::uint32_t>(quick.number));
    };
    for (std::size_t place = 0; place < whole.size(); ++place) {
        compare(whole.substr(0, place));
        for (int value = 0; value < 256; ++value) {
            std::string changed = whole;
            changed[place] = static_cast<char>(value);
            compare(changed);
        }
    }
    CHECK(taken > 10U * 256U);  // any tag, number and time
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
