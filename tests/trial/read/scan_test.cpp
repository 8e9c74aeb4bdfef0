#include <smdebug/trial/read/scan.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

memory_storage long_run(std::size_t steps) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (std::size_t step = 0; step < steps; ++step) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            build.step({.step = static_cast<step_number>(step),
                        .tensors = {tensor_of<float>("z", {static_cast<float>(step)}), tensor_of<float>("a", {1, 2})},
                        .worker = worker});
        }
    }
    build.end();
    return store;
}

std::string line_of(const smdebug::detail::scanned_tensor& tensor) {
    std::string line = std::to_string(tensor.step) + " ";
    line.append(tensor.worker).append(" ").append(tensor.name);
    return line + (tensor.values() != nullptr ? "" : " missing");
}

template <class Trial>
texts scanned(const Trial& run, const smdebug::detail::scan_options& options = {}) {
    texts lines;
    smdebug::detail::scan(state_of(run), options,
                          [&](const smdebug::detail::scanned_tensor& tensor) { lines.push_back(line_of(tensor)); });
    return lines;
}

template <class Trial>
texts scanned_in_parts(const Trial& run, smdebug::detail::scan_options options) {
    texts lines;
    std::size_t last = 0;
    options.how.progress = [&](std::size_t done, std::size_t all) {
        CHECK(done > last);
        CHECK(done <= all);
        last = done;
    };
    smdebug::detail::part_stream<texts> parts{
        state_of(run), options, {}, [](texts& part, const smdebug::detail::scanned_tensor& tensor) {
            part.push_back(line_of(tensor));
        }};
    while (texts* const part = parts.next()) {
        lines.insert(lines.end(), part->begin(), part->end());
        part->clear();
    }
    CHECK(parts.is_complete());
    CHECK(last == catalog_of(run)->file_count);
    return lines;
}

// A storage without read_each that refuses one key.
class refusing_storage {
public:
    refusing_storage(memory_storage inner, std::string refused)
        : inner_(std::move(inner)), refused_(std::move(refused)) {}
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        if (key == refused_) {
            throw access_denied("no", {.where = refused_});
        }
        return inner_.read(key, where);
    }
    [[nodiscard]] texts list(std::string_view prefix, std::string_view after) const {
        return inner_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_.size(key); }
    [[nodiscard]] std::string name() const { return inner_.name(); }

private:
    memory_storage inner_;
    std::string refused_;
};

}  // namespace

TEST_CASE("scan: by step, then worker, then as in the file") {
    const memory_trial run{long_run(2)};
    CHECK(scanned(run) == texts{"0 worker_0 z", "0 worker_0 a", "0 worker_1 z", "0 worker_1 a", "1 worker_0 z",
                                "1 worker_0 a", "1 worker_1 z", "1 worker_1 a"});
    CHECK(scanned(run, {.which = {.names = texts{"a", "unknown"}}}) ==
          texts{"0 worker_0 a", "0 worker_1 a", "1 worker_0 a", "1 worker_1 a"});
    CHECK(scanned(run, {.which = {.names = texts{}}}).empty());
}

TEST_CASE("scan: every tensor of every golden run agrees with its handle") {
    for (const char* name : {"torch_mlp", "torch_ddp", "dtypes", "reductions_raw", "reductions_only", "reductions_tf",
                             "shapes_raw", "tf_workers", "xgboost_like", "mode_gaps", "missing_event", "checksummed",
                             "damaged/flipped_length", "damaged/truncated_event", "damaged/index_swapped",
                             "damaged/index_start_beyond", "damaged/flipped_payload_crc", "double__underscore"}) {
        const local_trial run{std::string{SMDEBUG_TEST_DATA "/golden/"} + name};
        std::size_t seen = 0;
        smdebug::detail::scan(state_of(run), {}, [&](const smdebug::detail::scanned_tensor& tensor) {
            ++seen;
            const auto handle = run.tensor(tensor.name);
            const std::string worker{tensor.worker};
            const auto value = handle.find_value(tensor.step, {.worker = worker});
            REQUIRE_MESSAGE(value.has_value() == (tensor.values() != nullptr), name, " ", tensor.name);
            if (value) {
                const tensor_view a = value->view();
                const tensor_view b = tensor.values()->view();
                CHECK(a.type == b.type);
                CHECK(std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end()));
                CHECK(std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end()));
                CHECK(std::equal(a.strings.begin(), a.strings.end(), b.strings.begin(), b.strings.end()));
            } else if (tensor.failure() != nullptr) {
                CHECK(value.error().damage == tensor.failure()->damage);
                CHECK(value.error().offset == tensor.failure()->offset);
                if (value.error().why != lookup_failure_kind::tensor_not_saved) {
                    CHECK(value.error().why == tensor.failure()->why);
                    CHECK(value.error().where == tensor.failure()->where);
                }
            }
            if (!tensor.file_failed()) {
                const auto saved = handle.saved_reduction_values(tensor.step, {.worker = worker});
                for (const auto& [key, number] : saved) {
                    REQUIRE(tensor.saved.contains(key));
                    const double mine = tensor.saved_value[key.index()];
                    CHECK((mine == number || (mine != mine && number != number)));
                }
            }
        });
        CHECK_MESSAGE(seen > 0, name);
    }
}

