// `--follow` beside a writer whose data come late, again or in pieces: each case ends as the same command afterwards.
// A value that is infinite in a tensor named "mark..." is what a case waits for: then the reader has passed that step.
#include "program/follow_schedules.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/schedules.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/index/locations.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();
const std::string log_name = "events.out.tfevents.1700000000.host.1.0";
const std::string later_log_name = "events.out.tfevents.1700000500.host.1.1";

written_tensor number(const std::string& name, float value) { return tensor_of<float>(name, {value}); }

/// A schedule that is written down action by action.
class story : public schedule_script {
public:
    story() : schedule_script(1, 150) { made.is_plain = false; }

    story& rule(std::string text) {
        made.rules.push_back(std::move(text));
        return *this;
    }
    /// The reader starts here.
    void start() { made.starts_at = made.actions.size(); }

    /// One point of a log, which begins with its first one.
    void point(const std::string& file, int step, const std::string& tag, float value) {
        if (sizes_[file]++ == 0) {
            begin(file, log_head());
        }
        append(file, record(step, tag, value),
               "step " + std::to_string(step) + ": " + tag + " " + std::to_string(value));
    }
    [[nodiscard]] static std::string record(int step, const std::string& tag, float value) {
        return log_record(step, {scalar_value(tag, value)});
    }
    /// Points of `tag` at some steps, the last but one of them marked, and awaited: what follows is late.
    void points_until_seen(const std::string& file, int first, int end, const std::string& tag = "loss") {
        for (int step = first; step < end; ++step) {
            point(file, step, tag, 1);
            if (step == end - 2) {
                point(file, step, "mark" + std::to_string(step), infinite);
            }
        }
        await("mark" + std::to_string(end - 2));
    }

    /// The collections files of a run.
    void collections(const std::map<std::string, std::vector<std::string>>& groups = {},
                     const std::vector<std::string>& workers = {"worker_0"}) {
        write([&](run_builder<written>& run) { run.collections(workers, groups); });
    }
    void step(const written_step& saved) {
        write([&](run_builder<written>& run) { run.step(saved); });
    }
    void step(step_number number, std::vector<written_tensor> tensors) {
        step(written_step{.step = number, .tensors = std::move(tensors)});
    }
    /// The collections file and step 0 are there when the reader starts, which then sees them.
    void first_step() {
        collections();
        step(0, {number("w", 0), number("first", infinite)});
        start();
        await("first");
    }
    void forget(step_number number, bool events) {
        remove(smdebug::detail::locations::index_key(number, "worker_0"));
        if (events) {
            remove(smdebug::detail::locations::event_key(number, "worker_0"));
        }
    }
    void end_of_job() { put("training_job_end.ts", "end"); }

private:
    struct written {
        std::vector<std::pair<std::string, std::string>> files = {};
        void write(std::string_view key, byte_view bytes) { files.emplace_back(key, as_text(bytes)); }
    };
    void write(const std::function<void(run_builder<written>&)>& what) {
        written store;
        run_builder<written> run{store};
        what(run);
        for (auto& [key, bytes] : store.files) {
            put(key, std::move(bytes));
        }
    }

    std::map<std::string, int> sizes_;
};

// In each format: a table has a summary, JSON every digit.
void ends_as_afterwards(story& told) {
    schedule one = std::move(told.made);
    for (const char* const format : {"table", "json"}) {
        const std::string trouble = trouble_with(one, "check", format);
        CHECK_MESSAGE(trouble.empty(), trouble);
    }
}

}  // namespace

