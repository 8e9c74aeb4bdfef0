#include <program/database/results_database.hpp>

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
    state(const std::string& path, std::chrono::milliseconds patience, bool alone)
        : database(path, patience, alone), rows(database.get()) {}

    /// Those of one call; of a group none of its own.
    [[nodiscard]] detail::sqlite::transaction changes() {
        return group ? detail::sqlite::transaction{} : detail::sqlite::transaction{database.get()};
    }

    detail::sqlite::results_connection database;
    detail::sqlite::run_rows rows;
    std::optional<detail::sqlite::transaction> group = {};  // behind the database: it ends before that
};

results_database::results_database(const std::string& path, std::chrono::milliseconds patience, bool alone)
    : state_(std::make_unique<state>(path, patience, alone)) {}
results_database::results_database(results_database&&) noexcept = default;
results_database& results_database::operator=(results_database&&) noexcept = default;
results_database::~results_database() = default;

const std::string& results_database::path() const noexcept { return state_->database.get().path(); }

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

void results_database::write(const run_result& result, std::string_view question) {
    detail::sqlite::run_rows& rows = state_->rows;
    detail::sqlite::transaction changes = state_->changes();
    const std::string path = detail::run_key_of(result.run.path);
    rows.remove(path);
    const std::int64_t id = rows.insert(path, result, question);
    if (result.reductions != nullptr) {
        std::int64_t number = 0;
        result.reductions->for_each([&](const reduction_row& row) { rows.insert_reductions(id, number++, row); });
    }
    rows.insert_verdicts(id, result);
    changes.commit();
}

void results_database::begin_group() { state_->group.emplace(state_->database.get()); }

void results_database::end_group() {
    state_->group->commit();
    state_->group.reset();
}

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
        state_->rows.mark_gone(run.id, why);
    }
    changes.commit();
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
