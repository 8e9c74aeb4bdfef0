#include <program/console.hpp>

#include "program/captured.hpp"

#include "support/test.hpp"

#include <cerrno>
#include <ostream>
#include <streambuf>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// Refuses every byte, as a full disk or a reader that has gone does.
class refusing_buffer : public std::streambuf {
public:
    explicit refusing_buffer(int code) : code_(code) {}

protected:
    std::streamsize xsputn(const char*, std::streamsize) override { return fail(); }
    int_type overflow(int_type) override {
        fail();
        return traits_type::eof();
    }

private:
    std::streamsize fail() const {
        errno = code_;
        return 0;
    }
    int code_;
};

}  // namespace

TEST_CASE("console: results and messages go to different streams, and trouble is remembered") {
    captured run;
    run.to.print("a row\n");
    run.to.note("by the way");
    CHECK(run.to.status() == cli::exit_ok);
    run.to.damage("a record");
    CHECK(run.to.status() == cli::exit_error);
    CHECK(run.to.status(false) == cli::exit_error);
    CHECK(run.to.status(true) == cli::exit_finding_and_error);
    CHECK(captured{}.to.status(true) == cli::exit_finding);
    run.to.error("a run");
    CHECK(run.to.trouble());
    CHECK(run.out.str() == "a row\n");
    CHECK(run.err.str() == "smdebug: note: by the way\nsmdebug: note: a record\nsmdebug: error: a run\n");
}

TEST_CASE("console: messages are printable; the help of a usage error keeps its lines") {
    captured run;
    run.to.note("the run a\x1b[2J\nb");
    run.to.damage("\xE2\x80\xAE");
    run.to.error(std::string{"x\0y", 3});
    CHECK(cli::status_of(run.to, []() -> int { throw cli::detail::usage_error("no \x1b\n", "Try this.\nOr that."); }) ==
          cli::exit_usage);
    CHECK(run.err.str() ==
          "smdebug: note: the run a\\x1b[2J\\nb\nsmdebug: note: \\u202e\nsmdebug: error: x\\x00y\n"
          "smdebug: error: no \\x1b\\n\nTry this.\nOr that.\n");
}

TEST_CASE("console: results that cannot be written throw; a reader that has gone away is distinguished") {
    for (const int code : {ENOSPC, EPIPE}) {
        refusing_buffer refuses{code};
        std::ostream out{&refuses};
        std::ostringstream err;
        cli::detail::console to{out, err};
        const cli::detail::output_error failed = caught<cli::detail::output_error>([&] { to.print("a row\n"); });
        CHECK(failed.reader_is_gone() == (code == EPIPE));
        CHECK(contains(failed.what(), "the results cannot be written: "));
    }
}

TEST_CASE("console: trouble reported by another process sets the exit status, and is not printed again") {
    captured run;
    run.to.mark_trouble();
    CHECK(run.to.status() == cli::exit_error);
    CHECK(run.to.status(true) == cli::exit_finding_and_error);
    CHECK(run.err.str().empty());
}

TEST_CASE("console: no progress bar but on a terminal; there it is wiped out before anything else is said") {
    captured plain;
    plain.to.progress("files", 1, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds{450});
    plain.to.progress("files", 1, 2);
    CHECK(plain.err.str().empty());

    std::ostringstream out;
    std::ostringstream err;
    cli::detail::console to{out, err, {.err_is_terminal = true}};
    to.progress("files", 1, 2);
    CHECK(err.str().empty());  // what is done in a moment needs no bar
    std::this_thread::sleep_for(std::chrono::milliseconds{450});
    to.progress("files", 1, 2);
    CHECK(err.str() == "\r[###############...............] 1/2 files");
    to.note("done");
    CHECK(err.str() ==
          "\r[###############...............] 1/2 files\r" + std::string(42, ' ') + "\rsmdebug: note: done\n");
    to.progress("nothing", 0, 0);
    err.str({});
    std::this_thread::sleep_for(std::chrono::milliseconds{450});
    to.progress("steps of " + std::string(200, 'x') + "/run_7", 1, 2);  // wrapped, it could not be wiped out
    CHECK(err.str().size() == 80);
    CHECK(err.str().ends_with("x/run_7"));
}