TEST_CASE("check --follow: a tag that counts epochs, beside one that counts iterations") {
    story told;
    told.rule("exploding_tensor").start();
    told.points_until_seen(log_name, 0, 6, "train/loss");
    told.point(log_name, 0, "val/loss", 1);
    told.points_until_seen(log_name, 6, 12, "train/loss");
    told.point(log_name, 1, "val/loss", nan_value);
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: a second file with a value of an old step") {
    story told;
    told.rule("exploding_tensor").start();
    told.points_until_seen(log_name, 0, 6);
    told.point(later_log_name, 0, "hp_metric", nan_value);
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: the evaluation of a step comes when the next one has begun") {
    story told;
    told.rule("exploding_tensor").start();
    told.points_until_seen(log_name, 0, 6);
    told.point(log_name, 4, "eval/loss", nan_value);
    told.point(log_name, 6, "loss", 1);
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: late values of rules with a history") {
    story told;
    told.rule("unchanged_tensor,tensor_regex=val,num_steps=2").rule("exploding_tensor").rule("nan_origin").start();
    told.points_until_seen(log_name, 0, 6, "train/loss");
    told.point(log_name, 1, "val/loss", 2);
    told.points_until_seen(log_name, 6, 9, "train/loss");
    told.point(log_name, 2, "val/loss", 2);
    told.point(log_name, 3, "val/loss", nan_value);
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: a worker that is behind the others") {
    story told;
    told.rule("exploding_tensor,all_workers=true").start();
    told.point("r2/" + log_name, 0, "loss", 1);
    told.points_until_seen("r1/" + log_name, 0, 6);
    for (int step = 1; step < 6; ++step) {
        told.point("r2/" + log_name, step, "loss", step == 3 ? nan_value : 1);
    }
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow --runs-from-folders: a folder that comes later") {
    story told;
    told.made.options = {"--runs-from-folders"};
    told.rule("exploding_tensor");
    told.point("r1/" + log_name, 0, "loss", 1);
    told.start();
    told.points_until_seen("r1/" + log_name, 1, 6);
    told.point("r2/" + log_name, 0, "loss", 1);
    told.point("r2/" + log_name, 1, "loss", nan_value);
    told.let_look();
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow --runs-from-folders: no run is there yet") {
    story told;
    told.made.options = {"--runs-from-folders"};
    told.rule("exploding_tensor");
    told.put("made", "");
    told.remove("made");
    told.start();
    told.let_look();
    told.points_until_seen("r1/" + log_name, 0, 6);
    told.age();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: bytes of a log that are zeros for a time") {
    for (const std::size_t good : {0U, 5U, 20U, 70U}) {
        CAPTURE(good);
        story told;
        told.rule("exploding_tensor").start();
        told.points_until_seen(log_name, 0, 4);
        std::string bytes;
        for (int step = 4; step < 8; ++step) {
            bytes += story::record(step, "loss", step == 5 ? nan_value : 1);
        }
        // As far as the script knows the file: its head, four points and a mark.
        std::size_t size = log_head().size() + story::record(2, "mark2", infinite).size();
        for (int step = 0; step < 4; ++step) {
            size += story::record(step, "loss", 1).size();
        }
        told.append(log_name, bytes.substr(0, good) + std::string(bytes.size() - good, '\0'), "zeros");
        told.let_look();
        told.let_look();
        told.patch(log_name, size, bytes, "the bytes");
        told.point(log_name, 8, "loss", 1);
        told.age();
        ends_as_afterwards(told);
    }
}

TEST_CASE("check --follow: a training that goes on from an earlier step, whose files it has removed") {
    for (const bool events : {true, false}) {
        CAPTURE(events);
        story told;
        told.rule("exploding_tensor").first_step();
        for (step_number step = 1; step < 6; ++step) {
            told.step(step, {number("w", 1), number("mark", step == 5 ? infinite : 1)});
        }
        told.await("mark");
        for (step_number step = 3; step < 6; ++step) {
            told.forget(step, events);
        }
        told.let_look();
        for (step_number step = 3; step < 8; ++step) {
            told.step(step, {number("w", step < 6 ? nan_value : 1)});
            told.let_look();
        }
        told.end_of_job();
        ends_as_afterwards(told);
    }
}

TEST_CASE("check --follow: steps that are written again with other layouts are not damaged") {
    for (const bool removes : {true, false}) {
        CAPTURE(removes);
        story told;
        told.rule("loss_not_decreasing,tensor_regex=^w$,num_steps=2,use_losses_collection=false")
            .rule("exploding_tensor");
        told.first_step();
        for (step_number step = 1; step < 4; ++step) {
            told.step(step, {number("w", static_cast<float>(step)), number("mark", step == 3 ? infinite : 1)});
        }
        told.await("mark");
        told.let_look();
        for (step_number step = 2; step < 4 && removes; ++step) {
            told.forget(step, false);
        }
        for (step_number step = 2; step < 7; ++step) {
            told.step(step, {tensor_of<float>("x", {1, 2, 3}), number("w", static_cast<float>(step) + 0.5F)});
            told.let_look();
        }
        told.end_of_job();
        ends_as_afterwards(told);
    }
}

