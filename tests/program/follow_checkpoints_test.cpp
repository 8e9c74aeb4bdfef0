// `check --follow` beside a training that leaves checkpoints, as Hugging Face's Trainer does.
#include <program/follow_check.hpp>

#include "program/captured.hpp"
#include "program/live_output.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/torch_files.hpp"

#include <program/console.hpp>
#include <program/following.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// A folder that a Trainer writes to, on the thread of the test.
class trainer {
public:
    [[nodiscard]] std::string path() const { return folder_.path() + "/out"; }

    /// The bytes of a .safetensors with one tensor of four floats.
    [[nodiscard]] static std::string safetensors(const std::string& tensor, float value) {
        const std::string header = "{\"" + tensor + R"(":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
        const std::uint64_t size = header.size();
        std::string bytes(sizeof(size), '\0');
        std::memcpy(bytes.data(), &size, sizeof(size));
        bytes += header;
        for (int i = 0; i < 4; ++i) {
            bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
        }
        return bytes;
    }
    void write(const std::string& key, std::string_view bytes) const { put(key, bytes, std::ios::trunc); }
    /// In place, in pieces.
    void write_slowly(const std::string& key, std::string_view bytes) const {
        write(key, {});
        for (std::size_t at = 0; at < bytes.size(); at += 20) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            put(key, bytes.substr(at, 20), std::ios::app);
        }
    }
    /// The files beside the weights.
    void write_state(const std::string& folder) const {
        namespace pickled = smdebug_test::pickled;
        const std::string moments = pickled::elements(std::vector<float>{1, 2});
        write(folder + "/optimizer.pt",
              pickled::torch_zip(pickled::dictionary({{"state", pickled::list({pickled::vector("0", 2)})}}),
                                 {{"0", moments}}));
        write(folder + "/scheduler.pt", pickled::torch_zip(pickled::dictionary({{"last_epoch", pickled::integer(1)}})));
        write(folder + "/training_args.bin",
              pickled::torch_zip(pickled::object("transformers.training_args", "TrainingArguments", "}")));
        write(folder + "/trainer_state.json", "{}");
    }
    void remove(const std::string& folder) const { std::filesystem::remove_all(path() + "/" + folder); }
    void rename(const std::string& from, const std::string& to) const {
        std::filesystem::rename(path() + "/" + from, path() + "/" + to);
    }

private:
    void put(const std::string& key, std::string_view bytes, std::ios::openmode how) const {
        const std::filesystem::path place = path() + "/" + key;
        std::filesystem::create_directories(place.parent_path());
        std::ofstream{place, std::ios::binary | how} << bytes;
    }

    temporary_folder folder_;
};

constexpr float sick = std::numeric_limits<float>::infinity();

