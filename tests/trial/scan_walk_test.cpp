#include <smdebug/trial/scan_walk.hpp>

#include "support/run_builder.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
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
    store.remove(locations::event_key(2, "worker_0"));
    return store;
}

texts walked(const counted_trial& run, const tensor_selection& chosen, const reading_limits& limits) {
    const auto from = run.snapshot();
    const selected_tensors which{chosen, *from};
    scan_walk walk{*run.state(), *from, which, reduction_set::all(), false, limits};
    const std::vector<const catalog::file*> files = from->all_files();
    texts lines;
    std::size_t done = 0;
    walk.walk(
        files,
        [&](std::size_t place, const scanned_tensor& tensor) {
            CHECK(place == done);
            std::string line = std::to_string(tensor.step) + " " + std::string{tensor.name};
            if (tensor.values != nullptr) {
                const auto sum = run.state()->kernel().reduce(tensor.values->view(), reduction::sum);
                line += " " + std::to_string((*sum)(reduction::sum));
            } else {
                CHECK(tensor.failure->why == absence::event_file_missing);
            }
            lines.push_back(line);
        },
        [&](std::size_t place) {
            CHECK(place == done);
            ++done;
        });
    CHECK(done == files.size());
    return lines;
}

}  // namespace

TEST_CASE("extent_of: the end of the last record, and the bytes that are wanted") {
    const memory_trial run{a_run()};
    const auto from = run.snapshot();
    const layout& entries = from->layout_of(*from->all_files().front());
    const file_extent all = extent_of(entries, selected_tensors{{}, *from});
    const byte_range last = entries.values(*from->names->find("last"))->record;
    CHECK(all.end == last.offset + last.length);
    CHECK(all.wanted > 40'000);
    CHECK(all.wanted <= all.end);
    const file_extent some = extent_of(entries, selected_tensors{{.regex = "^la(st|rge)$"}, *from});
    CHECK(some.end == all.end);
    CHECK(some.wanted < all.wanted);
    CHECK(extent_of(entries, selected_tensors{{.names = texts{"last"}}, *from}).wanted == last.length);
    CHECK(all.records == 3);
    CHECK(some.records == 2);
}

TEST_CASE("scan_walk: whole, in place or in pieces, a file holds the same") {
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
    *store.seen = {.shows = true};
    CHECK(walked(run, {}, {.largest_whole = 30'000}) == expected);
    CHECK(store.seen->shown == 4);
    CHECK(store.seen->whole + store.seen->ranged == 0);
}

TEST_CASE("scan_walk: where little of a file is wanted, little is read") {
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
