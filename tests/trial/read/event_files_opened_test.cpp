#include <smdebug/trial/read/event_files.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "trial/read/event_files_fixture.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// Also opens its objects, and counts that.
struct opening_storage_of_memory : byte_counting_storage {
    using byte_counting_storage::byte_counting_storage;
    struct opened {
        int asked = 0;
        std::uint64_t bytes = 0;
        int open = 0;
        bool opens = true;
    };
    std::shared_ptr<opened> of_files = std::make_shared<opened>();

    [[nodiscard]] storage_abilities abilities() const override {
        storage_abilities can = byte_counting_storage::abilities();
        can.opens_small = true;
        return can;
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const override {
        struct object final : opened_object {
            object(byte_buffer content, std::shared_ptr<opened> counted)
                : bytes(std::move(content)), counts(std::move(counted)) {
                ++counts->open;
            }
            ~object() override { --counts->open; }
            [[nodiscard]] std::uint64_t size() const noexcept override { return bytes.size(); }
            [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
                const byte_buffer some = bytes.slice({.offset = offset, .length = into.size()});
                std::copy(some.view().begin(), some.view().end(), into.begin());
                counts->bytes += some.size();
                return some.size();
            }
            byte_buffer bytes;
            std::shared_ptr<opened> counts;
        };
        ++of_files->asked;
        if (!of_files->opens || !size(key)) {
            return nullptr;
        }
        const counts before = *seen;
        auto made = std::make_unique<object>(read(key, whole_object), of_files);
        *seen = before;
        return made;
    }
};

}  // namespace

TEST_CASE(
    "event_files: a file that is opened holds the same, each byte is read once, and it is closed when it is done") {
    const byte_counting_storage plain{a_run()};
    const texts expected = walked(counted_trial{plain}, {}, {});
    for (const std::uint64_t piece : {1U, 100U, 50'000U, 1'000'000U}) {
        const opening_storage_of_memory store{a_run()};
        CHECK(walked(basic_trial{store}, {}, {.opened_from = 1000, .hot_piece = piece}) == expected);
        // The missing file is not opened; it and the next one are read with others.
        CHECK(store.of_files->asked == 3);
        CHECK(store.of_files->bytes > 80'000);
        CHECK(store.of_files->bytes + store.seen->whole == plain.seen->whole);
        CHECK(store.seen->ranged == 0);
        CHECK(store.of_files->open == 0);
    }
    const opening_storage_of_memory closed{a_run()};
    closed.of_files->opens = false;
    CHECK(walked(basic_trial{closed}, {}, {.opened_from = 1000}) == expected);
    CHECK(closed.of_files->asked == 1);
    closed.seen->shows = true;
    CHECK(walked(basic_trial{closed}, {}, {.in_place_from = 1000, .opened_from = 1000}) == expected);
}

TEST_CASE("event_files: files that the storage shows in place are not opened") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    for (step_number step = 0; step < 300; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {static_cast<float>(step)})}});
    }
    build.end();
    const texts expected = walked(counted_trial{byte_counting_storage{inner}}, {}, {});
    const opening_storage_of_memory store{inner};
    store.seen->shows = true;
    CHECK(walked(basic_trial{store}, {}, {.in_place_from = 1, .opened_from = 1}) == expected);
    CHECK(store.of_files->asked == 0);
    CHECK(store.seen->shown == 300);
    CHECK(store.seen->whole == 0);
}

TEST_CASE("event_files: a file whose records are wanted in another order than stored is not opened") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    build.step(
        {.step = 0, .tensors = {tensor_of<float>("w", {2}), tensor_of<float>("smdebug/reductions/mean/w", {5}, {})}});
    build.step(
        {.step = 1, .tensors = {tensor_of<float>("smdebug/reductions/mean/w", {5}, {}), tensor_of<float>("w", {2})}});
    build.end();
    const opening_storage_of_memory store{inner};
    CHECK(walked(basic_trial{store}, {}, {.opened_from = 1}).size() == 2);
    CHECK(store.of_files->asked == 1);
    CHECK(store.seen->whole == inner.size(smdebug::detail::locations::event_key(0, "worker_0")));
}

TEST_CASE("event_files: returning false after a file ends the walk, however the file was read") {
    for (const bool opens : {true, false}) {
        for (const std::uint64_t largest_whole : {std::uint64_t{1000}, std::uint64_t{1} << 20U}) {
            const opening_storage_of_memory store{a_run()};
            store.of_files->opens = opens;
            const basic_trial<opening_storage_of_memory> run{store};
            const auto from = catalog_of(run);
            const smdebug::detail::selected_tensors which{{}, *from};
            const reading_limits limits{.opened_from = opens ? 1000U : 1'000'000U, .largest_whole = largest_whole};
            event_reader reader{*state_of(run), *from, which, reduction_set::all(), {.limits = limits}};
            std::size_t seen = 0;
            CHECK_FALSE(reader.read(
                from->files_in({}), [&](const smdebug::detail::scanned_tensor&) { ++seen; },
                [](std::size_t place) { return place < 1; }));
            CHECK(seen == 6);
            CHECK(store.of_files->open == 0);
        }
    }
}
