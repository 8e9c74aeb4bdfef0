#include <program/stats.hpp>

#include "program/captured.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/rows.hpp>
#include <program/text.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

struct table : ended {
    std::vector<texts> rows;  ///< with the header; no field of these runs has a line's end
};

table stats_of(cli::detail::stats_arguments given,
               cli::detail::output_format format = cli::detail::output_format::csv) {
    for (std::string& path : given.runs) {
        path = path.front() == '/' ? path : golden(path);
    }
    given.how.format = format;
    table got{ended_by([&](auto& to) { return cli::detail::stats(given, to); }), {}};
    for (const std::string& line : lines_of(got.out)) {
        texts fields(1);
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
                fields.back() += line[++i];
            } else if (line[i] == '"') {
                quoted = !quoted;
            } else if (line[i] == ',' && !quoted) {
                fields.emplace_back();
            } else {
                fields.back() += line[i];
            }
        }
        got.rows.push_back(std::move(fields));
    }
    return got;
}

texts column_of(const table& from, std::size_t place) {
    texts cells;
    for (std::size_t i = 1; i < from.rows.size(); ++i) {
        cells.push_back(from.rows[i].at(place));
    }
    return cells;
}

}  // namespace

TEST_CASE("stats: a file that claims terabytes is named with its run, and the next run has its rows") {
    const temporary_folder place;
    local_storage store{place.path()};
    const std::string events = smdebug::detail::locations::event_key(0, "worker_0");
    const written_step step{.step = 0, .tensors = {tensor_of<float>("w", {1})}};
    run_builder{store}.collections().step(step).end().put(smdebug::detail::locations::index_key(0, "worker_0"),
                                                          index_text(step, {{0, std::uint64_t{1} << 62U}}, events));
    std::string head(record::header_size, '\0');
    record::store_header(reinterpret_cast<std::byte*>(head.data()),
                         record::detail::header::of(std::uint64_t{1} << 41U));
    place.write(events, head);
    std::filesystem::resize_file(place.path() + "/" + events, (std::uint64_t{1} << 41U) + 16);  // sparse
    const table got = stats_of({.runs = {place.path(), "scalars"}});
    CHECK(got.status == cli::exit_error);
    CHECK(got.rows.size() > 1);
    CHECK(column_of(got, 0) == texts(got.rows.size() - 1, golden("scalars")));
    CHECK(contains(got.err, "CorruptRecord: " + events + ", record at byte 0"));
    CHECK(contains(got.err, "2199023255568 bytes, more than the 2147483712 allowed"));
    CHECK(contains(got.err, "[run " + place.path() + "]"));
}

TEST_CASE("stats: the columns of the design, in its order") {
    const table all = stats_of({.runs = {"scalars"}});
    CHECK(cli::detail::joined(all.rows.at(0), ",") ==
          "run,tensor,worker,step,mode,mode_step,dtype,shape,count,min,max,mean,std,variance,sum,prod,l1,l2,abs_min,"
          "abs_max,abs_mean,abs_std,abs_variance,abs_sum,abs_prod,abs_l1,abs_l2,nan,pos_inf,neg_inf,zeros");
    const table some =
        stats_of({.runs = {"scalars"}, .statistics = cli::detail::parse_statistics("nan,abs_l2,mean,nan")});
    CHECK(cli::detail::joined(some.rows.at(0), ",") ==
          "run,tensor,worker,step,mode,mode_step,dtype,shape,count,nan,abs_l2,mean");
    CHECK_THROWS_AS(static_cast<void>(cli::detail::parse_statistics("mean,median")), cli::detail::usage_error);
    CHECK_THROWS_AS(static_cast<void>(cli::detail::parse_statistics("")), cli::detail::usage_error);
}

TEST_CASE("stats: every row is what the tensor's handle answers, in every run") {
    for (const char* name : {"torch_mlp", "torch_ddp", "dtypes", "reductions_raw", "reductions_only", "reductions_tf",
                             "shapes_raw", "shapes_only", "tf_workers", "xgboost_like", "mode_gaps", "checksummed"}) {
        const table got = stats_of({.runs = {name}});
        CHECK_MESSAGE(got.status == cli::exit_ok, name);
        const trial run = create_trial(golden(name));
        std::size_t wanted_rows = 0;
        for (const std::string& tensor : run.tensor_names()) {
            for (const step_number step : run.tensor(tensor).steps({.show_incomplete_steps = true})) {
                wanted_rows += run.tensor(tensor).workers(step).size();
            }
        }
        CHECK_MESSAGE(got.rows.size() == wanted_rows + 1, name);
        for (std::size_t i = 1; i < got.rows.size(); ++i) {
            const texts& row = got.rows[i];
            REQUIRE(row.size() == 31);
            const auto tensor = run.tensor(row[1]);
            const step_number step = std::stoll(row[3]);
            const auto shape = tensor.find_shape(step, {.worker = row[2]});
            const auto value = tensor.find_value(step, {.worker = row[2]});
            CHECK(row[6] == (value ? name_of(value->type()) : ""));
            CHECK(row[7] == (value ? shape_text(value->shape()) : (shape ? shape_text(*shape) : "")));
            for (std::size_t r = 0; r < 2 * reduction_count; ++r) {
                const auto key = reduction_key::from_index(r);
                const auto wanted = tensor.find_reduction(step, key.what, {.worker = row[2], .abs = key.abs});
                CHECK_MESSAGE(row[9 + r] == (wanted ? double_text(*wanted) : ""), name, " ", row[1], " ", key.name());
            }
        }
    }
}

