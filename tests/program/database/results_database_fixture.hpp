// What the tests of results_database have in common.
#pragma once

#include <program/database/results_database.hpp>
#include <program/database/sqlite.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

inline constexpr const char* question = "all rules, as they are";

/// The first column of a question's first row, as a text.
inline std::string asked(const std::string& path, const std::string& sql) {
    namespace sqlite = smdebug::detail::sqlite;
    sqlite::connection from{path, sqlite::access::write, std::chrono::seconds{10}};
    sqlite::statement row = from.prepare(sql);
    return row.next() ? std::string{row.text(0)} : "";
}

inline bool is_done(smdebug::results_database& base, const smdebug::batch_run& run, std::string_view asks) {
    const auto known = base.done_version(run.path, asks);
    return known && *known == run.version;
}

inline std::size_t done_count(const std::string& path) {
    return std::stoul(asked(path,
                            "SELECT count(*) FROM runs WHERE version <> '' AND state IN "
                            "('ended', 'growing', 'incomplete')"));
}

}  // namespace smdebug_test
