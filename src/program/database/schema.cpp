#include <program/database/schema.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail::sqlite {

/// A text with each `mark` in it replaced.
[[nodiscard]] inline std::string replaced(std::string text, std::string_view mark, std::string_view by) {
    for (std::size_t start = text.find(mark); start != std::string::npos; start = text.find(mark)) {
        text.replace(start, mark.size(), by);
    }
    return text;
}

/// What is made of the tables: other versions have it in another way.
[[nodiscard]] inline std::string views_sql() {
    return replaced(R"(CREATE INDEX runs_failed ON runs (state) WHERE state NOT IN @quiet@;
CREATE VIEW first_findings AS
    SELECT runs.path, results.rule, results.first_step AS step, findings.mode, findings.mode_step, findings.tensor,
        findings.worker, findings.value, findings.threshold, findings.message, results.steps_met, results.steps_evaluated
    FROM results
    JOIN runs ON runs.id = results.run
    LEFT JOIN findings ON findings.run = results.run AND findings.result = results.number AND findings.number = (
        SELECT min(number) FROM findings AS earlier
        WHERE earlier.run = results.run AND earlier.result = results.number AND earlier.met
            AND earlier.step = results.first_step)
    WHERE results.first_step IS NOT NULL AND runs.state <> 'gone';
CREATE VIEW troubles AS
    SELECT path, state, error, version, scanned_at FROM runs WHERE state NOT IN @quiet@;
)",
                    "@quiet@", quiet_states);
}

