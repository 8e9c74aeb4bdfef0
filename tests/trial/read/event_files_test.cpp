#include <smdebug/trial/read/event_files.hpp>

#include "support/run_builder.hpp"

#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/event_reader.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// The five things of a storage; counts the bytes that are read of event files, and shows them in place if it is to.
class counting_storage {
public:
    struct counts {
        std::uint64_t whole = 0;
        std::uint64_t ranged = 0;
        int shown = 0;
        bool shows = false;
    };
    std::shared_ptr<counts> seen = std::make_shared<counts>();

    explicit counting_storage(memory_storage inner) : inner_(std::move(inner)) {}
    [[nodiscard]] byte_buffer read(std::string_view key) const {
        byte_buffer bytes = inner_.read(key);
        seen->whole += key.starts_with("events/") ? bytes.size() : 0;
        return bytes;
    }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        byte_buffer bytes = inner_.read(key, where);
        seen->ranged += bytes.size();
        return bytes;
    }
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const {
        if (!seen->shows) {
            return std::nullopt;
        }
        ++seen->shown;
        return inner_.view(key);
    }
    [[nodiscard]] texts list(std::string_view prefix, std::string_view after) const {
        return inner_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_.size(key); }
    [[nodiscard]] std::string name() const { return inner_.name(); }

private:
    memory_storage inner_;
};

using counted_trial = basic_trial<counting_storage>;

/// Four steps of a large tensor between two small ones; the event file of the third step is not there.
memory_storage a_run() {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 4; ++step) {
        const auto number = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("first", {number}),
                                tensor_of<float>("large", std::vector<float>(10'000, number)),
                                tensor_of<float>("last", {number, number})}});
    }
    build.end();
    store.remove(smdebug::detail::locations::event_key(2, "worker_0"));
    return store;
}

template <class Trial>
texts walked(const Trial& run, const tensor_selection& chosen, const reading_limits& limits) {
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{chosen, *from};
    event_reader walk{*run.state(), *from, which, reduction_set::all(), {.in_place = true, .limits = limits}};
    const std::vector<const catalog::file*> files = from->files_in({});
    texts lines;
    std::size_t done = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            CHECK(tensor.step == files.at(done)->step);
            std::string line = std::to_string(tensor.step) + " " + std::string{tensor.name};
            if (tensor.values() != nullptr) {
                const auto sum = run.state()->kernel().reduce(tensor.values()->view(), reduction::sum);
                line += " " + std::to_string((*sum)(reduction::sum));
            } else {
                CHECK(tensor.failure()->why == absence::event_file_missing);
            }
            lines.push_back(line);
        },
        [&](std::size_t place) {
            CHECK(place == done);
            ++done;
            return true;
        });
    CHECK(done == files.size());
    return lines;
}

}  // namespace

TEST_CASE("event_files: whole, in place or in pieces, a file holds the same") {
    const counting_storage store{a_run()};
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
    // The missing file is not shown, and the next ones are read before another is asked for.
    *store.seen = {.shows = true};
    CHECK(walked(run, {}, {.in_place_from = 30'000, .largest_whole = 30'000}) == expected);
    CHECK(store.seen->shown == 3);
    CHECK(store.seen->ranged > 40'000);
    CHECK(store.seen->ranged < 60'000);
}

TEST_CASE("event_files: values are right beside saved reductions, in whatever order they lie and pieces come") {
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
    const counting_storage store{inner};
    const counted_trial run{store};
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{{.names = texts{"w"}}, *from};
    for (const std::uint64_t piece : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 20U}) {
        event_reader walk{*run.state(),
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
                const auto all = run.state()->kernel().reduce(tensor.values()->view(), reduction_set::all());
                CHECK((*all)(reduction::min) == 2);
                CHECK((*all)(reduction::max) == 2);
                CHECK((*all)(reduction::sum) == 80'000);
            },
            [](std::size_t) { return true; });
        CHECK(seen == 2);
    }
}

TEST_CASE("event_files: a file that is larger than its index says, too large to be read whole, is read in pieces") {
    class refusing_storage : public counting_storage {
    public:
        using counting_storage::counting_storage;
        using counting_storage::read;
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            if (key.starts_with("events/")) {
                throw unsupported("too large", {.where = std::string{key}});
            }
            return counting_storage::read(key);
        }
    };
    const refusing_storage store{a_run()};
    const basic_trial<refusing_storage> run{store};
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{{}, *from};
    event_reader walk{*run.state(), *from, which, reduction_set::all()};
    const std::vector<const catalog::file*> files = from->files_in({});
    std::size_t read = 0;
    std::size_t missing = 0;
    std::size_t done = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            tensor.values() != nullptr ? ++read : ++missing;
            CHECK((tensor.values() != nullptr || tensor.failure()->why == absence::event_file_missing));
        },
        [&](std::size_t) { return ++done > 0; });
    CHECK(read == 9);
    CHECK(missing == 3);
    CHECK(done == 4);
}

