// event_reader over a storage that reads many ranges together, compared with one that reads them one by one.
#include <smdebug/trial/read/event_reader.hpp>

#include "support/remote_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::string text_of(const smdebug::lookup_error& failed) {
    std::string text = " why " + std::to_string(static_cast<int>(failed.why)) + " " + failed.where + " " + failed.note;
    text += " damage " + std::to_string(static_cast<int>(failed.damage)) + " at " + std::to_string(failed.offset);
    return text + (failed.cause != nullptr ? " caused" : "");
}

/// Empty if there is none.
std::string first_difference(const texts& one, const texts& other) {
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
        const std::string a = i < one.size() ? one[i] : "nothing";
        const std::string b = i < other.size() ? other[i] : "nothing";
        if (a != b) {
            return a + " | " + b;
        }
    }
    return {};
}

/// Everything that a walk visits, in order.
template <class Trial>
texts walked(const Trial& run, const tensor_selection& chosen, const reading_config& config,
             reduction_set saved = reduction_set::all()) {
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{chosen, *from};
    event_reader walk{*state_of(run), *from, which, saved, config};
    const std::vector<const catalog::file*> files = from->files_in({});
    texts lines;
    std::size_t done = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            std::string line = std::to_string(done) + " " + std::to_string(tensor.step) + " ";
            line.append(tensor.worker).append(" ").append(tensor.name).append(" in ").append(tensor.event_file);
            if (tensor.values() != nullptr) {
                const auto sum = state_of(run)->kernel().reduce(tensor.values()->view(), reduction::sum);
                line += " sum " + std::to_string((*sum)(reduction::sum)) + " from " + std::to_string(tensor.offset);
            }
            line += tensor.saved_shape != nullptr ? " of rank " + std::to_string(tensor.saved_shape->size()) : "";
            line += tensor.failure() != nullptr ? text_of(*tensor.failure()) : "";
            line += tensor.file_failed() ? " as all in the file" : "";
            for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
                if (tensor.saved.contains(reduction_key::from_index(i))) {
                    line += " " + reduction_key::from_index(i).name() + " " + std::to_string(tensor.saved_value[i]);
                }
            }
            for (const unread_reduction& failed : tensor.saved_failures) {
                line += " not " + failed.key.name() + text_of(failed.why);
            }
            lines.push_back(line);
        },
        [&](std::size_t place) {
            lines.push_back("done " + std::to_string(place));
            ++done;
            return true;
        });
    return lines;
}

/// Files of all kinds and sizes: large, small, missing, cut, damaged, without a name.
memory_storage random_run(std::mt19937& random) {
    const auto below = [&](unsigned limit) { return static_cast<std::size_t>(random() % limit); };
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number number = 0; number < 12; ++number) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            written_step wanted{.step = number, .worker = worker, .footers = record::footer_kind::checksum};
            for (std::size_t left = below(6); left > 0; --left) {
                const std::string name(1, static_cast<char>('a' + below(5)));
                const std::size_t size = below(3) == 0 ? below(3000) : below(30);
                wanted.tensors.push_back(
                    tensor_of<float>(name, std::vector<float>(size, static_cast<float>(below(100)))));
                for (const char* reduction : {"mean", "max", "abs_l2"}) {
                    if (below(4) == 0) {
                        wanted.tensors.push_back(
                            tensor_of<float>("smdebug/reductions/" + std::string{reduction} + "/" + name,
                                             {static_cast<float>(size)}, {}));
                    }
                }
            }
            std::shuffle(wanted.tensors.begin(), wanted.tensors.end(), random);
            if (below(4) == 0) {
                wanted.shapes.push_back({"a", "a:0", {2, 3}});
            }
            build.step(wanted);
            const std::string key = smdebug::detail::locations::event_key(number, worker);
            const byte_buffer bytes = store.read(key);
            std::vector<std::byte> changed(bytes.view().begin(), bytes.view().end());
            switch (below(8)) {
                case 0:
                    store.remove(key);
                    break;
                case 1:
                    changed.resize(below(static_cast<unsigned>(changed.size() + 1)));
                    store.write(key, changed);
                    break;
                case 2:
                    if (!changed.empty()) {
                        changed[below(static_cast<unsigned>(changed.size()))] ^= std::byte{1};
                    }
                    store.write(key, changed);
                    break;
                case 3:
                    build.put(smdebug::detail::locations::index_key(number, worker),
                              index_text(wanted, encode_events(wanted).places, ""));
                    break;
                default:
                    break;
            }
        }
    }
    build.end();
    return store;
}

