#include <program/scan_arguments.hpp>

#include <program/batch_progress.hpp>

#include "support/test.hpp"

TEST_CASE("scan_arguments: by default rules over whole runs, on one thread per CPU, without limits") {
    const smdebug::cli::detail::scan_arguments usual;
    CHECK(usual.threads == 0);
    CHECK_FALSE(usual.run_timeout);
    CHECK_FALSE(usual.memory);
    CHECK(usual.split_above == 256U << 20U);
    CHECK_FALSE(usual.statistics);
    CHECK(usual.progress == smdebug::cli::detail::progress_format::people);
}
