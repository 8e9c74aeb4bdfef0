#include <program/rule_notes.hpp>

#include "program/captured.hpp"

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("rule_notes: the first few unread tensors are named, each once, then the number of the others") {
    captured run;
    cli::detail::damage_limit limit;
    for (std::size_t i = 0; i < 700; ++i) {
        for (const char* rule : {"all_zero", "exploding_tensor"}) {
            limit.report(
                cli::detail::note_of("runs/a", rule, 0,
                                     {.damaged = true, .tensor = "w", .message = "w: lost " + std::to_string(i)}),
                run.to);
        }
    }
    limit.finish("runs/a", run.to);
    const auto lines = lines_of(run.err.str());
    REQUIRE(lines.size() == 6);
    CHECK(lines[0] == "smdebug: note: all_zero: w: lost 0 [run runs/a]");
    CHECK(lines[4] == "smdebug: note: all_zero: w: lost 4 [run runs/a]");
    CHECK(lines[5] == "smdebug: note: and 1395 more such notes about what could not be read [run runs/a]");
    CHECK(run.to.status() == cli::exit_error);
}

TEST_CASE("rule_notes: what could not be looked at is one sentence; nothing where everything could") {
    rule_result sound{.name = "dead_relu", .outcome = {.tensors = 9}};
    CHECK(cli::detail::unread_of(std::vector{sound}, "runs/a").empty());
    const std::vector<rule_result> all{
        sound,
        {.name = "all_zero", .outcome = {.tensors = 60, .unread = 3, .first_unread = "events/x is gone"}},
        {.name = "mine", .outcome = {.tensors = 2, .unread = 2, .first_unread = "events/y is gone"}}};
    CHECK(cli::detail::unread_of(all, "runs/a") ==
          "not everything could be read: all_zero lacks 3 of 60 tensors, mine lacks 2 of 2 tensors; first: events/x is "
          "gone [run runs/a]");
    CHECK(cli::detail::unread_of(all, "runs/a", 7).find("2 tensors; 7 event files missing; first: events/x") !=
          std::string::npos);
}

TEST_CASE(
    "rule_notes: a step that is skipped for a file that is gone is damage, for a tensor that was not saved is not") {
    const tensor_unavailable_for_step gone("w", 3, mode::global, false, "as it is gone.", "events/x");
    const tensor_unavailable_for_step not_saved("w", 3, mode::global);
    CHECK_FALSE(cli::detail::note_of("runs/a", "mine", 3, gone).damage.empty());
    CHECK(cli::detail::note_of("runs/a", "mine", 3, not_saved).damage.empty());
    CHECK(cli::detail::note_of("runs/a", "mine", 3, finding{.tensor = "w", .message = "cannot be judged"})
              .damage.empty());
}

TEST_CASE("note_of: says tensor and step where the note does not") {
    struct row {
        finding note;
        const char* text;
    };
    const row rows[] = {
        {finding::note("seen"), "mine: step 3: seen [run runs/a]"},
        {finding::note("the loss rose since step 1"), "mine: the loss rose since step 1 [run runs/a]"},
        {{.tensor = "w", .message = "cannot be judged"}, "mine: w of step 3: cannot be judged [run runs/a]"},
        {{.tensor = "w", .message = "w is complex"}, "mine: w is complex [run runs/a]"},
    };
    for (const auto& [note, text] : rows) {
        const auto made = cli::detail::note_of("runs/a", "mine", 3, note);
        CHECK(made.text == text);
        CHECK(made.damage.empty());
    }
}

TEST_CASE("bad_value_lines: a line for each run that has one, named where there are several; ten at most") {
    const auto result_of = [](const std::string& run) {
        run_result result{.run = {.path = run}};
        result.verdicts.emplace_back().outcome.findings = {
            {.met = true, .tensor = "w", .rule = "nan_origin", .step = 7, .message = "1 NaN"}};
        return result;
    };
    const std::string sentence = "the first value that was not finite: step 7, w, 1 NaN\n";
    cli::detail::bad_value_lines lines;
    CHECK(lines.text().empty());
    lines.add(result_of("runs/a"));
    CHECK(lines.text() == sentence);
    lines.add({.run = {.path = "runs/healthy"}});
    CHECK(lines.text() == "runs/a: " + sentence);
    for (int i = 0; i < 11; ++i) {
        lines.add(result_of("runs/b"));
    }
    CHECK(lines.text().ends_with("runs/b: " + sentence + "and of 2 other runs\n"));
}

TEST_CASE("idle_text: the rule, why it had nothing to look at, and the run") {
    CHECK(cli::detail::idle_text({.name = "mine", .details = "There is no step to look at"}, "runs/a") ==
          "mine has looked at nothing: There is no step to look at [run runs/a]");
}

TEST_CASE("was_out_of_reach: true for temporary failures, false for damage") {
    using kind = run_message::kind;
    const auto with = [](kind what, const std::string& text) {
        return cli::detail::was_out_of_reach({.messages = {{kind::note, "a note"}, {what, text}}});
    };
    const std::string lacks = "not everything could be read: all_zero lacks 1 of 15 tensors; first: ";
    CHECK(with(kind::error, lacks + unavailable("cannot open a: Too many open files").what() + " [run r]"));
    CHECK_FALSE(with(kind::error, lacks + corrupt_data("the record is cut", {.where = "a"}).what() + " [run r]"));
    CHECK_FALSE(with(kind::note, unavailable("too late").what()));
    CHECK_FALSE(with(kind::error, "TensorUnavailable: Tensor a was not saved."));
    CHECK_FALSE(cli::detail::was_out_of_reach({}));
}
