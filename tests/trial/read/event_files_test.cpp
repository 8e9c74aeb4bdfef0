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

TEST_CASE("event_files: whole, in place or in pieces, a file holds the same") {
    const byte_counting_storage store{a_run()};
    const counted_trial run{store};
    const texts expected = walked(run, {}, {});
    CHECK(expected.size() == 12);
    CHECK(expected[4] == "1 large 10000.000000");
    CHECK(expected[6] == "2 first");
    CHECK(store.seen->whole > 120'000);
    CHECK(store.seen->ranged == 0);
    const std::uint64_t bytes = store.seen->whole;
    for (const std::uint64_t piece : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{50'000}}) {
        *store.seen = {};
        CHECK(walked(run, {}, {.largest_whole = 30'000, .large_piece = piece}) == expected);
        CHECK(store.seen->whole == 0);
        CHECK(store.seen->ranged > 120'000);
        CHECK(store.seen->ranged <= bytes + 3 * piece);
    }
    // The missing file is not shown, and the next ones are read before another is tried.
    *store.seen = {.shows = true};
    CHECK(walked(run, {}, {.in_place_from = 30'000, .largest_whole = 30'000}) == expected);
    CHECK(store.seen->shown == 3);
    CHECK(store.seen->ranged > 40'000);
    CHECK(store.seen->ranged < 60'000);
}

TEST_CASE("event_files: values next to saved reductions are right, for any order of records and pieces") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    const std::vector<float> twos(40'000, 2.0F);
    const std::vector<float> others(100'000, 7.0F);
    build.step({.step = 0,
                .tensors = {tensor_of<float>("smdebug/reductions/mean/w", {5}, {}), tensor_of<float>("other", others),
                            tensor_of<float>("w", twos)},
                .footers = record::footer_kind::checksum});
    build.step({.step = 1,
                .tensors = {tensor_of<float>("w", twos), tensor_of<float>("other", others),
                            tensor_of<float>("smdebug/reductions/mean/w", {5}, {})}});
    build.end();
    const byte_counting_storage store{inner};
    const counted_trial run{store};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{.names = texts{"w"}}, *from};
    for (const std::uint64_t piece : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 20U}) {
        event_reader walk{*state_of(run),
                          *from,
                          which,
                          reduction_set::all(),
                          {.limits = {.largest_whole = 1000, .large_piece = piece, .sparse_from = 1'000'000}}};
        const std::vector<const catalog::file*> files = from->files_in({});
        std::size_t seen = 0;
        walk.read(
            files,
            [&](const smdebug::detail::scanned_tensor& tensor) {
                ++seen;
                REQUIRE(tensor.values() != nullptr);
                CHECK(tensor.saved == reduction_set{reduction::mean});
                CHECK(tensor.saved_value[reduction_key{reduction::mean}.index()] == 5);
                const auto all = state_of(run)->kernel().reduce(tensor.values()->view(), reduction_set::all());
                CHECK((*all)(reduction::min) == 2);
                CHECK((*all)(reduction::max) == 2);
                CHECK((*all)(reduction::sum) == 80'000);
            },
            [](std::size_t) { return true; });
        CHECK(seen == 2);
    }
}

TEST_CASE("event_files: a file that is larger than its index says, too large to be read whole, is read in pieces") {
    class refusing_storage : public byte_counting_storage {
    public:
        using byte_counting_storage::byte_counting_storage;
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const override {
            if (where == whole_object && key.starts_with("events/")) {
                throw unsupported("too large", {.where = std::string{key}});
            }
            return byte_counting_storage::read(key, where);
        }
    };
    const refusing_storage store{a_run()};
    const basic_trial<refusing_storage> run{store};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{}, *from};
    event_reader walk{*state_of(run), *from, which, reduction_set::all()};
    const std::vector<const catalog::file*> files = from->files_in({});
    std::size_t read = 0;
    std::size_t missing = 0;
    std::size_t done = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            tensor.values() != nullptr ? ++read : ++missing;
            CHECK((tensor.values() != nullptr || tensor.failure()->why == lookup_failure_kind::event_file_missing));
        },
        [&](std::size_t) { return ++done > 0; });
    CHECK(read == 9);
    CHECK(missing == 3);
    CHECK(done == 4);
}

TEST_CASE("event_files: files are prefetched while they are not cached, and now and then when they are") {
    struct prefetching : byte_counting_storage {
        using byte_counting_storage::byte_counting_storage;
        std::shared_ptr<texts> asked = std::make_shared<texts>();
        bool near = false;
        bool small_alone = true;
        [[nodiscard]] storage_abilities abilities() const override {
            storage_abilities can = byte_counting_storage::abilities();
            can.reads_ahead = small_alone;
            return can;
        }
        [[nodiscard]] bool read_ahead(std::string_view key) const override {
            asked->emplace_back(key);
            return near;
        }
    };
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    for (step_number step = 0; step < 20; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {1})}});
    }
    build.end();
    for (const bool near : {false, true}) {
        prefetching store{inner};
        store.seen->shows = true;
        store.near = near;
        const basic_trial<prefetching> run{store};
        const auto from = catalog_of(run);
        const smdebug::detail::selected_tensors which{{}, *from};
        files_ahead ahead;
        event_reader walk{*state_of(run),
                          *from,
                          which,
                          reduction_set::all(),
                          {.in_place = true, .limits = {.in_place_from = 1}, .ahead = &ahead}};
        const std::vector<const catalog::file*> files = from->files_in({});
        walk.read(
            files, 0, 1, [](const smdebug::detail::scanned_tensor&) {}, [](std::size_t) { return true; });
        CHECK(store.asked->size() == (near ? 2 : 16));
        walk.read(
            files, 1, 20, [](const smdebug::detail::scanned_tensor&) {}, [](std::size_t) { return true; });
        CHECK(store.asked->size() == (near ? 3 : 20));
        CHECK(store.asked->front() == smdebug::detail::locations::event_key(0, "worker_0"));
        // Small files that are read with others, where the storage does not prefetch them itself.
        for (const bool small_alone : {true, false}) {
            store.asked->clear();
            store.small_alone = small_alone;
            const basic_trial<prefetching> other{store};
            files_ahead again;
            event_reader small{*state_of(other), *from, which, reduction_set::all(), {.ahead = &again}};
            std::size_t before_last = 0;
            small.read(
                files, [](const smdebug::detail::scanned_tensor&) {},
                [&](std::size_t place) {
                    before_last = place == 2 ? store.asked->size() : before_last;
                    return true;
                });
            CHECK(before_last == (small_alone ? 0 : (near ? 3 : 19)));
            CHECK(store.asked->size() == (small_alone ? 0 : (near ? 3 : 20)));
        }
    }
}

TEST_CASE("event_files: when a file is done nothing of it is held") {
    struct tracking_storage : byte_counting_storage {
        using byte_counting_storage::byte_counting_storage;
        std::shared_ptr<std::weak_ptr<const void>> last = std::make_shared<std::weak_ptr<const void>>();
        [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const override {
            const auto shown = byte_counting_storage::view(key);
            if (!shown) {
                return std::nullopt;
            }
            byte_buffer copy = byte_buffer::take(std::vector<std::byte>(shown->data(), shown->data() + shown->size()));
            *last = copy.owner();
            return copy;
        }
    };
    const tracking_storage store{a_run()};
    store.seen->shows = true;
    const basic_trial<tracking_storage> run{store};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{.range = {0, 2}}, *from};
    event_reader walk{
        *state_of(run), *from, which, reduction_set::all(), {.in_place = true, .limits = {.in_place_from = 1}}};
    std::vector<const catalog::file*> files = from->files_in({});
    files.resize(2);
    int seen = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor&) {
            ++seen;
            CHECK_FALSE(store.last->expired());
        },
        [&](std::size_t) {
            CHECK(store.last->expired());
            return true;
        });
    CHECK(seen == 6);
    CHECK(store.seen->shown == 2);
}

