// SQLite's C interface, owned and checked: a connection, a prepared statement, a transaction.
// Failures are errors of the library that name the file, SQLite's message, and what can be done.
// Texts come back to the byte: those that are not UTF-8, or hold a NUL, are stored as BLOBs, as other programs fail on
// such a TEXT.  Doubles, including -0.0 and infinities, come back from columns without a type; NaN becomes NULL, as
// SQLite has no NaN.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace smdebug::inline v1::detail::sqlite {

/// How a database is opened.
enum class access : std::uint8_t {
    read,       ///< others may write to it meanwhile
    read_only,  ///< no one writes, and no journal or WAL lies beside it: no file is made or changed
    write,
    create,  ///< write, and the file is made where it is missing
};

/// Throws the error for a result code.  `from`: the connection that failed, or null.
[[noreturn]] void fail(::sqlite3* from, int code, const std::string& path, std::string_view doing);

/// The name that makes SQLite open a path read-only.
[[nodiscard]] std::string uri_of(const std::string& path, access how);

/// A prepared statement.  It must not outlive its connection.
class statement {
public:
    statement(::sqlite3* from, std::string_view sql, const std::string& path);
    statement(statement&& other) noexcept
        : from_(other.from_), handle_(std::exchange(other.handle_, nullptr)), path_(other.path_) {}
    statement& operator=(statement&&) = delete;
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement();

    /// Sets the parameters ?1, ?2, ...  Borrows texts until the statement is started again or has ended.
    template <class... Values>
    statement& with(const Values&... values) {
        int index = 0;
        (put(++index, values), ...);
        return *this;
    }
    /// Sets one of them.
    void put(int index, std::int64_t value);
    void put(int index, double value);
    void put(int index, std::string_view text);
    void put(int index, std::nullptr_t);
    void put(int index, const std::string& text) { put(index, std::string_view{text}); }
    /// SQLite's integers are signed: numbers above 2^63 come back unchanged.
    void put(int index, std::uint64_t number) { put(index, static_cast<std::int64_t>(number)); }
    /// The name of a value.
    template <class Value>
        requires std::is_enum_v<Value>
    void put(int index, Value value) {
        put(index, name_of(value));
    }
    /// Without a value it is NULL.
    template <class Value>
    void put(int index, const std::optional<Value>& value) {
        value ? put(index, *value) : put(index, nullptr);
    }

    /// Goes to the next row; false where there is none: the statement may then be started again.
    [[nodiscard]] bool next();
    /// Runs a statement that has no rows.
    void run();
    /// Ends it before its last row.
    void reset() noexcept;

    /// Columns of the row, from 0.  NULL is 0, NaN, "".
    [[nodiscard]] std::int64_t integer(int column) const noexcept;
    [[nodiscard]] double real(int column) const noexcept;
    /// Borrows: until the next step.
    [[nodiscard]] std::string_view text(int column) const noexcept;
    [[nodiscard]] bool is_null(int column) const noexcept;
    [[nodiscard]] int columns() const noexcept;

private:
    void check(int code, std::string_view doing) const;

    ::sqlite3* from_;
    ::sqlite3_stmt* handle_ = nullptr;
    const std::string* path_;  // the connection's
};

/// An open database.  For one thread at a time, and only in the process that made it: not in a forked child.
class connection {
public:
    /// `patience`: how long it waits for other programs that write.
    connection(const std::string& path, access how, std::chrono::milliseconds patience);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    [[nodiscard]] statement prepare(std::string_view sql) { return {handle_, sql, path_}; }
    /// Runs statements that need no parameters.
    void run(const std::string& sql);
    /// The first column of the first row: of a pragma.
    [[nodiscard]] std::int64_t number(std::string_view sql);
    /// The number of the row that was inserted last; how many rows the last statement changed.
    [[nodiscard]] std::int64_t last_row() const noexcept;
    [[nodiscard]] std::int64_t changed() const noexcept;
    /// Whether a transaction has begun, and SQLite has not ended it by itself since.
    [[nodiscard]] bool in_transaction() const noexcept;
    /// Whether the last connection merges the WAL into the database when it closes; the default is true.
    void set_tidy_at_closing(bool tidy) noexcept;
    /// `stop` is called now and then while statements run; if it returns true, they throw `stopped_error`.  It may be
    /// null.
    void set_stop(bool (*stop)(void*), void* of) noexcept;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void close() noexcept;

    ::sqlite3* handle_ = nullptr;
    const std::string path_;
    bool (*stop_)(void*) = nullptr;
    void* stop_of_ = nullptr;
};

/// Changes that are made together or not at all: rolled back unless committed.
class transaction {
public:
    /// Holds no changes: another transaction does.
    transaction() noexcept = default;
    /// Waits for other programs that write, as long as the connection has patience.
    explicit transaction(connection& of);
    transaction(transaction&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    transaction& operator=(transaction&&) = delete;
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction();

    /// If this throws, nothing is changed.
    void commit();

private:
    connection* of_ = nullptr;
};

}  // namespace smdebug::inline v1::detail::sqlite
