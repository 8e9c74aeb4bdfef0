#include <program/database/merge_databases.hpp>

#include <program/database/schema.hpp>
#include <program/database/sqlite.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace smdebug::inline v1 {
namespace detail::sqlite {

/// What differs whenever a file is changed, and whether a journal or WAL lies beside it.
struct file_state {
    std::uintmax_t size = 0;
    std::filesystem::file_time_type time = {};
    bool is_alone = true;
    friend bool operator==(const file_state&, const file_state&) = default;
};

[[nodiscard]] inline bool has_content(const std::string& path) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path, none);
    return !none && size > 0;
}

[[nodiscard]] inline file_state state_of_file(const std::string& path) {
    std::error_code failed;
    file_state now;
    now.size = std::filesystem::file_size(path, failed);
    now.time = std::filesystem::last_write_time(path, failed);
    now.is_alone = !has_content(path + "-wal") && !has_content(path + "-journal");
    return now;
}

/// Writes runs of other databases into an empty one.
class merger {
public:
    merger(const std::string& target, const std::stop_token& stop)
        : into_(target, access::create, std::chrono::seconds{10}), stop_(stop) {
        // It is invisible before it is whole, so it need not survive its writer.
        into_.run(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; PRAGMA temp_store = "
            "MEMORY");
        settle_schema(into_);
        into_.set_stop([](void* of) { return static_cast<const std::stop_token*>(of)->stop_requested(); }, &stop_);
    }

    /// Takes over the runs of a source that win over existing ones; returns how many the source has.
    [[nodiscard]] std::size_t add(const std::string& source) {
        if (!look_at_file(source)) {
            throw not_found("there is no database " + source, {.where = source});
        }
        const file_state before = state_of_file(source);
        const access how = before.is_alone ? access::read_only : access::read;
        {
            connection checked{source, how, std::chrono::seconds{10}};
            if (!look_at(checked)) {
                throw corrupt_data("the database " + source + " has no tables: its writer died at the beginning",
                                   {.where = source});
            }
        }
        std::size_t runs = 0;
        into_.prepare("ATTACH ?1 AS source").with(uri_of(source, how)).run();
        try {
            runs = copy();
        } catch (const corrupt_data& damage) {
            throw corrupt_data("the database " + source + " is damaged: " + std::string{damage.message()},
                               {.where = source});
        }
        into_.run("DETACH source");
        if (state_of_file(source) != before && before.is_alone) {
            throw unavailable(
                "the database " + source + " was changed while it was read; merge when no program writes to it",
                {.where = source});
        }
        return runs;
    }

