#include <program/database/sqlite.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>

#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <new>
#include <system_error>

namespace smdebug::inline v1::detail::sqlite {

void fail(::sqlite3* from, int code, const std::string& path, std::string_view doing) {
    // SQLite reports the system's errno for openings, but not for every failure after them.
    const bool is_io = (code & 0xFF) == SQLITE_IOERR || (code & 0xFF) == SQLITE_CANTOPEN;
    const int last = is_io ? errno : 0;
    const int kept = from == nullptr ? 0 : ::sqlite3_system_errno(from);
    const int system = kept != 0 ? kept : last;
    const std::string says = from == nullptr ? ::sqlite3_errstr(code) : ::sqlite3_errmsg(from);
    const std::string what = "cannot " + std::string{doing} + " the database " + path + ": ";
    const std::string why = " (SQLite: " + says +
                            (system == 0 ? std::string{} : "; system: " + std::generic_category().message(system)) +
                            ")";
    const error_context where{.where = path};
    switch (code & 0xFF) {
        case SQLITE_NOMEM:
            throw std::bad_alloc{};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw unavailable(error_code::in_use,
                              what + "another program is writing to it; try again when that has ended" + why, where);
        case SQLITE_INTERRUPT:
            throw stopped_error(what + "it was stopped", where);
        case SQLITE_FULL:
            throw unavailable(what + "there is no room left on its disk; make some, and go on" + why, where);
        case SQLITE_CORRUPT:
            throw corrupt_data(
                what +
                    "it is damaged; move it away with the files beside it (-wal, -shm) and begin a new one, or "
                    "have `sqlite3 FILE .recover` look for what is left" +
                    why,
                where);
        case SQLITE_NOTADB:
            throw corrupt_data(what + "it is no database; name another file" + why, where);
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_READONLY:
            throw access_denied(what + "there is no right to write to it, or to make files beside it" + why, where);
        case SQLITE_TOOBIG:
            throw value_error(what + "a text is longer than SQLite takes" + why, where);
        default:
            break;
    }
    if (system == ENOSPC || system == EDQUOT || system == EFBIG) {
        throw unavailable(
            what + "there is no room left on its disk, or the file may not grow; make room, and go on" + why, where);
    }
    if (system == EACCES || system == EPERM || system == EROFS) {
        throw access_denied(what + "there is no right to, or to make files beside it" + why, where);
    }
    if ((code & 0xFF) == SQLITE_CANTOPEN) {
        throw not_found(what + "there is no such file, or its folder is missing" + why, where);
    }
    throw unavailable(what + "its disk, or SQLite, failed" + why, where);
}

std::string uri_of(const std::string& path, access how) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string uri = "file:";
    for (const char each : path) {
        if (each == '%' || each == '?' || each == '#') {
            const auto code = static_cast<unsigned char>(each);
            uri += {'%', digits[code / 16U], digits[code % 16U]};
        } else {
            uri += each;
        }
    }
    return uri + (how == access::read_only ? "?mode=ro&immutable=1" : "?mode=ro");
}

// Statements ------------------------------------------------------------------------------------------------------

statement::statement(::sqlite3* from, std::string_view sql, const std::string& path) : from_(from), path_(&path) {
    check(::sqlite3_prepare_v3(from, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &handle_,
                               nullptr),
          "use");
}

statement::~statement() { ::sqlite3_finalize(handle_); }

void statement::check(int code, std::string_view doing) const {
    if (code != SQLITE_OK) {
        fail(from_, code, *path_, doing);
    }
}

void statement::put(int index, std::int64_t value) { check(::sqlite3_bind_int64(handle_, index, value), "use"); }

void statement::put(int index, double value) { check(::sqlite3_bind_double(handle_, index, value), "use"); }

void statement::put(int index, std::string_view text) {
    const char* const data = text.empty() ? "" : text.data();  // a null pointer would be NULL
    const bool plain = text.find('\0') == std::string_view::npos && is_utf8(text);
    check(plain ? ::sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8)
                : ::sqlite3_bind_blob64(handle_, index, data, text.size(), SQLITE_STATIC),
          "write to");
}

void statement::put(int index, std::nullptr_t) { check(::sqlite3_bind_null(handle_, index), "use"); }

