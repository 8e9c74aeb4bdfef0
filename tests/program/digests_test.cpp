// Digests in what the program prints: ls, stats, diff, ls --verify and check.
#include <program/diff.hpp>
#include <program/ls.hpp>

#include "program/captured.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/console.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::int64_t digest_of(const written_tensor& tensor) {
    return smdebug::digest_of({tensor.type, tensor.shape, tensor.content, {}});
}
written_tensor digest_tensor(std::int64_t digest) { return tensor_of<std::int64_t>("digest/w", {digest}, {}); }

const written_tensor w = tensor_of<float>("w", {1, 2, 3});
const written_tensor other = tensor_of<float>("w", {1, 2, 4});

/// A run on disk with one step.
class one_step {
public:
    explicit one_step(std::vector<written_tensor> tensors) {
        local_storage store{folder_.path()};
        run_builder{store}
            .collections({"worker_0"}, {{"digests", {"digest/w"}}, {"weights", {"w"}}})
            .step({.step = 4, .tensors = std::move(tensors)})
            .end();
    }
    [[nodiscard]] std::string path() const { return folder_.path(); }

private:
    temporary_folder folder_;
};

}  // namespace

TEST_CASE("digests: diff of a run with values and one with digests alone") {
    const one_step values{{w}};
    const one_step same{{digest_tensor(digest_of(w))}};
    const one_step changed{{digest_tensor(digest_of(other))}};
    const ended equal = run_to_end({"diff", values.path(), same.path()});
    CHECK(equal.status == cli::exit_ok);
    CHECK(equal.out == "the runs are the same: 1 step, 1 tensor, 12 bytes compared, 1 by digest\n");
    const ended parted = run_to_end({"diff", values.path(), changed.path()});
    CHECK(parted.status == cli::exit_finding);
    const std::string what = "its digest is " + std::to_string(digest_of(w)) + " in the first run, " +
                             std::to_string(digest_of(other)) + " in the second";
    CHECK(parted.out.starts_with("the runs part at step 4 (TRAIN 4): tensor w: " + what + "\n"));
    CHECK(contains(squeezed(parted.out), "4 TRAIN 4 1 1 - - -"));  // nothing says how far they are apart
    const ended rows = run_to_end({"diff", values.path(), changed.path(), "--format", "csv"});
    CHECK(contains(rows.out, "values,4,TRAIN,4,worker_0,w,,,,,,,,,\"" + what + "\""));
    CHECK(rows.err.empty());
}

TEST_CASE("digests: verify names values that are not what the hook saw") {
    const one_step good{{w, digest_tensor(digest_of(w))}};
    CHECK(run_to_end({"ls", good.path(), "--verify"}).out == "no differences\n");
    const one_step bad{{other, digest_tensor(digest_of(w))}};
    const ended found = run_to_end({"ls", bad.path(), "--verify", "--format", "csv"});
    CHECK(found.status == cli::exit_error);
    CHECK(contains(found.out, "digest,events/"));
    CHECK(contains(found.out, "its values are not what the hook saw: their digest is " +
                                  std::to_string(digest_of(other)) + ", the saved one " +
                                  std::to_string(digest_of(w))));
}

TEST_CASE("digests: ls lists them, stats and check pass them over") {
    const one_step run{{w, digest_tensor(-1)}};
    CHECK(contains(squeezed(run_to_end({"ls", run.path()}).out), "\ndigest/w int64 scalar 1 -\n"));
    const std::string stats = run_to_end({"stats", run.path()}).out;
    CHECK(contains(stats, "w"));
    CHECK_FALSE(contains(stats, "digest/w"));
    CHECK(contains(run_to_end({"stats", run.path(), "--collection", "digests"}).out, "digest/w"));
    const ended checked = run_to_end({"check", run.path(), "--rule", "exploding_tensor"});
    CHECK(checked.status == cli::exit_ok);
    const one_step alone{{digest_tensor(-1)}};
    const ended idle = run_to_end({"check", alone.path(), "--rule", "exploding_tensor"});
    CHECK(contains(idle.out, "NotApplicable"));  // a digest is nothing that a rule could judge
}

TEST_CASE("digests: every option that takes names can name them") {
    const one_step run{{w, digest_tensor(digest_of(w))}};
    const temporary_folder made;
    const auto says = [&](std::vector<std::string> arguments) {
        const ended done = run_to_end(std::move(arguments));
        CAPTURE(done.err);
        CHECK(done.status == cli::exit_ok);
        return done.out;
    };
    for (const std::vector<std::string>& by :
         {std::vector<std::string>{"--tensors", "^digest/"}, {"--collection", "digests"}}) {
        CAPTURE(by.back());
        const std::string stats = says({"stats", run.path(), by[0], by[1], "--format", "csv"});
        CHECK(contains(stats, ",digest/w,"));
        CHECK_FALSE(contains(stats, ",w,"));
        CHECK(contains(says({"ls", run.path(), by[0], by[1]}), "digest/w"));
        CHECK(contains(says({"diff", run.path(), run.path(), by[0], by[1]}), "1 step, 1 tensor, 8 bytes compared\n"));
        const std::string file = made.path() + "/" + by[1].substr(by[1].size() - 1) + ".csv";
        static_cast<void>(says({"export", run.path(), "--to", "csv", "-o", file, by[0], by[1]}));
    }
    CHECK(contains(says({"show", run.path(), "digest/w"}), std::to_string(digest_of(w))));
    for (const char* rule : {"all_zero,tensor_regex=^digest/", "all_zero,collection_names=digests"}) {
        CHECK(contains(says({"check", run.path(), "--rule", rule}), "NoIssuesFound"));
    }
}

TEST_CASE("digests: diff names one that contradicts the values of its own run") {
    const one_step values{{w}};
    const one_step wrong{{w, digest_tensor(digest_of(other))}};
    const ended parted = run_to_end({"diff", wrong.path(), values.path()});
    CHECK(parted.status == cli::exit_finding);
    CHECK(
        contains(parted.out, "the runs part at step 4 (TRAIN 4): tensor w: its values in the first run are not what"));
    CHECK(contains(squeezed(parted.out), "\ndigest w 4 1 its values in the first run"));
    CHECK(contains(run_to_end({"diff", values.path(), wrong.path(), "--format", "csv"}).out,
                   "\ndigest,4,TRAIN,4,worker_0,w,second,"));
}
