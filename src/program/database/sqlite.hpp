// SQLite's C interface, owned and checked: a connection, a prepared statement, a transaction.
// What fails is an error of the library that names the file, what SQLite says of it, and what can be done.
// Texts come back as they were, to the byte: those that are no UTF-8, or hold a NUL, are stored as BLOBs, as other
// programs trip over such a TEXT.  So do doubles, -0.0 and infinities among them, from columns without a type; NaN is
// NULL, which is all that SQLite has for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace sqlite {

/// How a database is opened.
enum class access : std::uint8_t {
    read,       ///< others may write to it meanwhile
    read_only,  ///< nobody does, and no file beside it says what it lacks: no file is made or changed
    write,
    create,  ///< write, and the file is made where it is missing
};

/// Throws the error that a result code stands for.  `from`: the connection that has it, or null.
[[noreturn]] void fail(::sqlite3* from, int code, const std::string& path, std::string_view doing);

/// The name by which SQLite opens a path for reading alone.
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
    /// Whether it is a double, and no integer or text.
    [[nodiscard]] bool is_real(int column) const noexcept;
    [[nodiscard]] bool is_integer(int column) const noexcept;
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
    /// Whether a transaction has begun, and was not ended by SQLite itself since.
    [[nodiscard]] bool in_transaction() const noexcept;
    /// Whether what lies in the WAL is brought into the database by the last one who closes it; it is, unless told not
    /// to.
    void set_tidy_at_closing(bool tidy) noexcept;
    /// `stop` is asked now and then while statements run, which then throw `stopped`; null: nobody.
    void set_stop(bool (*stop)(void*), void* of) noexcept;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void close() noexcept;

    ::sqlite3* handle_ = nullptr;
    const std::string path_;
    bool (*stop_)(void*) = nullptr;
    void* stop_of_ = nullptr;
};

/// Changes that are made together or not at all: undone unless committed.
class transaction {
public:
    /// None: another one has its changes.
    transaction() noexcept = default;
    /// Waits for other programs that write, as long as the connection has patience.
    explicit transaction(connection& of);
    transaction(transaction&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    transaction& operator=(transaction&&) = delete;
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction();

    /// Where this throws, nothing is changed.
    void commit();

private:
    connection* of_ = nullptr;
};

}  // namespace sqlite
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