/// The tables, indexes and views.  Columns of doubles have no type: in one of type REAL SQLite keeps whole numbers as
/// integers, and so loses -0.0.
[[nodiscard]] inline std::string schema_sql() {
    std::string sql = R"(
CREATE TABLE questions (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    state TEXT NOT NULL,
    error TEXT NOT NULL,
    version TEXT NOT NULL,
    bytes INTEGER,
    question INTEGER NOT NULL REFERENCES questions (id),
    steps INTEGER NOT NULL,
    last_step INTEGER,
    workers INTEGER NOT NULL,
    tensors INTEGER NOT NULL,
    seconds NOT NULL,
    scanned_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    name TEXT NOT NULL DEFAULT ''
);
CREATE TABLE results (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    rule TEXT NOT NULL,
    status TEXT,
    first_step INTEGER,
    steps_evaluated INTEGER NOT NULL,
    steps_met INTEGER NOT NULL,
    steps_skipped INTEGER NOT NULL,
    tensors INTEGER NOT NULL,
    unread INTEGER NOT NULL,
    details TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE findings (
    run INTEGER NOT NULL,
    result INTEGER NOT NULL,
    number INTEGER NOT NULL,
    met INTEGER NOT NULL,
    damaged INTEGER NOT NULL,
    rule TEXT NOT NULL,
    step INTEGER,
    mode TEXT NOT NULL,
    mode_step INTEGER,
    tensor TEXT NOT NULL,
    worker TEXT NOT NULL,
    value,
    threshold,
    message TEXT NOT NULL,
    PRIMARY KEY (run, result, number),
    FOREIGN KEY (run, result) REFERENCES results (run, number) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE messages (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE reductions (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    tensor TEXT NOT NULL,
    worker TEXT NOT NULL,
    step INTEGER NOT NULL,
    mode TEXT NOT NULL,
    mode_step INTEGER NOT NULL,
    dtype TEXT,
    shape TEXT,
    count INTEGER,
    known INTEGER NOT NULL,
    @reductions@,
    nan INTEGER,
    pos_inf INTEGER,
    neg_inf INTEGER,
    zeros INTEGER,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX results_met ON results (rule, first_step) WHERE first_step IS NOT NULL;
)";
    return replaced(std::move(sql), "@reductions@", reduction_columns()) + views_sql();
}

std::string reduction_columns() {
    std::string columns;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        columns += (i == 0 ? "" : ", ") + reduction_key::from_index(i).name();
    }
    return columns;
}

[[noreturn]] inline void refuse_foreign(const std::string& path) {
    throw unsupported(path + " is a database of another program, and was left as it is; name another file for results",
                      {.where = path});
}

[[nodiscard]] inline bool knows_version(std::int64_t version) { return version >= 1 && version <= schema_version; }

[[noreturn]] inline void refuse_version(const std::string& path, std::int64_t version) {
    throw unsupported(path + " has results in tables of version " + std::to_string(version) +
                          "; this program knows versions 1 to " + std::to_string(schema_version) +
                          ", and left it as it is; use the program that wrote it, or " + "name another file",
                      {.where = path});
}

// Reads the beginning of a file; how much of it there is.
inline std::size_t read_head(int file, std::span<std::byte> into, const std::string& path) {
    std::size_t size = 0;
    while (size < into.size()) {
        const ::ssize_t got = ::read(file, into.data() + size, into.size() - size);
        if (got < 0 && errno != EINTR) {
            posix::fail("cannot read the database", path, errno);
        } else if (got == 0) {
            break;
        }
        size += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return size;
}

// Whether SQLite's journal or WAL lies beside a database: when SQLite opens it, they repair pages that were written
// only in part when the power failed.
inline bool is_mended_by_opening(const std::string& path) {
    // https://www.sqlite.org/fileformat.html#the_rollback_journal, #the_write_ahead_log, of which there are two.
    constexpr std::array<unsigned char, 8> journal{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    constexpr std::array<unsigned char, 4> log{0x37, 0x7f, 0x06, 0x82};
    constexpr std::array<unsigned char, 4> other_log{0x37, 0x7f, 0x06, 0x83};
    const auto begins_with = [&](const char* extension, std::span<const unsigned char> magic) {
        std::array<std::byte, 8> head{};
        const posix::descriptor file{posix::open_unbroken(path + extension, O_RDONLY | O_NONBLOCK)};
        if (file.get() < 0 || read_head(file.get(), head, path) < head.size()) {
            return false;
        }
        return std::equal(magic.begin(), magic.end(), head.begin(),
                          [](unsigned char a, std::byte b) { return std::byte{a} == b; });
    };
    return begins_with("-journal", journal) || begins_with("-wal", log) || begins_with("-wal", other_log);
}

bool look_at_file(const std::string& path) {
    // The beginning of every SQLite database, and the places of its numbers: https://www.sqlite.org/fileformat.html
    constexpr std::string_view magic{"SQLite format 3\0", 16};
    constexpr std::size_t cookie_place = 40;
    constexpr std::size_t version_place = 60;
    constexpr std::size_t application_place = 68;
    std::array<std::byte, 100> head{};
    const posix::descriptor file{posix::open_unbroken(path, O_RDONLY | O_NONBLOCK)};
    if (file.get() < 0) {
        if (errno == ENOENT) {
            return false;
        }
        posix::fail("cannot open the database", path, errno);
    }
    const std::size_t size = read_head(file.get(), head, path);
    if (size == 0) {
        return false;
    }
    const auto number = [&](std::size_t place) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            value = value << 8U | std::to_integer<std::uint32_t>(head[place + i]);
        }
        return value;
    };
    if (size < head.size() || as_text(head).substr(0, magic.size()) != magic) {
        if (is_mended_by_opening(path)) {
            return true;
        }
        throw corrupt_data(path + " is no database of results, and was left as it is; name another file",
                           {.where = path});
    }
    if (number(application_place) != application_id) {
        // If the writer died before making the tables, it has neither name nor tables.
        if (number(application_place) != 0 || number(cookie_place) != 0) {
            refuse_foreign(path);
        }
        return true;
    }
    if (!knows_version(number(version_place))) {
        refuse_version(path, number(version_place));
    }
    return true;
}

bool look_at(connection& database) {
    // By one statement: between two of them another program may make the tables.
    statement row = database.prepare(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)");
    static_cast<void>(row.next());
    const std::int64_t owner = row.integer(0);
    const std::int64_t version = row.integer(1);
    if (owner == 0 && version == 0 && row.integer(2) == 0) {
        return false;
    }
    if (owner != application_id) {
        refuse_foreign(database.path());
    }
    if (!knows_version(version)) {
        refuse_version(database.path(), version);
    }
    return true;
}

void make_paths_whole(connection& database) {
    std::vector<std::pair<std::int64_t, std::string>> relative;
    {
        statement row =
            database.prepare("SELECT id, path FROM runs WHERE path NOT LIKE '/%' AND path NOT LIKE 's3://%'");
        while (row.next()) {
            relative.emplace_back(row.integer(0), row.text(1));
        }
    }
    // If the run is also there by its absolute path, the row that merging would keep stays.
    statement forget = database.prepare(
        "DELETE FROM runs WHERE (id = ?1 OR path = ?2) AND EXISTS (SELECT 1 FROM runs AS other WHERE other.id <> "
        "runs.id AND "
        "(other.id = ?1 OR other.path = ?2) AND (other.state IN " +
        std::string{settled_states} + ", other.scanned_at, other.id) > (runs.state IN " + std::string{settled_states} +
        ", runs.scanned_at, runs.id))");
    statement rename = database.prepare("UPDATE runs SET path = ?2 WHERE id = ?1");
    for (const auto& [id, path] : relative) {
        const std::string whole =
            posix::absolute_path(path == "." ? std::string{} : path.substr(path.starts_with("./") ? 2 : 0));
        std::error_code none;
        if (std::filesystem::exists(whole.substr(0, whole.find("!/")), none)) {
            forget.with(id, whole).run();
            rename.with(id, whole).run();
        }
    }
}

inline void update_schema(connection& database) {
    database.run("ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT ''; UPDATE runs SET name = path;");
    make_paths_whole(database);
    database.run(std::string{mark_incomplete_sql} +
                 "DROP VIEW first_findings; DROP VIEW troubles; DROP INDEX runs_failed;" + views_sql() +
                 "PRAGMA user_version = " + std::to_string(schema_version));
}

void settle_schema(connection& database) {
    const auto is_settled = [&] {
        return look_at(database) && database.number("PRAGMA user_version") == schema_version;
    };
    if (is_settled()) {
        return;
    }
    transaction making{database};
    if (is_settled()) {
        return;  // another program was faster
    }
    if (look_at(database)) {
        update_schema(database);
    } else {
        database.run("PRAGMA application_id = " + std::to_string(application_id) +
                     "; PRAGMA user_version = " + std::to_string(schema_version) + ";" + schema_sql());
    }
    making.commit();
}

}  // namespace smdebug::inline v1::detail::sqlite
