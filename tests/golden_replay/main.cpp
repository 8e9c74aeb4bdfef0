// golden_replay RUNS_FOLDER EXPECTED.json > ACTUAL.json
// Takes the questions of EXPECTED, asks the library, and writes the same structure with the library's answers.
// Of EXPECTED's answers only keys and the lengths of lists are looked at, as they say how much was asked.
// Exit status 2, with a sentence, when it cannot be replayed.
#include "json_out.hpp"
#include "questions.hpp"
#include "sections.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using namespace golden_replay;

[[nodiscard]] std::string read_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file || std::filesystem::is_directory(path)) {
        throw std::system_error(errno != 0 ? errno : EISDIR, std::generic_category(), "cannot read " + path);
    }
    return {std::istreambuf_iterator<char>{file}, {}};
}

[[nodiscard]] fragment replay(json::value asked) {
    const std::string run = text_of(need(asked, "run"));
    object out{true};
    if (const auto schema = look(asked, "schema")) {
        out.add("schema", echo(*schema));
    }
    const bool ended = smdebug::local_storage{run}.size(smdebug::locations::end_of_job).has_value();
    out.add("run", in_quotes(run)).add("job_ended", truth(ended));
    out.add("openings", list_of(questions_of(need(asked, "openings")),
                                [&](json::value opening) { return answer_opening(run, opening); }));
    if (const auto sessions = look(asked, "sessions")) {
        out.add("sessions",
                list_of(questions_of(*sessions), [&](json::value session) { return answer_session(run, session); }));
    }
    if (const auto rules = look(asked, "rules")) {
        out.add("rules", list_of(questions_of(*rules), [&](json::value rule) { return answer_rule(run, rule); }));
    }
    return out.done();
}

void replay_file(const std::string& runs, const std::string& expected) {
    const std::string text = read_file(expected);
    smdebug::json::document document;
    const auto asked = document.parse(smdebug::as_bytes(text));
    if (!asked) {
        throw bad_question("no JSON, or cut");
    }
    if (!std::filesystem::is_directory(runs)) {
        throw std::invalid_argument("there is no folder " + runs);
    }
    std::filesystem::current_path(runs);  // runs are opened by relative path: paths are part of messages
    const std::string out = replay(*asked).json() + "\n";
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot write the answers");
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        static_cast<void>(std::fputs("usage: golden_replay RUNS_FOLDER EXPECTED.json > ACTUAL.json\n", stderr));
        return 2;
    }
    try {
        replay_file(argv[1], argv[2]);
        return 0;
    } catch (const bad_question& error) {
        static_cast<void>(std::fprintf(stderr, "golden_replay: %s: %s\n", argv[2], error.what()));
    } catch (const std::exception& error) {
        static_cast<void>(std::fprintf(stderr, "golden_replay: %s\n", error.what()));
    }
    return 2;
}