TEST_CASE("check --follow: a step that is written again once more, with the same layout") {
    for (const bool removes : {true, false}) {
        CAPTURE(removes);
        story told;
        told.rule("exploding_tensor").rule("unchanged_tensor,tensor_regex=w,num_steps=2");
        told.first_step();
        for (step_number step = 1; step < 5; ++step) {
            told.step(step, {number("w", static_cast<float>(step)), number("mark", step == 4 ? infinite : 1)});
        }
        told.await("mark");
        told.let_look();
        for (const float value : {2.0F, nan_value, 1.0F}) {
            if (removes) {
                told.forget(2, true);
            }
            told.step(2, {number("w", value), number("mark", 1)});
            told.let_look();
        }
        told.end_of_job();
        ends_as_afterwards(told);
    }
}

TEST_CASE("check --follow: a tensor that joins a collection when it is first saved") {
    story told;
    told.rule("all_zero,collection_names=weights").rule("exploding_tensor");
    told.collections({{"losses", {"loss"}}});
    told.start();
    told.step(0, {number("loss", 1), number("mark", infinite)});
    told.await("mark");
    told.collections({{"losses", {"loss"}}, {"weights", {"attn"}}});
    for (step_number step = 1; step < 4; ++step) {
        told.step(step, {number("loss", 1), tensor_of<float>("attn", {0, 0})});
        told.let_look();
    }
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: a loss that is first saved in another mode") {
    story told;
    told.rule("exploding_tensor").rule("loss_not_decreasing,num_steps=1");
    told.collections({{"losses", {"loss"}}});
    told.start();
    for (step_number step = 0; step < 3; ++step) {
        told.step(step, {number("loss", static_cast<float>(step)), number("mark", step == 2 ? infinite : 1)});
    }
    told.await("mark");
    written_step evaluation{.step = 3, .tensors = {number("loss", 1)}, .mode = mode::eval, .mode_step = 0};
    told.step(evaluation);
    evaluation.step = 4;
    evaluation.mode_step = 1;
    told.step(evaluation);
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: a file whose time changes is not another one") {
    story told;
    told.made.is_plain = true;
    told.rule("exploding_tensor").rule("unchanged_tensor,tensor_regex=w,num_steps=2");
    told.collections();
    told.start();
    for (step_number step = 0; step < 3; ++step) {
        told.step(step, {number("w", 1), number("mark", step == 2 ? infinite : 1)});
    }
    told.await("mark");
    told.age();  // of a run it is only a time
    told.let_look();
    told.step(3, {number("w", infinite)});
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow --give-up-after: counts the time that it waits, not how old the files are") {
    story told;
    told.made.is_plain = true;
    told.made.options_to_follow = {"--give-up-after", "1h"};
    told.rule("exploding_tensor");
    told.collections();
    told.step(0, {number("w", 1)});
    told.age();
    told.start();
    told.let_look();
    told.let_look();
    told.step(1, {number("w", infinite)});
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: the steps of a worker that the collections files do not count") {
    story told;
    told.rule("exploding_tensor,all_workers=true");
    told.collections();
    told.start();
    for (step_number step = 0; step < 4; ++step) {
        told.step(step, {number("w", 1), number("mark", step == 3 ? infinite : 1)});
    }
    told.await("mark");
    told.step(written_step{.step = 1, .tensors = {number("w", nan_value)}, .worker = "worker_1"});
    told.let_look();
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: that only one of several workers is checked is noted in the end") {
    story told;
    told.made.is_plain = true;
    told.rule("exploding_tensor");
    told.collections({}, {"worker_0", "worker_1"});
    told.start();
    for (const char* const worker : {"worker_0", "worker_1"}) {
        told.step(written_step{.step = 0, .tensors = {number("w", infinite)}, .worker = worker});
    }
    told.end_of_job();
    ends_as_afterwards(told);
}

TEST_CASE("check --follow: what a rule does not find at first is not noted where it comes later") {
    story told;
    told.made.is_plain = true;
    told.rule("exploding_tensor,tensor_regex=w").rule("all_zero,collection_names=weights");
    told.collections({{"weights", {"w"}}});
    told.start();
    told.let_look();
    told.step(0, {number("w", infinite)});
    told.end_of_job();
    ends_as_afterwards(told);
}
