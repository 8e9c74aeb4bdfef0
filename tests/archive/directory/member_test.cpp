#include <smdebug/archive/directory/member.hpp>

#include "support/test.hpp"

using namespace smdebug::archive::detail;
using texts = std::vector<std::string>;

TEST_CASE("without_dots: what a link names, seen from the archive's root") {
    CHECK(without_dots("a/../b/./c") == "b/c");
    CHECK(without_dots("a/b/../../c") == "c");
    CHECK(without_dots("a/../../b").empty());
}

TEST_CASE("key_of: without what says nothing; empty for what leaves the archive") {
    CHECK(key_of("a/b") == "a/b");
    CHECK(key_of("./a//b/.") == "a/b");
    CHECK(key_of("a/..b") == "a/..b");
    CHECK(key_of("//a/b") == "a/b");
    for (const char* const name : {"", "/", "/../a", "../a", "a/../b", "a/.."}) {
        CHECK(key_of(name).empty());
    }
    CHECK(key_of(std::string_view{"a\0b", 3}).empty());
}

TEST_CASE("problem_of_name: a member without a name is a problem of the archive") {
    CHECK(problem_of_name("../x").where == "!/../x");
    CHECK(problem_of_name("").where.empty());
    CHECK(problem_of_name("").what == "a member without a name is not read: pack it again under a name");
}

TEST_CASE("add_problem: the first 16, and how many more there are") {
    directory made;
    for (int i = 0; i < 16; ++i) {
        add_problem(made, problem_of_name("../" + std::to_string(i)));
    }
    CHECK(made.problems.size() == 16);
    CHECK(made.problems.back().where == "!/../15");
    for (int i = 0; i < 3; ++i) {
        add_problem(made, problem_of_name("../x"));
    }
    REQUIRE(made.problems.size() == 17);
    CHECK(made.problems[15].where == "!/../15");
    CHECK(made.problems[16] == smdebug::problem{smdebug::problem_kind::left_out, "", "and 3 more in this archive"});
}

TEST_CASE("runs_in: the folders above collections, events and index, each once") {
    directory of;
    for (const char* const key :
         {"a/index/000000000/x.json", "a/events/000000000000/x", "b/c/collections/000000000/y", "index/000000000/z",
          "d/events/x", "e/events/12/x", "f/indexes/000000000/x", "__MACOSX/a/index/000000000/._x.json"}) {
        of.members.emplace(key, member{});
    }
    CHECK(runs_in(of) == texts{"", "a", "b/c"});
}

TEST_CASE("runs_in: a job that has ended without saving anything is one, by its mark") {
    directory of;
    for (const char* const key : {"a/index/000000000/x.json", "a/training_job_end.ts", "b/out/training_job_end.ts",
                                  "b/training_job_end.ts.bak", "c/system/training_job_end.ts", "training_job_end.ts"}) {
        of.members.emplace(key, member{});
    }
    CHECK(runs_in(of) == texts{"a", "b/out"});
    of.members = {{"training_job_end.ts", member{}}};
    CHECK(runs_in(of) == texts{""});
}