TEST_CASE("event_files: files are asked for ahead while they are not near, and now and then when they are") {
    struct prefetching : counting_storage {
        using counting_storage::counting_storage;
        std::shared_ptr<texts> asked = std::make_shared<texts>();
        bool near = false;
        bool small_alone = true;
        [[nodiscard]] storage_abilities abilities() const { return {.reads_ahead = small_alone}; }
        [[nodiscard]] bool read_ahead(std::string_view key) const {
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
        const auto from = run.snapshot();
        const smdebug::detail::selected_tensors which{{}, *from};
        files_ahead ahead;
        event_reader walk{*run.state(),
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
        // Small ones that are read with others: where the storage does not ask for such itself.
        for (const bool small_alone : {true, false}) {
            store.asked->clear();
            store.small_alone = small_alone;
            const basic_trial<prefetching> other{store};
            files_ahead again;
            event_reader small{*other.state(), *from, which, reduction_set::all(), {.ahead = &again}};
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

namespace {

/// Opens its objects, too, and counts that.
struct opening_storage_of_memory : counting_storage {
    using counting_storage::counting_storage;
    struct opened {
        int asked = 0;
        std::uint64_t bytes = 0;
        int open = 0;
        bool opens = true;
    };
    std::shared_ptr<opened> of_files = std::make_shared<opened>();

    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const {
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
        auto made = std::make_unique<object>(read(key), of_files);
        *seen = before;
        return made;
    }
};

}  // namespace

TEST_CASE(
    "event_files: a file that is opened holds the same, each byte is read once, and it is closed when it is done") {
    const counting_storage plain{a_run()};
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

TEST_CASE("event_files: what can be opened and looked at in place is both in turns, until one is known to be faster") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    for (step_number step = 0; step < 300; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {static_cast<float>(step)})}});
    }
    build.end();
    const texts expected = walked(counted_trial{counting_storage{inner}}, {}, {});
    const opening_storage_of_memory store{inner};
    store.seen->shows = true;
    CHECK(walked(basic_trial{store}, {}, {.in_place_from = 1, .opened_from = 1}) == expected);
    CHECK(store.of_files->asked >= 2);
    CHECK(store.seen->shown >= 2);
    CHECK(store.of_files->asked + store.seen->shown == 300);
    CHECK(store.seen->whole == 0);
}

TEST_CASE("event_files: a file whose records are wanted in another order than they lie is not opened") {
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

TEST_CASE("event_files: what returns false behind a file ends it, however the file was read") {
    for (const bool opens : {true, false}) {
        for (const std::uint64_t largest_whole : {std::uint64_t{1000}, std::uint64_t{1} << 20U}) {
            const opening_storage_of_memory store{a_run()};
            store.of_files->opens = opens;
            const basic_trial<opening_storage_of_memory> run{store};
            const auto from = run.snapshot();
            const smdebug::detail::selected_tensors which{{}, *from};
            const reading_limits limits{.opened_from = opens ? 1000U : 1'000'000U, .largest_whole = largest_whole};
            event_reader reader{*run.state(), *from, which, reduction_set::all(), {.limits = limits}};
            std::size_t seen = 0;
            CHECK_FALSE(reader.read(
                from->files_in({}), [&](const smdebug::detail::scanned_tensor&) { ++seen; },
                [](std::size_t place) { return place < 1; }));
            CHECK(seen == 6);
            CHECK(store.of_files->open == 0);
        }
    }
}

TEST_CASE("event_files: when a file is done nothing of it is held") {
    struct tracking_storage : counting_storage {
        using counting_storage::counting_storage;
        std::shared_ptr<std::weak_ptr<const void>> last = std::make_shared<std::weak_ptr<const void>>();
        [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const {
            const auto shown = counting_storage::view(key);
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
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{{.range = {0, 2}}, *from};
    event_reader walk{
        *run.state(), *from, which, reduction_set::all(), {.in_place = true, .limits = {.in_place_from = 1}}};
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
    const counting_storage store{a_run()};
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

TEST_CASE("event_files: a file that holds nothing of the selection is not touched; its saved shapes come") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {1})}, .shapes = {{"shaped", "original", {2}}}});
    build.step({.step = 1, .tensors = {tensor_of<float>("b", {2})}});
    build.end();
    const counting_storage store{inner};
    const counted_trial run{store};
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{{.regex = "^(b|shaped)$"}, *from};
    event_reader walk{*run.state(), *from, which, reduction_set::all(), {}};
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

TEST_CASE("event_files: a storage that says that views are not worth it is not asked for them") {
    struct cached : counting_storage {
        using counting_storage::counting_storage;
        [[nodiscard]] storage_abilities abilities() const { return {.views = false}; }
    };
    const cached store{a_run()};
    store.seen->shows = true;
    const basic_trial<cached> run{store};
    const auto from = run.snapshot();
    const smdebug::detail::selected_tensors which{{}, *from};
    event_reader walk{
        *run.state(), *from, which, reduction_set::all(), {.in_place = true, .limits = {.in_place_from = 1}}};
    const std::vector<const catalog::file*> files = from->files_in({});
    walk.read(
        files, [](const smdebug::detail::scanned_tensor&) {}, [](std::size_t) { return true; });
    CHECK(store.seen->shown == 0);
    CHECK(store.seen->whole > 120'000);
}

TEST_CASE("event_files: what takes long may be done at once where nobody waits for the file, and nobody measures") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    for (step_number step = 0; step < 300; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {static_cast<float>(step)})}});
    }
    build.end();
    const auto at_once = [](const auto& run, bool in_turn, const reading_limits& limits) {
        const auto from = run.snapshot();
        const smdebug::detail::selected_tensors which{{}, *from};
        event_reader walk{*run.state(), *from, which, {}, {.in_place = true, .in_turn = in_turn, .limits = limits}};
        std::size_t count = 0;
        walk.read(
            from->files_in({}), [&](const smdebug::detail::scanned_tensor& tensor) { count += tensor.at_once ? 1 : 0; },
            [](std::size_t) { return true; });
        return count;
    };
    const counted_trial whole{counting_storage{inner}};
    CHECK(at_once(whole, true, {}) == 300);
    CHECK(at_once(whole, false, {}) == 0);
    const counting_storage shown{inner};
    shown.seen->shows = true;
    CHECK(at_once(counted_trial{shown}, true, {.in_place_from = 1}) == 0);
    CHECK(shown.seen->shown == 300);
    // Opened, or looked at in place: timed at first, and now and then.
    const opening_storage_of_memory both{inner};
    both.seen->shows = true;
    const std::size_t some = at_once(basic_trial{both}, true, {.in_place_from = 1, .opened_from = 1});
    CHECK(some <= static_cast<std::size_t>(300 - both.seen->shown));
    const opening_storage_of_memory opened{inner};
    CHECK(at_once(basic_trial{opened}, true, {.opened_from = 1}) >= 200);
}
