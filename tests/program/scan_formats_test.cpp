// Rules over data of other tools: what applies to them runs, and says what it says of the run that they were made of.
#include "program/captured.hpp"

#include <program/program.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// What `scan` says of a run: by rule, the rest of its row.
std::map<std::string, std::string> rows_of(const std::string& run) {
    const ended scan = run_to_end({"scan", run, "--format", "csv"});
    std::map<std::string, std::string> rows;
    for (const std::string& line : lines_of(scan.out)) {
        if (line.starts_with(run + ",")) {
            const std::string row = line.substr(run.size() + 1);
            rows.emplace(row.substr(0, row.find(',')), row.substr(row.find(',') + 1));
        }
    }
    return rows;
}

std::string exported(const std::string& run, const std::string& format, const std::string& to) {
    const ended made = run_to_end({"export", run, "--to", format, "-o", to});
    REQUIRE(made.status == cli::exit_ok);
    return to;
}

/// The rules that have looked at steps; none of them failed.
std::vector<std::string> evaluated(const std::map<std::string, std::string>& rows) {
    std::vector<std::string> rules;
    for (const auto& [rule, row] : rows) {
        CAPTURE(row);
        CHECK_FALSE(row.starts_with("Error"));
        CHECK_FALSE(row.starts_with("Incomplete"));
        if (!row.starts_with("NotApplicable")) {
            rules.push_back(rule);
        }
    }
    return rules;
}

}  // namespace

TEST_CASE("scan: every rule gives the same result for a run without its index") {
    const temporary_folder place;
    for (const char* name : {"torch_mlp", "scalars", "tf_workers"}) {
        CAPTURE(name);
        const std::string bare = place.path() + "/" + name;
        std::filesystem::copy(golden(name), bare, std::filesystem::copy_options::recursive);
        std::filesystem::remove_all(bare + "/index");
        auto rows = rows_of(bare);
        auto with_index = rows_of(golden(name));
        CHECK(rows.size() == 30);
        if (std::string_view{name} == "tf_workers") {  // only the index knows the tensor of which a shape was saved
            CHECK(with_index.at("nan_origin").ends_with(",44,0"));
            CHECK(rows.at("nan_origin").ends_with(",33,0"));
            CHECK(rows.erase("nan_origin") == with_index.erase("nan_origin"));
        }
        CHECK(rows == with_index);
    }
}

TEST_CASE("scan: rules look at checkpoints, and find in them what the run has") {
    const temporary_folder place;
    const temporary_folder sick;
    write_sick_run(sick);
    for (const char* format : {"npz", "safetensors"}) {
        CAPTURE(format);
        const auto good = rows_of(exported(golden("torch_mlp"), format, place.path() + "/good_" + format));
        const std::vector<std::string> rules{"all_zero",         "exploding_tensor",  "nan_origin",
                                             "unchanged_tensor", "weight_norm_drift", "weight_update_ratio"};
        CHECK(evaluated(good) == rules);
        const auto bad = rows_of(exported(sick.path(), format, place.path() + "/bad_" + format));
        CHECK(evaluated(bad) == rules);
        CHECK(bad.at("exploding_tensor") == rows_of(sick.path()).at("exploding_tensor"));
    }
}

TEST_CASE("scan: rules look at TensorBoard's logs") {
    const temporary_folder place;
    const auto rows = rows_of(exported(golden("torch_mlp"), "tensorboard", place.path() + "/logs"));
    CHECK(rows.size() == 30);
    const std::vector<std::string> rules = evaluated(rows);
    for (const char* rule : {"exploding_tensor", "loss_not_decreasing", "overfit", "overtraining"}) {
        CAPTURE(rule);
        CHECK(std::find(rules.begin(), rules.end(), rule) != rules.end());
    }
}