TEST_CASE("event_files: where little of a file is wanted, little is read") {
    const byte_counting_storage store{a_run()};
    const counted_trial run{store};
    const reading_limits limits{.sparse_from = 20'000, .small_piece = 256};
    CHECK(walked(run, {.regex = "^(first|last)$"}, limits) == texts{"0 first 0.000000", "0 last 0.000000",
                                                                    "1 first 1.000000", "1 last 2.000000", "2 first",
                                                                    "2 last", "3 first 3.000000", "3 last 6.000000"});
    CHECK(store.seen->whole == 0);
    CHECK(store.seen->ranged <= 6 * 256);
    *store.seen = {};
    CHECK(walked(run, {.names = texts{"large"}}, limits).size() == 4);
    CHECK(store.seen->ranged == 0);
}

TEST_CASE("event_files: a file without selected records is not read; its saved shapes are visited") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {1})}, .shapes = {{"shaped", "original", {2}}}});
    build.step({.step = 1, .tensors = {tensor_of<float>("b", {2})}});
    build.end();
    const byte_counting_storage store{inner};
    const counted_trial run{store};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{.regex = "^(b|shaped)$"}, *from};
    event_reader walk{*state_of(run), *from, which, reduction_set::all(), {}};
    texts seen;
    const std::vector<const catalog::file*> files = from->files_in({});
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            CHECK(tensor.failure() == nullptr);
            seen.emplace_back(tensor.name);
        },
        [](std::size_t) { return true; });
    CHECK(seen == texts{"shaped", "b"});
    CHECK(store.seen->whole == inner.size(smdebug::detail::locations::event_key(1, "worker_0")));
    CHECK(store.seen->ranged == 0);
}

TEST_CASE("event_files: no views are requested from a storage that declares them not worthwhile") {
    struct cached : byte_counting_storage {
        using byte_counting_storage::byte_counting_storage;
        [[nodiscard]] storage_abilities abilities() const override {
            storage_abilities can = byte_counting_storage::abilities();
            can.views = false;
            return can;
        }
    };
    const cached store{a_run()};
    store.seen->shows = true;
    const basic_trial<cached> run{store};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{}, *from};
    event_reader walk{
        *state_of(run), *from, which, reduction_set::all(), {.in_place = true, .limits = {.in_place_from = 1}}};
    const std::vector<const catalog::file*> files = from->files_in({});
    walk.read(
        files, [](const smdebug::detail::scanned_tensor&) {}, [](std::size_t) { return true; });
    CHECK(store.seen->shown == 0);
    CHECK(store.seen->whole > 120'000);
}