bool statement::next() {
    const int code = ::sqlite3_step(handle_);
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code != SQLITE_DONE) {
        try {
            fail(from_, code, *path_, ::sqlite3_stmt_readonly(handle_) != 0 ? "read" : "write to");
        } catch (...) {
            reset();
            throw;
        }
    }
    reset();
    return false;
}

void statement::run() {
    while (next()) {
    }
}

void statement::reset() noexcept { static_cast<void>(::sqlite3_reset(handle_)); }

std::int64_t statement::integer(int column) const noexcept { return ::sqlite3_column_int64(handle_, column); }

double statement::real(int column) const noexcept {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : ::sqlite3_column_double(handle_, column);
}

std::string_view statement::text(int column) const noexcept {
    const void* const bytes = ::sqlite3_column_blob(handle_, column);
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column))};
}

bool statement::is_null(int column) const noexcept { return ::sqlite3_column_type(handle_, column) == SQLITE_NULL; }

int statement::columns() const noexcept { return ::sqlite3_column_count(handle_); }

// Connections -----------------------------------------------------------------------------------------------------

connection::connection(const std::string& path, access how, std::chrono::milliseconds patience) : path_(path) {
    std::error_code none;
    if (std::filesystem::is_other(path, none)) {  // SQLite would wait for the other end of a pipe
        throw unavailable("cannot open the database " + path + ": it is a pipe, a device or a socket; name a file",
                          {.where = path});
    }
    // Each is used by one thread at a time, so that SQLite need not lock it at every call.
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    const bool reads = how == access::read || how == access::read_only;
    flags |= reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    flags |= how == access::create ? SQLITE_OPEN_CREATE : 0;
    // A path that began with "file:" would be taken for a URI.
    const std::string name = reads ? uri_of(path, how) : path.starts_with("file:") ? "./" + path : path;
    const int code = ::sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
    try {
        if (code != SQLITE_OK) {
            fail(handle_, code, path, "open");
        }
        static_cast<void>(::sqlite3_busy_timeout(handle_, static_cast<int>(patience.count())));
        // Views and triggers of a forged file must not reach anything outside it.
        static_cast<void>(::sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
        static_cast<void>(::sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
    } catch (...) {
        close();
        throw;
    }
}

connection::~connection() { close(); }

void connection::close() noexcept { static_cast<void>(::sqlite3_close_v2(handle_)); }

void connection::run(const std::string& sql) {
    const int code = ::sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        fail(handle_, ::sqlite3_extended_errcode(handle_), path_, "use");
    }
}

std::int64_t connection::number(std::string_view sql) {
    statement asked = prepare(sql);
    return asked.next() ? asked.integer(0) : 0;
}

std::int64_t connection::last_row() const noexcept { return ::sqlite3_last_insert_rowid(handle_); }

std::int64_t connection::changed() const noexcept { return ::sqlite3_changes(handle_); }

bool connection::in_transaction() const noexcept { return ::sqlite3_get_autocommit(handle_) == 0; }

void connection::set_tidy_at_closing(bool tidy) noexcept {
    static_cast<void>(::sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, tidy ? 0 : 1, nullptr));
}

void connection::set_stop(bool (*stop)(void*), void* of) noexcept {
    constexpr int instructions = 10'000;  // of SQLite's machine, between two questions: well below a millisecond
    stop_ = stop;
    stop_of_ = of;
    const auto ask = [](void* self) -> int {
        const auto* const mine = static_cast<const connection*>(self);
        return mine->stop_(mine->stop_of_) ? 1 : 0;
    };
    if (stop == nullptr) {
        ::sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
    } else {
        ::sqlite3_progress_handler(handle_, instructions, ask, this);
    }
}

// Transactions ----------------------------------------------------------------------------------------------------

transaction::transaction(connection& of) : of_(&of) {
    of.run("BEGIN IMMEDIATE");  // to write: one that only became a writer later could not wait for others
}

transaction::~transaction() {
    if (of_ != nullptr && of_->in_transaction()) {
        try {
            of_->run("ROLLBACK");
        } catch (...) {  // it then ends with the connection
        }
    }
}

void transaction::commit() {
    if (of_ != nullptr) {
        of_->run("COMMIT");
        of_ = nullptr;
    }
}

}  // namespace smdebug::inline v1::detail::sqlite
