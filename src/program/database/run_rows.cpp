#include <program/database/run_rows.hpp>

#include <program/database/schema.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace smdebug::inline v1::detail::sqlite {

[[nodiscard]] inline std::uint64_t as_count(std::int64_t number) noexcept { return static_cast<std::uint64_t>(number); }
[[nodiscard]] inline std::optional<step_number> step_in(const statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional{row.integer(column)};
}

/// A value that stands for none, such as a step of -1, as NULL.
template <class Value>
[[nodiscard]] std::optional<Value> unless(Value none, Value value) {
    return value == none ? std::nullopt : std::optional{value};
}

/// The value of a word in the tables; an unknown word means that the database is not ours, or damaged.
template <class Value, std::size_t Count>
[[nodiscard]] Value value_named(std::string_view text, const std::array<Value, Count>& values,
                                const std::string& path) {
    for (const Value each : values) {
        if (name_of(each) == text) {
            return each;
        }
    }
    throw corrupt_data("the database " + path + " says \"" + std::string{text} + "\" where no such word can be",
                       {.where = path});
}

inline constexpr std::array states{run_state::ended,      run_state::growing,   run_state::failed,
                                   run_state::timed_out,  run_state::no_memory, run_state::undone,
                                   run_state::incomplete, run_state::gone};
inline constexpr std::array kinds{run_message::kind::note, run_message::kind::damage, run_message::kind::error};
inline constexpr std::array modes{mode::train, mode::eval, mode::predict, mode::global};
inline constexpr std::array statuses{rule_status::in_progress, rule_status::no_issues_found, rule_status::issues_found,
                                     rule_status::error,       rule_status::stopped,         rule_status::incomplete};

[[nodiscard]] inline std::string parameters(std::size_t count) {
    std::string text;
    for (std::size_t i = 1; i <= count; ++i) {
        text += (i == 1 ? "?" : ", ?") + std::to_string(i);
    }
    return text;
}

inline constexpr std::size_t reduction_row_columns = 11 + 2 * reduction_count + 4;

/// Ends the reading of a statement that may not have come to its last row.
class reading {
public:
    explicit reading(statement& of) : of_(of) {}
    reading(const reading&) = delete;
    reading& operator=(const reading&) = delete;
    ~reading() { of_.reset(); }
    [[nodiscard]] statement* operator->() const noexcept { return &of_; }
    [[nodiscard]] const statement& operator*() const noexcept { return of_; }

private:
    statement& of_;
};

run_rows::run_rows(connection& in)
    : in_(in),
      remove_(in.prepare("DELETE FROM runs WHERE path = ?1")),
      find_question_(in.prepare("SELECT id FROM questions WHERE text = ?1")),
      insert_question_(in.prepare("INSERT INTO questions (text) VALUES (?1)")),
      insert_run_(in.prepare("INSERT INTO runs (path, place, state, error, version, bytes, question, steps, last_step, "
                             "workers, tensors, seconds, name) VALUES (" +
                             parameters(13) + ")")),
      insert_result_(in.prepare("INSERT INTO results VALUES (" + parameters(11) + ")")),
      insert_finding_(in.prepare("INSERT INTO findings VALUES (" + parameters(14) + ")")),
      insert_message_(in.prepare("INSERT INTO messages VALUES (" + parameters(4) + ")")),
      insert_reductions_(in.prepare("INSERT INTO reductions VALUES (" + parameters(reduction_row_columns) + ")")),
      find_done_(in.prepare("SELECT path, version FROM runs JOIN questions ON questions.id = question WHERE (path = ?1 "
                            "OR path >= ?2 AND path < ?3) AND questions.text = ?4 AND state IN " +
                            std::string{done_states} + " AND version <> '' ORDER BY path")),
      find_passed_(in.prepare("SELECT state = 'incomplete', EXISTS (SELECT 1 FROM results WHERE run = runs.id AND "
                              "first_step IS NOT NULL) FROM runs WHERE path = ?1")),
      read_run_(in.prepare("SELECT id, name, place, state, error, version, bytes, steps, last_step, workers, tensors, "
                           "seconds FROM runs WHERE path = ?1")),
      read_results_(in.prepare("SELECT rule, status, steps_evaluated, steps_met, steps_skipped, tensors, unread, "
                               "details FROM results WHERE run = ?1 ORDER BY number")),
      read_findings_(in.prepare("SELECT result, met, damaged, rule, step, mode, mode_step, tensor, worker, value, "
                                "threshold, message FROM findings WHERE run = ?1 ORDER BY result, number")),
      read_messages_(in.prepare("SELECT kind, text FROM messages WHERE run = ?1 ORDER BY number")),
      read_reductions_(in.prepare(
          "SELECT tensor, worker, step, mode, mode_step, dtype, shape, count, known, nan, pos_inf, neg_inf, zeros, " +
          reduction_columns() +
          " FROM reductions WHERE run = (SELECT id FROM runs WHERE path = ?1) ORDER BY reductions.number")) {}

