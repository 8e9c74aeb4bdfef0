#include <smdebug/trial/read/trial_state.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;
using namespace std::chrono_literals;

TEST_CASE("missing_files: knows noted keys until they are forgotten") {
    missing_files files;
    CHECK_FALSE(files.contains("a"));
    files.note("a");
    files.note("a");
    files.note("b");
    CHECK(files.count() == 2);
    CHECK(files.contains("a"));
    CHECK_FALSE(files.contains("c"));
    files.forget("a");
    files.forget("c");
    CHECK_FALSE(files.contains("a"));
    CHECK(files.count() == 1);
}

TEST_CASE("missing_files: reports whether a file was checked recently; without an interval none was") {
    missing_files files;
    CHECK_FALSE(files.asked_within("a", 1h));
    files.note("a");
    CHECK(files.asked_within("a", 1h));
    CHECK_FALSE(files.asked_within("a", 0ms));
    CHECK_FALSE(files.asked_within("b", 1h));
}

TEST_CASE("missing_files: memory is bounded") {
    missing_files files;
    for (std::size_t i = 0; i <= missing_files::most; ++i) {
        files.note(std::to_string(i));
    }
    CHECK(files.count() == missing_files::most);
    CHECK_FALSE(files.contains(std::to_string(missing_files::most)));
    files.forget("0");
    files.note(std::to_string(missing_files::most));
    CHECK(files.contains(std::to_string(missing_files::most)));
}