TEST_CASE("stats: rows are ordered by step, then worker, then as in the file") {
    const table got = stats_of({.runs = {"torch_ddp"}, .statistics = cli::detail::parse_statistics("mean")});
    texts order;
    for (std::size_t i = 1; i < got.rows.size(); ++i) {
        const std::string key = std::string(9 - got.rows[i][3].size(), '0') + got.rows[i][3] + " " + got.rows[i][2];
        order.push_back(key);
    }
    CHECK(std::is_sorted(order.begin(), order.end()));
    texts names = column_of(got, 1);
    CHECK(names.front() != *std::min_element(names.begin(), names.end()));
}

TEST_CASE("stats: any number of threads prints the same") {
    for (const char* name : {"torch_ddp", "dtypes", "sparse_running"}) {
        const std::string one = stats_of({.runs = {name}}).out;
        for (const unsigned threads : {2U, 3U, 7U}) {
            CHECK_MESSAGE(stats_of({.runs = {name}, .threads = threads}).out == one, name);
        }
    }
}

TEST_CASE("stats: tensors by regex, by collection, by both; an unknown collection is an error, no match is a note") {
    const auto mean = cli::detail::parse_statistics("mean");
    const auto names = [&](std::optional<std::string> regex, std::optional<std::string> group) {
        texts found = column_of(stats_of({.runs = {"torch_mlp"},
                                          .tensors = regex,
                                          .collection = group,
                                          .statistics = mean,
                                          .how = {.range = {0, 1}}}),
                                1);
        std::sort(found.begin(), found.end());
        return found;
    };
    CHECK(names("^gradient/.*bias", {}) == texts{"gradient/Sequential_0.bias", "gradient/Sequential_2.bias"});
    CHECK(names({}, "losses") == texts{"CrossEntropyLoss_output_0"});
    CHECK(names("2", "biases") == texts{"Sequential_2.bias"});
    const table unknown = stats_of({.runs = {"torch_mlp"}, .collection = "nope", .statistics = mean});
    CHECK(unknown.status == cli::exit_error);
    CHECK(contains(unknown.err, "CollectionUnavailable"));
    const table none = stats_of({.runs = {"torch_mlp"}, .tensors = "nope", .statistics = mean});
    CHECK(none.status == cli::exit_ok);
    CHECK(contains(none.err, "note: no tensor of"));
}

TEST_CASE("stats: blanks in the list of reductions are ignored") {
    const auto spaced = cli::detail::parse_statistics("min, max ");
    REQUIRE(spaced.size() == 2);
    CHECK(spaced.back().name == "max");
}

TEST_CASE("stats: steps and modes that select nothing are noted") {
    const auto mean = cli::detail::parse_statistics("mean");
    const table steps = stats_of({.runs = {"torch_mlp"}, .statistics = mean, .how = {.range = {1000, {}}}});
    CHECK(steps.status == cli::exit_ok);
    CHECK(contains(steps.err, "note: no step of "));
    const table modes = stats_of({.runs = {"torch_mlp"}, .mode = mode::predict, .statistics = mean});
    CHECK(contains(modes.err, " is selected; its modes are TRAIN, EVAL\n"));
}

TEST_CASE("stats: a table fits the terminal, except for requested columns") {
    const auto widest = [](bool give_way) {
        captured run;
        run.to.set_table_width(80);
        CHECK(cli::detail::stats({.runs = {golden("torch_mlp"), golden("torch_ddp")},
                                  .statistics = cli::detail::usual_statistics(),
                                  .statistics_give_way = give_way},
                                 run.to) == cli::exit_ok);
        CHECK(contains(run.err.str(), ", l2") == give_way);
        std::size_t most = 0;
        for (const std::string& line : lines_of(run.out.str())) {
            most = std::max(most, line.size());
        }
        return most;
    };
    CHECK(widest(true) <= 80);
    CHECK(widest(false) > 80);
}

