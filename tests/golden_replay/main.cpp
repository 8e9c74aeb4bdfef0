// golden_replay RUNS_FOLDER EXPECTED.json [s3://bucket/prefix] > ACTUAL.json
// Takes the questions of EXPECTED, asks the library, and writes the same structure with the library's answers.
// Of EXPECTED's answers only keys and the lengths of lists are read, as they say how much to check.
// With a place in S3, in which there is nothing yet, the run is copied there and opened there; keys, region and
// endpoint come from the environment.  Exit status 2, with a sentence, when it cannot be replayed.
#include "json_out.hpp"
#include "questions.hpp"
#include "run_place.hpp"
#include "sections.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>

#include "support/standard.hpp"

#include <cerrno>
#include <system_error>

namespace {

using namespace golden_replay;

[[nodiscard]] fragment replay(json::value asked, const std::string& copies) {
    const std::string run = text_of(need(asked, "run"));
    const run_place place = bring_run(run, copies);
    object out{true};
    if (const auto schema = look(asked, "schema")) {
        out.add("schema", echo(*schema));
    }
    out.add("run", in_quotes(run)).add("job_ended", truth(place.has_ended()));
    out.add("openings", list_of(questions_of(need(asked, "openings")),
                                [&](json::value opening) { return answer_opening(place.opened, opening); }));
    if (const auto sessions = look(asked, "sessions")) {
        int number = 0;
        out.add("sessions", list_of(questions_of(*sessions), [&](json::value session) {
                    return answer_session(place.for_session(++number), session);
                }));
    }
    if (const auto rules = look(asked, "rules")) {
        out.add("rules",
                list_of(questions_of(*rules), [&](json::value rule) { return answer_rule(place.opened, rule); }));
    }
    return out.done();
}

void replay_file(const std::string& runs, const std::string& expected, const std::string& copies) {
    const std::string text = read_file(expected);
    smdebug::detail::json::document document;
    const auto asked = document.parse(smdebug::as_bytes(text));
    if (!asked) {
        throw bad_question("no JSON, or cut");
    }
    if (!std::filesystem::is_directory(runs)) {
        throw std::invalid_argument("there is no folder " + runs);
    }
    std::filesystem::current_path(runs);  // runs are opened by relative path: paths are part of messages
    const std::string out = without_copies(replay(*asked, copies).json(), copies) + "\n";
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot write the answers");
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        static_cast<void>(
            std::fputs("usage: golden_replay RUNS_FOLDER EXPECTED.json [s3://bucket/prefix] > ACTUAL.json\n", stderr));
        return 2;
    }
    try {
        replay_file(argv[1], argv[2], argc == 4 ? argv[3] : "");
        return 0;
    } catch (const bad_question& error) {
        static_cast<void>(std::fprintf(stderr, "golden_replay: %s: %s\n", argv[2], error.what()));
    } catch (const std::exception& error) {
        static_cast<void>(std::fprintf(stderr, "golden_replay: %s\n", error.what()));
    }
    return 2;
}