TEST_CASE("part_stream: any number of threads delivers the parts in the order of the files") {
    const memory_trial run{long_run(200)};
    const texts expected = scanned(run);
    CHECK(expected.size() == 800);
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
        CHECK(scanned_in_parts(run, {.how = {.threads = threads}}) == expected);
    }
    CHECK(scanned_in_parts(memory_trial{long_run(0)}, {.how = {.threads = 4}}).empty());
}

TEST_CASE("scan: an unreadable file is passed on as a failure, and the walk continues") {
    const std::string refused = smdebug::detail::locations::event_key(1, "worker_0");
    const basic_trial<refusing_storage> run{refusing_storage{long_run(3), refused}};
    for (const unsigned threads : {1U, 2U}) {
        const texts lines = scanned_in_parts(run, {.how = {.threads = threads}});
        REQUIRE(lines.size() == 12);
        CHECK(std::count_if(lines.begin(), lines.end(),
                            [](const std::string& line) { return line.ends_with("missing"); }) == 2);
        CHECK(lines[4] == "1 worker_0 z missing");
    }
    smdebug::detail::scan(state_of(run), {}, [&](const smdebug::detail::scanned_tensor& tensor) {
        if (tensor.file_failed()) {
            CHECK(tensor.failure()->where == refused);
            CHECK(tensor.failure()->note == "no");
        }
    });
}

TEST_CASE("part_stream: any exception from the visitor propagates, on any number of threads") {
    const memory_trial run{long_run(40)};
    for (const unsigned threads : {1U, 3U}) {
        smdebug::detail::part_stream<int> parts{
            state_of(run), {.how = {.threads = threads}}, 0, [](int&, const smdebug::detail::scanned_tensor& tensor) {
                if (tensor.step == 20) {
                    throw value_error("the visitor's own");
                }
            }};
        const auto take_all = [&] {
            while (parts.next() != nullptr) {
            }
        };
        CHECK_THROWS_AS(take_all(), value_error);
        CHECK_FALSE(parts.is_complete());
    }
}

TEST_CASE("scan: a selection narrows by step, mode, worker, regex and collection, all at once") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"weights", {"w1", "w2"}}});
    for (const char* worker : {"worker_0", "worker_1"}) {
        build.step(
            {.step = 0, .tensors = {tensor_of<float>("w1", {1}), tensor_of<float>("loss", {1})}, .worker = worker});
        build.step({.step = 1,
                    .tensors = {tensor_of<float>("w1", {1}), tensor_of<float>("w2", {1})},
                    .mode = mode::eval,
                    .mode_step = 0,
                    .worker = worker});
    }
    build.end();
    const memory_trial run{store};
    CHECK(scanned(run, {.which = {.range = {1, {}}, .worker = "worker_1"}}) == texts{"1 worker_1 w1", "1 worker_1 w2"});
    CHECK(scanned(run, {.which = {.regex = "^w", .mode = mode::train, .worker = "worker_0"}}) ==
          texts{"0 worker_0 w1"});
    CHECK(scanned(run, {.which = {.regex = "2$", .collection = "weights", .mode = mode::eval, .worker = "worker_0"}}) ==
          texts{"1 worker_0 w2"});
    CHECK(scanned(run, {.which = {.names = texts{"loss", "w1"}, .collection = "weights", .range = {0, 1}}}) ==
          texts{"0 worker_0 w1", "0 worker_1 w1"});
    CHECK(scanned(run, {.which = {.worker = "worker_9"}}).empty());
    CHECK(thrown_code([&] { static_cast<void>(scanned(run, {.which = {.collection = "unknown"}})); }) ==
          error_code::collection_unavailable);
    CHECK_THROWS_AS(scanned(run, {.which = {.regex = "("}}), value_error);
}

TEST_CASE("part_stream: a stop token ends the walk at some place; everything before it was visited") {
    const memory_trial run{long_run(500)};
    const texts whole = scanned(run);
    for (const unsigned threads : {1U, 3U}) {
        std::stop_source source;
        texts lines;
        smdebug::detail::part_stream<texts> parts{
            state_of(run),
            {.how = {.threads = threads, .stop = source.get_token()}},
            {},
            [](texts& part, const smdebug::detail::scanned_tensor& tensor) { part.push_back(line_of(tensor)); }};
        while (texts* const part = parts.next()) {
            lines.insert(lines.end(), part->begin(), part->end());
            part->clear();
            source.request_stop();
        }
        CHECK_FALSE(parts.is_complete());
        CHECK(!lines.empty());
        REQUIRE(lines.size() < whole.size());
        CHECK(std::equal(lines.begin(), lines.end(), whole.begin()));
    }
}