memory_storage wide_run(step_number steps, int tensors) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number number = 0; number < steps; ++number) {
        written_step wide{.step = number};
        for (int i = 0; i < tensors; ++i) {
            wide.tensors.push_back(tensor_of<float>("t" + std::to_string(i), std::vector<float>(1000, 1.0F)));
        }
        build.step(wide);
    }
    build.end();
    return store;
}

/// Fails every read that touches certain bytes.
auto poison(const memory_storage& store, std::mt19937& random) {
    std::map<std::string, std::uint64_t, std::less<>> bad;
    for (step_number number = 0; number < 12; ++number) {
        const std::string key = smdebug::detail::locations::event_key(number, "worker_0");
        if (const auto size = store.size(key).value_or(0); size > 0 && random() % 2 == 0) {
            bad.emplace(key, random() % size);
        }
    }
    return [bad](std::string_view key, byte_range where) {
        const auto found = bad.find(key);
        if (found != bad.end() && where.offset <= found->second && found->second - where.offset < where.length) {
            if (found->second % 5 == 0) {
                throw corrupt_data("the disk says no", {.where = std::string{key}});
            }
            throw unavailable("the line is down", {.where = std::string{key}});
        }
    };
}

}  // namespace

TEST_CASE(
    "scans of remote storages: a storage that reads ranges together gives what reading one by one gives, failures "
    "too") {
    std::mt19937 random{7};
    std::size_t failures = 0;
    for (int turn = 0; turn < 60; ++turn) {
        const memory_storage inner = random_run(random);
        const auto bad = turn % 3 == 0 ? std::function<void(std::string_view, byte_range)>{[](auto, auto) {}}
                                       : std::function<void(std::string_view, byte_range)>{poison(inner, random)};
        const distant_storage plain{inner};
        const remote_storage remote{inner, {.gap = random() % 200, .largest_request = 100 + random() % 3000}};
        const reluctant_remote_storage reluctant{inner};
        plain.before_read(bad);
        remote.before_read(bad);
        reluctant.before_read(bad);
        const trial one_by_one{any_storage{plain}};
        const trial together{any_storage{remote}};
        const trial apart{any_storage{reluctant}};
        const basic_trial<remote_storage> not_erased{remote};
        for (const char* regex : {".*", "^[ab]$", "^c$"}) {
            // Pieces of one byte: each record is read alone, so that it fails alone.
            const reading_config config{.in_place = random() % 2 == 0,
                                        .limits = {.in_place_from = 100,
                                                   .largest_whole = 500 + random() % 10'000,
                                                   .large_piece = 1,
                                                   .sparse_from = random() % 3000,
                                                   .small_piece = 1,
                                                   .largest_page = 10 + random() % 20'000}};
            const reduction_set saved = random() % 3 == 0 ? reduction_set{reduction::max} : reduction_set::all();
            const texts expected = walked(one_by_one, {.regex = regex}, config, saved);
            failures += static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), [](const auto& line) {
                return line.find(" caused") != std::string::npos;
            }));
            CHECK(first_difference(walked(together, {.regex = regex}, config, saved), expected) == std::string{});
            CHECK(first_difference(walked(not_erased, {.regex = regex}, config, saved), expected) == std::string{});
            remote.asked();
            reluctant.asked();
            CHECK(first_difference(walked(apart, {.regex = regex}, config, saved), expected) == std::string{});
            for (const std::string& call : reluctant.asked().calls) {
                CHECK(call.starts_with("each "));
            }
        }
    }
    CHECK(failures > 50);
}

