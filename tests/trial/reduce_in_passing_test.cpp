// Archives that are reduced while they are inflated: the same results, and nothing is inflated again.
#include <smdebug/trial/reduce_in_passing.hpp>

#include "support/archive_builder.hpp"
#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/shared_trial.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

#include <variant>

using namespace smdebug;
using namespace smdebug_test;

namespace {

using plain_counting = counting_storage<counted_abilities{.versions = false, .batches = false}>;
using archived_run = basic_trial<archive_storage>;
using objects = std::map<std::string, std::string>;

constexpr step_number steps = 4;

/// A user's kernel, whose results are unknown to the library.
struct own_kernel : scalar_kernel {};

/// Small and large tensors of all kinds that scans treat differently.
memory_storage written_run() {
    memory_storage store;
    run_builder build{store};
    build.collections();
    std::vector<float> large(700'000);
    std::vector<double> middle(9'000, 1e200);
    for (std::size_t i = 0; i < large.size(); ++i) {
        large[i] = static_cast<float>(i * 7919 % 1009) - 400;
        middle[i % middle.size()] *= i % 1000 == 0 ? -0.5 : 1;
    }
    middle[17] = std::nan("");
    for (step_number step = 0; step < steps; ++step) {
        build.step(
            {.step = step,
             .tensors =
                 {tensor_of<float>("small", {1, 2}),
                  tensor_of<float>("large", large),
                  tensor_of<float>("smdebug/reductions/mean/middle", {5}, {}),
                  tensor_of<double>("middle", middle),
                  {.name = "booleans",
                   .type = dtype::boolean,
                   .shape = {5'000},
                   .content = std::vector<std::byte>(5'000, std::byte{1})},
                  {.name = "words", .type = dtype::string, .shape = {2}, .content = {}, .strings = {"one", "two"}},
                  tensor_of<float>("twice", std::vector<float>(300, 1)),
                  tensor_of<float>("twice", std::vector<float>(300, 2)),
                  tensor_of<std::int64_t>("last", {3})},
             .footers = record::footer_kind::checksum});
    }
    build.end();
    return store;
}

/// Packed in key order: index files come after the event files.
objects files_of(const memory_storage& store) {
    objects all;
    for (const std::string& key : store.list("", "")) {
        all.emplace(key, std::string{as_text(store.read(key).view())});
    }
    return all;
}

std::string line_of(const reduced_tensor& tensor) {
    std::string line = std::to_string(tensor.step) + " " + std::string{tensor.name} + " " +
                       std::to_string(static_cast<int>(tensor.type));
    for (std::size_t i = 0; tensor.shape != nullptr && i < tensor.shape->size(); ++i) {
        line += "," + std::to_string((*tensor.shape)[i]);
    }
    const auto& found = tensor.reductions;
    line += " " + std::to_string(found.count) + " " + std::to_string(found.nan) + " " + std::to_string(found.zeros);
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        if (found.computed.contains(reduction_key::from_index(i))) {
            char text[40];
            std::snprintf(text, sizeof text, " %a", found.value[i]);
            line += text;
        }
    }
    return line + (tensor.failure != nullptr ? " failed" : "");
}

template <class Trial>
std::vector<std::string> lines_of(const Trial& run, unsigned threads = 1) {
    std::vector<std::string> lines;
    for_each_tensor(run, {}, reduction_set::all(),
                    [&](const reduced_tensor& tensor) { lines.push_back(line_of(tensor)); }, {.threads = threads});
    return lines;
}

plain_counting holding(const std::string& archive) {
    memory_storage store;
    store.write("a", as_bytes(archive));
    return plain_counting{store};
}

archived_run opened(const plain_counting& store, const archive_options& options) {
    return archived_run{archive_storage{store, "a", {}, options}};
}

std::size_t reads_of(const plain_counting& store) {
    const auto calls = store.calls();
    return static_cast<std::size_t>(
        std::ranges::count_if(calls, [](const std::string& call) { return call == "part a"; }));
}

}  // namespace

TEST_CASE("reduce_in_passing: the results are those of the folder, and nothing is inflated a second time") {
    const memory_storage folder = written_run();
    const std::vector<std::string> expected = lines_of(memory_trial{folder});
    REQUIRE(expected.size() == steps * 7);
    const std::string tar = tar_of(files_of(folder));
    for (const std::string& archive : {gzip_of(tar, std::string::npos, 1), gzip_of(tar, 100'000, 1), zstd_of(tar)}) {
        const plain_counting store = holding(archive);
        // Almost none of the inflated bytes are cached: a second look would inflate.
        const archived_run run = opened(store, {.memory_bytes = 1 << 20, .in_passing = reduce_in_passing()});
        CHECK(reads_of(store) > 0);
        CHECK(lines_of(run) == expected);
        CHECK(lines_of(run, 2) == expected);
        // Which tensors were reduced while the archive was inflated.
        smdebug::detail::scan(smdebug::detail::state_of(run), {.saved = {}, .reading = {.stream = true}},
                              [](const smdebug::detail::scanned_tensor& tensor) {
                                  CAPTURE(tensor.name);
                                  CHECK((std::holds_alternative<const smdebug::detail::early_reductions*>(
                                            tensor.content)) == (tensor.name == "large" || tensor.name == "middle" ||
                                                                 tensor.name == "booleans" || tensor.name == "twice"));
                              });
        CHECK(reads_of(store) == 0);
        // Values are inflated again.
        CHECK(run.tensor("large").template value<float>(0).size() == 700'000);
        CHECK(reads_of(store) > 0);
    }
}

TEST_CASE("reduce_in_passing: without it, and with other kernels, archives are read as usual") {
    const memory_storage folder = written_run();
    const std::vector<std::string> expected = lines_of(memory_trial{folder});
    const plain_counting store = holding(gzip_of(tar_of(files_of(folder)), std::string::npos, 1));
    const archived_run run = opened(store, {.memory_bytes = 1 << 20});
    static_cast<void>(reads_of(store));
    CHECK(lines_of(run) == expected);
    CHECK(reads_of(store) > 0);
    const basic_trial<archive_storage, event_decoder<>, own_kernel> other{
        archive_storage{store, "a", {}, {.memory_bytes = 1 << 20, .in_passing = reduce_in_passing()}}};
    smdebug::detail::scan(
        smdebug::detail::state_of(other), {.reading = {.stream = true}},
        [](const smdebug::detail::scanned_tensor& tensor) {
            CHECK_FALSE(std::holds_alternative<const smdebug::detail::early_reductions*>(tensor.content));
        });
}

TEST_CASE("reduce_in_passing: damage is reported as usual, and the rest is available") {
    const memory_storage folder = written_run();
    objects files = files_of(folder);
    std::string& second = files.at(smdebug::detail::locations::event_key(1, "worker_0"));
    second[1'500'000] = static_cast<char>(second[1'500'000] ^ 1);  // a value
    std::string& third = files.at(smdebug::detail::locations::event_key(2, "worker_0"));
    third.resize(2'810'000);  // within "middle"
    memory_storage damaged;
    for (const auto& [key, content] : files) {
        damaged.write(key, as_bytes(content));
    }
    const std::vector<std::string> expected = lines_of(memory_trial{damaged});
    CHECK(std::ranges::count_if(expected, [](const std::string& line) { return line.ends_with("failed"); }) >= 5);
    const plain_counting store = holding(zstd_of(tar_of(files)));
    CHECK(lines_of(opened(store, {.in_passing = reduce_in_passing()})) == expected);
}

TEST_CASE("reduce_in_passing: data beyond its memory limit are read as usual; the memory is freed with the archive") {
    const memory_storage folder = written_run();
    const std::vector<std::string> expected = lines_of(memory_trial{folder});
    const plain_counting store = holding(gzip_of(tar_of(files_of(folder)), std::string::npos, 1));
    const auto passing = reduce_in_passing(4'000);
    for (int i = 0; i < 3; ++i) {
        const archived_run run = opened(store, {.in_passing = passing});
        std::size_t passed = 0;
        smdebug::detail::scan(
            smdebug::detail::state_of(run), {.reading = {.stream = true}},
            [&](const smdebug::detail::scanned_tensor& tensor) {
                passed += std::holds_alternative<const smdebug::detail::early_reductions*>(tensor.content) ? 1U : 0U;
            });
        CHECK(passed > 0);
        CHECK(passed < steps * 4);
        CHECK(lines_of(run) == expected);
    }
}

TEST_CASE("reduce_in_passing: rules that use reductions get them") {
    const plain_counting store = holding(gzip_of(tar_of(files_of(written_run())), std::string::npos, 1));
    shared_trial<archived_run> run{opened(store, {.memory_bytes = 1 << 20, .in_passing = reduce_in_passing()})};
    static_cast<void>(reads_of(store));
    std::size_t found = 0;
    for (step_number step = 0; step < steps; ++step) {
        run.begin_step(step);
        found += run.tensor("large").reduction_value(step, reduction::mean) < 1e9 ? 1U : 0U;
        found += run.tensor("large").reduction_value(step, reduction::max, {.abs = true}) > 0 ? 1U : 0U;
    }
    CHECK(found == 2 * steps);
    CHECK(run.tensor("small").value<float>(1)(1) == 2);
    CHECK(run.tensor("middle").reduction_value(1, reduction::mean) == 5);  // a saved one
    CHECK(reads_of(store) == 0);
}