TEST_CASE("stats: a range of steps") {
    const table got = stats_of({.runs = {"torch_mlp"},
                                .tensors = "loss_output|Loss_output",
                                .statistics = cli::detail::parse_statistics("mean"),
                                .how = {.range = {2, 5}}});
    CHECK(column_of(got, 3) == texts{"2", "3"});
    CHECK(column_of(got, 4) == texts{"TRAIN", "EVAL"});
    CHECK(column_of(got, 5) == texts{"2", "0"});
}

TEST_CASE("stats: cells without a meaning are empty, in JSON null") {
    const table got = stats_of({.runs = {"dtypes"},
                                .tensors = "^c/complex64$",
                                .statistics = cli::detail::parse_statistics("mean,abs_mean,nan")},
                               cli::detail::output_format::json);
    CHECK(contains(got.out, R"("dtype":"complex64","shape":"2x3","count":6,"mean":null,"abs_mean":)"));
    const table strings = stats_of(
        {.runs = {"xgboost_like"}, .tensors = "objective", .statistics = cli::detail::parse_statistics("mean,nan")});
    CHECK(strings.rows.at(1).at(6) == "string");
    CHECK(strings.rows.at(1).at(8) == "1");
    CHECK(strings.rows.at(1).at(9).empty());
    CHECK(strings.rows.at(1).at(10).empty());
}

TEST_CASE("stats: if a name occurs twice in a file, only the last entry counts") {
    const table got =
        stats_of({.runs = {"dtypes"}, .tensors = "^dup$", .statistics = cli::detail::parse_statistics("sum")});
    CHECK(got.rows.size() == 2);
}

TEST_CASE("stats: a damaged record loses its row and nothing else") {
    const table got =
        stats_of({.runs = {"damaged/flipped_length"}, .statistics = cli::detail::parse_statistics("mean")});
    CHECK(got.status == cli::exit_error);
    CHECK(column_of(got, 1) == texts{"a", "b", "b"});
    CHECK(lines_of(got.err).size() == 1);
    CHECK(contains(got.err, "CorruptRecord: events/"));
}

TEST_CASE("stats: a missing event file is one note, and its rows are missing") {
    const table got = stats_of({.runs = {"missing_event"}, .statistics = cli::detail::parse_statistics("mean")});
    CHECK(got.status == cli::exit_error);
    CHECK(lines_of(got.err).size() == 2);
    CHECK(contains(got.err, "000000000001_worker_0.tfevents is missing: no rows for step 1 of worker_0"));
    CHECK(column_of(got, 3) == texts{"0", "0", "0", "2", "2", "2"});
}

TEST_CASE("stats: the first missing event files are named, and all are counted") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 20; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {1})}});
        if (step != 3) {
            store.remove(smdebug::detail::locations::event_key(step, "worker_0"));
        }
    }
    build.end();
    for (const unsigned threads : {1U, 2U}) {
        const table got = stats_of({.runs = {folder.path()}, .threads = threads});
        CHECK(got.status == cli::exit_error);
        CHECK(contains(got.err, "000000000005_worker_0.tfevents is missing: no rows for step 5 of worker_0"));
        CHECK(contains(got.err, "19 event files are missing"));
        CHECK(lines_of(got.err).size() == 6);
        CHECK(got.rows.size() == 3);
    }
}

TEST_CASE("stats: several runs in one table; a failing one does not affect the others") {
    const table got =
        stats_of({.runs = {"/nowhere", "scalars", "torch_mlp"}, .statistics = cli::detail::parse_statistics("mean")});
    CHECK(got.status == cli::exit_error);
    CHECK(got.rows.at(1).at(0) == golden("scalars"));
    CHECK(got.rows.back().at(0) == golden("torch_mlp"));
    const table nothing = stats_of({.runs = {"/nowhere"}}, cli::detail::output_format::table);
    CHECK(nothing.out.empty());
}

TEST_CASE("stats: a job that has not ended is noted") {
    const table got = stats_of({.runs = {"sparse_running"}, .statistics = cli::detail::parse_statistics("mean")});
    CHECK(got.status == cli::exit_ok);
    CHECK(contains(got.err, "has not ended"));
}

TEST_CASE("stats: selects steps of one mode and of one worker; the error for an unknown worker lists the known ones") {
    const auto train = column_of(stats_of({.runs = {"torch_mlp"}, .mode = mode::train}), 4);
    CHECK_FALSE(train.empty());
    CHECK(std::all_of(train.begin(), train.end(), [](const std::string& cell) { return cell == "TRAIN"; }));
    const auto second = column_of(stats_of({.runs = {"torch_ddp"}, .worker = "worker_1"}), 2);
    CHECK_FALSE(second.empty());
    CHECK(std::all_of(second.begin(), second.end(), [](const std::string& cell) { return cell == "worker_1"; }));
    const table none = stats_of({.runs = {"torch_ddp"}, .worker = "worker1"});
    CHECK(none.status == cli::exit_error);
    CHECK(contains(none.err, "Invalid Worker: worker1. Did you mean worker_"));
}