texts follow(const trainer& run, const texts& more = {}) {
    texts arguments{"check", run.path(), "--follow", "--rule", "exploding_tensor", "--format", "csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}
std::string row(const trainer& run, int step, const std::string& tensor = "fc.weight") {
    return run.path() + ",exploding_tensor," + std::to_string(step) + ",TRAIN," + std::to_string(step) + "," + tensor;
}
std::size_t rows_of(const live_output& out) { return lines_of(out.text()).size() - 1; }

}  // namespace

TEST_CASE("check --follow: each checkpoint is checked once, in order, when it is whole") {
    const trainer run;
    running_program program{follow(run)};
    REQUIRE(program.err.wait_for("waiting for a run to start"));
    for (const int step : {500, 1000, 1500}) {
        const std::string folder = "checkpoint-" + std::to_string(step);
        run.write_slowly(folder + "/model.safetensors", trainer::safetensors("fc.weight", step == 1000 ? 1 : sick));
        run.write_state(folder);
        if (step != 1000) {
            REQUIRE(program.out.wait_for(row(run, step)));
        }
    }
    program.stop.request_stop();
    static_cast<void>(program.status());
    CHECK(rows_of(program.out) == 2);
    CHECK(program.out.text().find(row(run, 500)) < program.out.text().find(row(run, 1500)));
    CHECK(program.err.text().find("smdebug: error: ") == std::string::npos);
}

TEST_CASE("check --follow: files that torch.save writes one after another are checked when they are whole") {
    namespace pickled = smdebug_test::pickled;
    const trainer run;
    running_program program{follow(run)};
    REQUIRE(program.err.wait_for("waiting for a run to start"));
    for (const int step : {100, 200, 300}) {
        const float value = step == 200 ? 1 : sick;
        const std::string bytes =
            pickled::torch_zip(pickled::dictionary({{"model", pickled::dictionary({{"w", pickled::vector("0", 2)}})},
                                                    {"epoch", pickled::integer(step / 100)}}),
                               {{"0", pickled::elements(std::vector<float>{1, value})}});
        run.write_slowly("ckpt_" + std::to_string(step) + ".pt", bytes);
        if (step != 200) {
            REQUIRE(program.out.wait_for(row(run, step, "model/w")));
        }
    }
    program.stop.request_stop();
    static_cast<void>(program.status());
    CHECK(rows_of(program.out) == 2);
    CHECK(program.err.text().find("smdebug: error: ") == std::string::npos);
}

TEST_CASE("check --follow: shards, folders that are renamed, and a start in the middle of a save") {
    const trainer run;
    const std::string bytes = trainer::safetensors("fc.weight", sick);
    run.write("checkpoint-1/model-00001-of-00002.safetensors", bytes);
    run.write("checkpoint-1/model-00002-of-00002.safetensors", bytes.substr(0, 30));
    running_program program{follow(run)};
    run.write_slowly("checkpoint-1/model-00002-of-00002.safetensors", trainer::safetensors("fc.bias", sick));
    run.write("checkpoint-1/model.safetensors.index.json",
              R"({"weight_map": {"fc.weight": "model-00001-of-00002.safetensors",)"
              R"( "fc.bias": "model-00002-of-00002.safetensors"}})");
    REQUIRE(program.out.wait_for(row(run, 1, "fc.bias")));
    REQUIRE(program.out.wait_for(row(run, 1, "fc.weight")));
    run.write("tmp-checkpoint-2/model.safetensors", bytes);
    run.write("checkpoint-3/model.safetensors", bytes);
    REQUIRE(program.out.wait_for(row(run, 3)));
    CHECK(rows_of(program.out) == 3);  // not the second one, which has been there as long
    run.rename("tmp-checkpoint-2", "checkpoint-2");
    REQUIRE(program.out.wait_for(row(run, 2)));
    program.stop.request_stop();
    static_cast<void>(program.status());
    CHECK(rows_of(program.out) == 4);
    CHECK(program.err.text().find("error") == std::string::npos);
}

TEST_CASE("check --follow: checkpoints that are removed are no error, before they are checked and after") {
    const trainer run;
    const std::string bytes = trainer::safetensors("fc.weight", sick);
    run.write("checkpoint-1/model.safetensors", bytes);
    running_program program{follow(run)};
    REQUIRE(program.out.wait_for(row(run, 1)));
    run.write("checkpoint-2/model.safetensors", bytes.substr(0, 20));
    run.remove("checkpoint-1");
    run.write("checkpoint-3/model.safetensors", bytes);
    run.remove("checkpoint-2");
    REQUIRE(program.out.wait_for(row(run, 3)));
    program.stop.request_stop();
    static_cast<void>(program.status());
    CHECK(rows_of(program.out) == 2);
    CHECK(program.err.text().find("error") == std::string::npos);
}

TEST_CASE("check --follow: a checkpoint that is removed while the one before it is checked is a note") {
    const trainer run;
    const std::string bytes = trainer::safetensors("fc.weight", sick);
    for (const int step : {1, 2, 3}) {
        run.write("checkpoint-" + std::to_string(step) + "/model.safetensors", bytes);
    }
    running_program program;
    program.out.on_flush = [&](const std::string& text) {
        if (text.find(row(run, 1)) != std::string::npos) {
            run.remove("checkpoint-2");
        }
    };
    program.start(follow(run));
    REQUIRE(program.out.wait_for(row(run, 3)));
    program.stop.request_stop();
    CHECK(program.status() == cli::exit_finding);
    CHECK(rows_of(program.out) == 2);
    CHECK(program.err.text().find("note: step 2 was removed before it could be checked") != std::string::npos);
    CHECK(program.err.text().find("error") == std::string::npos);
}

TEST_CASE("check --follow: a checkpoint that stays damaged is named in the end") {
    const trainer run;
    const std::string bytes = trainer::safetensors("fc.weight", sick);
    run.write("checkpoint-1/model.safetensors", bytes.substr(0, 30));
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::minutes{1};
    std::filesystem::last_write_time(run.path() + "/checkpoint-1/model.safetensors", long_ago);
    run.write("checkpoint-2/model.safetensors", bytes);
    running_program program{follow(run)};
    REQUIRE(program.err.wait_for("note: checkpoint-1/model.safetensors, step 1"));  // it may be put right
    REQUIRE(program.out.wait_for(row(run, 2)));
    program.stop.request_stop();
    CHECK(program.status() != cli::exit_ok);
    CHECK(contains(program.err.text(), "error: checkpoint-1/model.safetensors, step 1"));
    CHECK(rows_of(program.out) == 1);
}