void run_rows::remove(std::string_view path) { remove_.with(path).run(); }

std::int64_t run_rows::id_of_question(std::string_view question) {
    // Looked up within the transaction that names it: the one that inserted it may have been undone.
    if (find_question_.with(question).next()) {
        const std::int64_t id = find_question_.integer(0);
        find_question_.reset();
        return id;
    }
    insert_question_.with(question).run();
    return in_.last_row();
}

std::int64_t run_rows::insert(std::string_view path, const run_result& result, std::string_view question) {
    const batch_run& run = result.run;
    insert_run_
        .with(path, run.place, result.state, result.error, run.version, unless(std::uint64_t{0}, run.bytes),
              id_of_question(question), result.steps, result.last_step, result.workers, result.tensors, result.seconds,
              run.path)
        .run();
    return in_.last_row();
}

/// The first step at which a rule was met.
[[nodiscard]] inline std::optional<step_number> first_step_of(const rule_result& verdict) {
    std::optional<step_number> first;
    for (const finding& each : verdict.outcome.findings) {
        if (each.met && each.step != -1 && (!first || each.step < *first)) {
            first = each.step;
        }
    }
    return first;
}

void run_rows::insert_verdicts(std::int64_t id, const run_result& result) {
    std::int64_t number = 0;
    for (const rule_result& verdict : result.verdicts) {
        const rule_outcome& outcome = verdict.outcome;
        insert_result_
            .with(id, number, verdict.name, unless(rule_status::not_applicable, verdict.status), first_step_of(verdict),
                  outcome.evaluated, std::uint64_t{outcome.met_at.size()}, outcome.skipped, outcome.tensors,
                  outcome.unread, verdict.summary)
            .run();
        std::int64_t order = 0;
        for (const finding& each : outcome.findings) {
            insert_finding_
                .with(id, number, order++, std::int64_t{each.met}, std::int64_t{each.damaged}, each.rule,
                      unless<step_number>(-1, each.step), each.mode, unless<step_number>(-1, each.mode_step),
                      each.tensor, each.worker, each.value, each.threshold, each.message)
                .run();
        }
        ++number;
    }
    number = 0;
    for (const run_message& each : result.messages) {
        insert_message_.with(id, number++, each.what, each.text).run();
    }
}

void run_rows::insert_reductions(std::int64_t id, std::int64_t number, const reduction_row& row) {
    statement& into = insert_reductions_;
    const reduction_values& values = row.reductions;
    into.with(id, number, row.name, row.worker, row.step, row.mode, row.mode_step,
              unless<std::string_view>("", row.dtype), row.shape,
              row.dtype.empty() && !row.shape ? std::nullopt : std::optional{values.count},
              std::int64_t{values.computed.mask});
    int index = 12;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        const bool is_known = values.computed.contains(reduction_key::from_index(i));
        into.put(index++, is_known ? std::optional{values.value[i]} : std::nullopt);
    }
    for (const std::uint64_t count : {values.nan, values.pos_inf, values.neg_inf, values.zeros}) {
        into.put(index++, values.computed.has_counts() ? std::optional{count} : std::nullopt);
    }
    into.run();
}

std::optional<run_result> run_rows::read(std::string_view path) {
    const reading row{read_run_};
    if (!row->with(path).next()) {
        return std::nullopt;
    }
    run_result result;
    result.run = {.place = as_count(row->integer(2)),
                  .path = std::string{row->text(1)},
                  .version = std::string{row->text(5)},
                  .bytes = as_count(row->integer(6))};
    result.state = value_named(row->text(3), states, in_.path());
    result.error = row->text(4);
    result.steps = as_count(row->integer(7));
    result.last_step = step_in(*row, 8);
    result.workers = as_count(row->integer(9));
    result.tensors = as_count(row->integer(10));
    result.seconds = row->real(11);
    read_verdicts(row->integer(0), result);
    return result;
}

