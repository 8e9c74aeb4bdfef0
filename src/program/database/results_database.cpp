#include <program/database/results_database.hpp>

#include <program/database/done_runs.hpp>
#include <program/database/run_rows.hpp>
#include <program/database/schema.hpp>
#include <program/database/sqlite.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail::sqlite {

/// Makes the database write by a WAL.  It cannot wait for others by itself.
inline void use_wal(connection& database, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
        try {
            statement asked = database.prepare("PRAGMA journal_mode = WAL");
            if (!asked.next() || asked.text(0) != "wal") {
                throw unavailable(
                    "the database " + database.path() +
                        " lies where SQLite cannot share memory with other programs; use a disk of this machine, "
                        "and `smdebug merge` to bring the results elsewhere",
                    {.where = database.path()});
            }
            return;
        } catch (const unavailable& busy) {
            if (busy.code() != error_code::in_use || std::chrono::steady_clock::now() >= until) {
                throw;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

/// An open database of results, ready to be written to.
class results_connection {
public:
    results_connection(const std::string& path, std::chrono::milliseconds patience, bool alone)
        : database_((static_cast<void>(look_at_file(path)), path), access::create, patience) {
        if (alone) {
            database_.run(
                "PRAGMA locking_mode = EXCLUSIVE");  // before the first look: then the WAL has no shared memory
        }
        database_.set_tidy_at_closing(false);       // it may be another program's
        database_.run("PRAGMA foreign_keys = ON");  // settling may remove runs, with all their rows
        settle_schema(database_);
        use_wal(database_, patience);
        database_.set_tidy_at_closing(true);
        // NORMAL: the disk is waited for at checkpoints only.  A transaction that SQLite said to have ended survives
        // the end of the process; the end of the machine may cost the last ones, which are then done again.
        // A checkpoint each 64 MiB: what waits for the disk is spread over thousands of runs.
        database_.run(
            "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000; "
            "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16000");
    }
    [[nodiscard]] connection& get() noexcept { return database_; }

private:
    connection database_;
};

}  // namespace detail::sqlite

struct results_database::state {
    /// A run whose reductions are being added.
    struct begun_run {
        detail::sqlite::transaction changes;
        std::string path;  // by which it is known
        std::string name;
        std::string question;
        std::int64_t id = 0;
        std::int64_t rows = 0;
        std::optional<detail::sqlite::stored_run> replaced = {};
    };

    state(const std::string& path, std::chrono::milliseconds patience, bool alone)
        : database(path, patience, alone), rows(database.get()) {
        done.reserve(static_cast<std::size_t>(database.get().number("SELECT count(*) FROM runs")));
        rows.for_each_done([&](std::string_view run, std::string_view version, std::string_view question) {
            done.insert(detail::sqlite::hash_of_run(run, version, question));
        });
    }

    /// Those of one call; of a group none of its own.
    [[nodiscard]] detail::sqlite::transaction changes() {
        return group ? detail::sqlite::transaction{} : detail::sqlite::transaction{database.get()};
    }

    /// Stores a run without its verdicts in place of what was there; begun.changes is not yet committed.
    [[nodiscard]] begun_run begin(const run_result& result, std::string_view question) {
        if (begun) {
            throw value_error("reductions of " + begun->name + " were begun and not ended: " + result.run.path +
                                  " cannot be written meanwhile",
                              {.where = database.get().path()});
        }
        begun_run now{.changes = changes(),
                      .path = detail::run_key_of(result.run.path),
                      .name = result.run.path,
                      .question = std::string{question}};
        now.replaced = rows.find(now.path);
        if (now.replaced) {
            rows.remove(now.replaced->id);
        }
        now.id = rows.insert(now.path, result, question);
        return now;
    }

    void finish(begun_run now, const run_result& result) {
        rows.insert_verdicts(now.id, result);
        done.make_room();  // what may fail, before it is stored
        now.changes.commit();
        if (now.replaced) {
            done.erase(detail::sqlite::hash_of_run(now.path, now.replaced->version, now.replaced->question));
        }
        if (detail::sqlite::is_done_state(result.state) && !result.run.version.empty()) {
            done.insert(detail::sqlite::hash_of_run(now.path, result.run.version, now.question));
        }
    }

    /// The run that was begun; the caller puts it back, or it is undone.
    [[nodiscard]] begun_run take_begun() {
        if (!begun) {
            throw value_error("reductions are to be added to a run, and none was begun",
                              {.where = database.get().path()});
        }
        begun_run now = *std::move(begun);
        begun.reset();
        return now;
    }

    detail::sqlite::results_connection database;
    detail::sqlite::run_rows rows;
    detail::sqlite::done_runs done = {};
    // Behind the database: they end before it.
    std::optional<detail::sqlite::transaction> group = {};
    std::optional<begun_run> begun = {};
};

results_database::results_database(const std::string& path, std::chrono::milliseconds patience, bool alone)
    : state_(std::make_unique<state>(path, patience, alone)) {}
results_database::results_database(results_database&&) noexcept = default;
results_database& results_database::operator=(results_database&&) noexcept = default;
results_database::~results_database() = default;

const std::string& results_database::path() const noexcept { return state_->database.get().path(); }

bool results_database::is_done(const batch_run& run, std::string_view question) const {
    return !run.version.empty() &&
           state_->done.contains(detail::sqlite::hash_of_run(detail::run_key_of(run.path), run.version, question));
}

std::optional<std::string> results_database::done_version(std::string_view path, std::string_view question) {
    std::optional<std::string> version;
    for_each_done_in(path, question, [&](std::string_view run, std::string_view text) {
        if (run == path) {
            version = text;
        }
    });
    return version;
}

void results_database::for_each_done_in(std::string_view path, std::string_view question,
                                        function_ref<void(std::string_view, std::string_view)> take) {
    const std::string key = detail::run_key_of(path);
    state_->rows.for_each_done_in(key, question, [&](std::string_view run, std::string_view version) {
        take(std::string{path}.append(run.substr(key.size())), version);
    });
}

std::size_t results_database::done_count() const noexcept { return state_->done.size(); }

void results_database::write(const run_result& result, std::string_view question) {
    state::begun_run now = state_->begin(result, question);
    if (result.reductions != nullptr) {
        result.reductions->for_each(
            [&](const reduction_row& row) { state_->rows.insert_reductions(now.id, now.rows++, row); });
    }
    state_->finish(std::move(now), result);
}

void results_database::begin_group() { state_->group.emplace(state_->database.get()); }

void results_database::end_group() {
    state_->group->commit();
    state_->group.reset();
}

void results_database::begin_reductions(const batch_run& run, std::string_view question) {
    state_->begun.emplace(state_->begin({.run = run, .state = run_state::undone}, question));
}

void results_database::add_reductions(std::span<const reduction_row> rows) {
    state::begun_run now = state_->take_begun();
    for (const reduction_row& row : rows) {
        state_->rows.insert_reductions(now.id, now.rows++, row);
    }
    state_->begun.emplace(std::move(now));
}

void results_database::end_reductions(const run_result& result) {
    state::begun_run now = state_->take_begun();
    if (detail::run_key_of(result.run.path) != now.path) {
        throw value_error(
            "reductions of " + now.name + " were begun, and those of " + result.run.path + " are to be ended",
            {.where = path()});
    }
    state_->rows.update(now.id, now.path, result, now.question);
    state_->finish(std::move(now), result);
}

void results_database::abandon_reductions() noexcept { state_->begun.reset(); }

std::optional<run_result> results_database::find(std::string_view path) {
    return state_->rows.read(detail::run_key_of(path));
}

passed_run results_database::passed(std::string_view path) { return state_->rows.passed(detail::run_key_of(path)); }

std::size_t results_database::mark_gone(std::string_view path, std::string_view why,
                                        function_ref<bool(std::string_view)> is_gone) {
    const std::string key = detail::run_key_of(path);
    std::vector<detail::sqlite::located_run> gone = state_->rows.runs_at(key);
    std::erase_if(gone, [&](const auto& run) { return !is_gone(std::string_view{run.path}.substr(key.size())); });
    detail::sqlite::transaction changes = state_->changes();
    for (const auto& run : gone) {
        state_->rows.mark_gone(run.stored.id, why);
    }
    changes.commit();
    for (const auto& run : gone) {
        state_->done.erase(detail::sqlite::hash_of_run(run.path, run.stored.version, run.stored.question));
    }
    return gone.size();
}

void results_database::for_each_run(function_ref<void(std::uint64_t, std::string_view, std::string_view)> take) {
    state_->rows.for_each_run(
        [&](std::uint64_t place, std::string_view path, std::string_view name, std::string_view question) {
            take(place, detail::run_key_of(std::string{name}) == path ? name : path, question);
        });
}

void results_database::for_each_reduction(std::string_view path, function_ref<void(const reduction_row&)> take) {
    state_->rows.read_reductions(detail::run_key_of(path), take);
}

}  // namespace smdebug::inline v1