    [[nodiscard]] std::size_t count(std::string_view of) {
        return static_cast<std::size_t>(into_.number("SELECT count(*) FROM " + std::string{of}));
    }

private:
    [[nodiscard]] std::size_t copy() {
        const std::string done = "state IN " + std::string{settled_states};
        // Tables of version 1 have no column for names: paths are as they were written.
        const bool has_names =
            into_.number("SELECT count(*) FROM pragma_table_info('runs', 'source') WHERE name = 'name'") > 0;
        transaction changes{into_};
        const auto runs = static_cast<std::size_t>(into_.number("SELECT count(*) FROM source.runs"));
        into_.run(
            "CREATE TEMP TABLE won (old INTEGER PRIMARY KEY, new INTEGER NOT NULL, replaced INTEGER);"
            "INSERT INTO won SELECT theirs.id,"
            "    (SELECT coalesce(max(id), 0) FROM main.runs) + row_number() OVER (ORDER BY theirs.id), ours.id"
            "  FROM source.runs AS theirs LEFT JOIN main.runs AS ours ON ours.path = theirs.path"
            "  WHERE ours.id IS NULL OR (theirs." +
            done + ", theirs.scanned_at) > (ours." + done +
            ", ours.scanned_at);"
            "DELETE FROM main.runs WHERE id IN (SELECT replaced FROM won);"
            "INSERT OR IGNORE INTO main.questions (text) SELECT text FROM source.questions"
            "  WHERE id IN (SELECT question FROM source.runs JOIN won ON won.old = runs.id) ORDER BY id;"
            "INSERT INTO main.runs SELECT won.new, path, place, state, error, version, bytes,"
            "    (SELECT id FROM main.questions AS ours WHERE ours.text ="
            "      (SELECT text FROM source.questions AS theirs WHERE theirs.id = question)),"
            "    steps, last_step, workers, tensors, seconds, scanned_at, " +
            std::string{has_names ? "name" : "path"} +
            "  FROM source.runs JOIN won ON won.old = runs.id ORDER BY won.new");
        for (const std::string_view table : {"results", "findings", "messages", "reductions"}) {
            const std::string name{table};
            // All columns but the first, which is the run.
            std::string columns;
            statement asked = into_.prepare("SELECT name FROM pragma_table_info(?1) WHERE cid > 0 ORDER BY cid");
            asked.with(table);
            while (asked.next()) {
                columns.append(", theirs.\"").append(asked.text(0)).append("\"");
            }
            into_.run("INSERT INTO main." + name + " SELECT won.new" + columns + " FROM won CROSS JOIN source." + name +
                      " AS theirs ON theirs.run = won.old ORDER BY won.old");
        }
        into_.run("DROP TABLE won");
        if (!has_names) {
            into_.run(std::string{mark_incomplete_sql});
            make_paths_whole(into_);
        }
        changes.commit();
        return runs;
    }

    connection into_;
    std::stop_token stop_;
};

/// Call before another database replaces it: files beside the old one would be taken for the new one's.
inline void free_place(const std::string& target, bool replace) {
    std::error_code none;
    if (!std::filesystem::exists(std::filesystem::symlink_status(target, none))) {
        if (has_content(target + "-wal") || has_content(target + "-journal")) {
            throw run_exists("beside " + target + " lies a -wal or -journal of a database that is gone; remove it",
                             {.where = target});
        }
        return;
    }
    if (!replace) {
        throw run_exists(target + " is there already; remove it, or have it replaced", {.where = target});
    }
    if (look_at_file(target)) {
        connection old{target, access::write, std::chrono::seconds{10}};
        static_cast<void>(look_at(old));
        // Succeeds only if no other connection has it open: merges the WAL and removes it.
        statement asked = old.prepare("PRAGMA journal_mode = DELETE");
        if (!asked.next() || asked.text(0) != "delete") {
            throw unavailable(error_code::in_use,
                              "the database " + target + " is in use by another program, and cannot be replaced",
                              {.where = target});
        }
    }
}

}  // namespace detail::sqlite

merge_result merge_databases(std::span<const std::string> sources, const std::string& target,
                             const merge_options& options) {
    namespace sqlite = detail::sqlite;
    if (sources.empty()) {
        throw value_error("there is nothing to merge", {.where = target});
    }
    for (const std::string& source : sources) {
        std::error_code missing;
        if (source == target || std::filesystem::equivalent(source, target, missing)) {
            throw value_error(target + " is one of the databases that are to be merged into it; name another target",
                              {.where = target});
        }
    }
    if (!options.replace) {
        sqlite::free_place(target, false);  // before the work, and again behind it
    }
    merge_result merged;
    detail::posix::whole_file_output output{target};
    {
        sqlite::merger all{output.name(), options.stop};
        for (const std::string& source : sources) {
            if (options.stop.stop_requested()) {
                throw stopped_error("merging into " + target + " was stopped; nothing was written", {.where = target});
            }
            merged.read += all.add(source);
        }
        merged.runs = all.count("runs");
        merged.failed = all.count("troubles");
    }
    output.sync();
    sqlite::free_place(target, options.replace);
    output.commit(durability::on_disk);
    return merged;
}

}  // namespace smdebug::inline v1