void run_rows::read_verdicts(std::int64_t id, run_result& result) {
    const reading row{read_results_};
    row->with(id);
    std::vector<std::uint64_t> steps_met;
    while (row->next()) {
        rule_result& verdict = result.verdicts.emplace_back();
        verdict.name = row->text(0);
        verdict.status =
            row->is_null(1) ? rule_status::not_applicable : value_named(row->text(1), statuses, in_.path());
        verdict.outcome.evaluated = as_count(row->integer(2));
        steps_met.push_back(as_count(row->integer(3)));
        verdict.outcome.skipped = as_count(row->integer(4));
        verdict.outcome.tensors = as_count(row->integer(5));
        verdict.outcome.unread = as_count(row->integer(6));
        verdict.summary = row->text(7);
        verdict.details = verdict.summary;
    }
    const reading found{read_findings_};
    found->with(id);
    while (found->next()) {
        const std::uint64_t result_number = as_count(found->integer(0));
        if (result_number >= result.verdicts.size()) {
            throw corrupt_data("the database " + in_.path() + " has findings of a result that it lacks",
                               {.where = in_.path()});
        }
        result.verdicts[result_number].outcome.findings.push_back(
            {.met = found->integer(1) != 0,
             .damaged = found->integer(2) != 0,
             .tensor = std::string{found->text(7)},
             .worker = std::string{found->text(8)},
             .rule = std::string{found->text(3)},
             .step = step_in(*found, 4).value_or(-1),
             .mode_step = step_in(*found, 6).value_or(-1),
             .mode = value_named(found->text(5), modes, in_.path()),
             .value = found->real(9),
             .threshold = found->real(10),
             .message = std::string{found->text(11)}});
    }
    for (std::size_t i = 0; i < result.verdicts.size(); ++i) {  // each step has a finding, at least
        rule_outcome& outcome = result.verdicts[i].outcome;
        const finding* last = nullptr;
        for (const finding& each : outcome.findings) {
            // In a log, steps of two modes share a number.
            const bool is_next = last == nullptr || last->step != each.step || last->mode != each.mode;
            if (is_next && outcome.met_at.size() < steps_met[i]) {
                outcome.met_at.push_back(each.step);
            }
            last = &each;
        }
    }
    const reading message{read_messages_};
    message->with(id);
    while (message->next()) {
        result.messages.push_back(
            {.what = value_named(message->text(0), kinds, in_.path()), .text = std::string{message->text(1)}});
    }
}

void run_rows::read_reductions(std::string_view path, function_ref<void(const reduction_row&)> take) {
    const reading row{read_reductions_};
    row->with(path);
    while (row->next()) {
        reduction_row each{.step = row->integer(2),
                           .mode_step = row->integer(4),
                           .mode = value_named(row->text(3), modes, in_.path()),
                           .worker = std::string{row->text(1)},
                           .name = std::string{row->text(0)},
                           .dtype = std::string{row->text(5)}};
        if (!row->is_null(6)) {
            each.shape = row->text(6);
        }
        reduction_values& values = each.reductions;
        values.count = as_count(row->integer(7));
        values.computed.mask = static_cast<std::uint32_t>(row->integer(8));
        values.nan = as_count(row->integer(9));
        values.pos_inf = as_count(row->integer(10));
        values.neg_inf = as_count(row->integer(11));
        values.zeros = as_count(row->integer(12));
        for (std::size_t i = 0; i < values.value.size(); ++i) {
            values.value[i] = row->real(13 + static_cast<int>(i));
        }
        take(each);
    }
}

void run_rows::for_each_run(
    function_ref<void(std::uint64_t, std::string_view, std::string_view, std::string_view)> take) {
    statement row = in_.prepare(
        "SELECT place, path, name, questions.text FROM runs JOIN questions ON questions.id = question "
        "ORDER BY place, runs.id");
    while (row.next()) {
        take(as_count(row.integer(0)), row.text(1), row.text(2), row.text(3));
    }
}

void run_rows::for_each_done_in(std::string_view path, std::string_view question,
                                function_ref<void(std::string_view, std::string_view)> take) {
    const reading ends{find_done_};
    const std::string inside = std::string{path} + "!/";
    const std::string behind = std::string{path} + "!0";  // '0' comes behind '/'
    find_done_.with(path, inside, behind, question);
    while (find_done_.next()) {
        take(find_done_.text(0), find_done_.text(1));
    }
}

std::vector<located_run> run_rows::runs_at(std::string_view path) {
    statement row = in_.prepare(
        "SELECT id, path FROM runs WHERE (path = ?1 OR (path >= ?2 AND path < ?3) OR (path >= ?4 AND path < ?5)) "
        "AND state <> 'gone' ORDER BY path");
    // '0' comes behind '/'.
    const std::string folder{path.ends_with('/') ? path.substr(0, path.size() - 1) : path};
    const std::array<std::string, 4> bounds{folder + "/", folder + "0", folder + "!/", folder + "!0"};
    row.with(path, bounds[0], bounds[1], bounds[2], bounds[3]);
    std::vector<located_run> all;
    while (row.next()) {
        all.push_back({row.integer(0), std::string{row.text(1)}});
    }
    return all;
}

void run_rows::mark_gone(std::int64_t id, std::string_view why) {
    in_.prepare(
           "UPDATE runs SET state = 'gone', error = ?2, version = '', "
           "scanned_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?1")
        .with(id, why)
        .run();
}

passed_run run_rows::passed(std::string_view path) {
    passed_run known;
    if (find_passed_.with(path).next()) {
        known = {.is_incomplete = find_passed_.integer(0) != 0, .has_findings = find_passed_.integer(1) != 0};
        find_passed_.reset();
    }
    return known;
}

}  // namespace smdebug::inline v1::detail::sqlite