TEST_CASE(
    "scans of remote storages: the sparse files of a run come with one call, records that lie together with one "
    "request") {
    memory_storage inner;
    run_builder build{inner};
    build.collections();
    for (step_number number = 0; number < 300; ++number) {
        build.step({.step = number,
                    .tensors = {tensor_of<float>("first", {1}), tensor_of<float>("second", {2}),
                                tensor_of<float>("large", std::vector<float>(number % 10 == 3 ? 1 : 5000, 1.0F)),
                                tensor_of<float>("last", {3})}});
    }
    build.end();
    const remote_storage store{inner, {.gap = 100}};
    const trial run{any_storage{store}};
    const reading_config config{.limits = {.sparse_from = 10'000}};
    store.asked();
    // Every tenth file is small, and is read whole together with others.
    CHECK(walked(run, {.regex = "^(first|second|last)$"}, config).size() == 4 * 300);
    const asked_for asked = store.asked();
    CHECK(asked.calls.size() == 2);
    CHECK(asked.requests.size() == 270 * 2 + 30);
    CHECK(asked.bytes < 300 * 1000);
    // Nothing is wanted of a file: nothing is requested.
    CHECK(walked(run, {.regex = "^none$"}, config).size() == 300);
    CHECK(store.asked().requests.empty());
    // Everything is wanted: files are read whole, up to 256 in a call.
    CHECK(walked(run, {}, config).size() == 5 * 300);
    CHECK(store.asked().calls == texts{"each 256", "each 44"});
}

TEST_CASE("scans of remote storages: if much of a file is wanted, one page is held at a time") {
    const remote_storage store{wide_run(1, 40)};
    const trial run{any_storage{store}};
    store.asked();
    CHECK(walked(run, {}, {.limits = {.largest_whole = 1000, .largest_page = 50'000}}).size() == 41);
    const asked_for asked = store.asked();
    CHECK(asked.calls == texts{"ranges 12", "ranges 12", "ranges 12", "ranges 4"});
    CHECK(asked.requests.size() == 4);
}

TEST_CASE("scans of remote storages: several threads give the same as one") {
    std::mt19937 random{8};
    const memory_storage inner = random_run(random);
    const remote_storage store{inner};
    store.before_read(poison(inner, random));
    const trial run{any_storage{store}};
    const auto lines_of = [&](unsigned threads) {
        texts lines;
        smdebug::detail::part_stream<texts> parts{
            state_of(run),
            {.how = {.threads = threads}},
            {},
            [](texts& part, const smdebug::detail::scanned_tensor& tensor) {
                part.push_back(std::to_string(tensor.step) + std::string{tensor.worker} + std::string{tensor.name} +
                               (tensor.failure() != nullptr ? text_of(*tensor.failure()) : ""));
            }};
        while (texts* const part = parts.next()) {
            lines.insert(lines.end(), part->begin(), part->end());
            part->clear();
        }
        CHECK(parts.is_complete());
        return lines;
    };
    const texts expected = lines_of(1);
    CHECK(expected.size() > 20);
    CHECK(first_difference(lines_of(3), expected) == std::string{});
}

TEST_CASE("scans of remote storages: an exception from a visit ends the walk, even inside a batch") {
    const remote_storage store{wide_run(3, 2)};
    const trial run{any_storage{store}};
    const auto from = catalog_of(run);
    const smdebug::detail::selected_tensors which{{}, *from};
    event_reader walk{*state_of(run), *from, which, reduction_set::all(), {.limits = {.largest_whole = 10}}};
    const std::vector<const catalog::file*> files = from->files_in({});
    int seen = 0;
    CHECK_THROWS_AS(walk.read(
                        files,
                        [&](const smdebug::detail::scanned_tensor&) {
                            ++seen;
                            throw unavailable("the visitor's own");
                        },
                        [](std::size_t) { return true; }),
                    unavailable);
    CHECK(seen == 1);
}

TEST_CASE("scans of remote storages: returning false after a file ends the scan, even inside a batch") {
    const memory_storage inner = wide_run(6, 2);
    for (const std::uint64_t largest_whole : {std::uint64_t{10}, std::uint64_t{1} << 20U}) {
        const remote_storage store{inner};
        const trial run{any_storage{store}};
        const auto from = catalog_of(run);
        const smdebug::detail::selected_tensors which{{}, *from};
        event_reader reader{
            *state_of(run), *from, which, reduction_set::all(), {.limits = {.largest_whole = largest_whole}}};
        std::size_t seen = 0;
        CHECK_FALSE(reader.read(
            from->files_in({}), [&](const smdebug::detail::scanned_tensor&) { ++seen; },
            [](std::size_t place) { return place < 2; }));
        CHECK(seen == 3 * 2);
    }
}
