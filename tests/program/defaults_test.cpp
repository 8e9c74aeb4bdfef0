#include <program/defaults.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/command_line.hpp>
#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/ls.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>
#include <program/stats.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const cli::program_rules& registry() {
    static const cli::program_rules all = cli::program_rules::built_in();
    return all;
}

template <class Arguments>
Arguments parsed(std::vector<std::string> arguments, const std::string& defaults) {
    cli::detail::command_line line{registry(), defaults};
    return cli::detail::arguments_of<Arguments>(line.parse(std::move(arguments)));
}

std::string refusal(const std::vector<std::string>& arguments, const std::string& defaults) {
    return what_of<cli::detail::usage_error>([&] {
        cli::detail::command_line line{registry(), defaults};
        static_cast<void>(line.parse(arguments));
    });
}

struct file_of_defaults {
    temporary_folder folder;
    std::string path;
    explicit file_of_defaults(const std::string& text) : path(folder.path() + "/config.toml") {
        folder.write("config.toml", text);
    }
};

}  // namespace

TEST_CASE("defaults: for all commands and for one; the command line overrides them") {
    const file_of_defaults file{
        "# for all\n"
        "format = \"csv\"\n"
        "skip-damaged = true\n"
        "[stats]\n"
        "threads = 3\n"
        "steps = \"0:10\"\n"
        "[ls]\n"
        "steps = \"5:7\"\n"
        "untrusted = true\n"};
    const auto stats = parsed<cli::detail::stats_arguments>({"stats", "a"}, file.path);
    CHECK(stats.threads == 3);
    CHECK(stats.how.format == cli::detail::output_format::csv);
    CHECK(stats.how.skip_damaged);
    CHECK_FALSE(stats.how.untrusted);  // for another command
    CHECK((stats.how.range.contains(9) && !stats.how.range.contains(10)));
    const auto given =
        parsed<cli::detail::stats_arguments>({"stats", "a", "--threads", "2", "--steps", "1:2"}, file.path);
    CHECK(given.threads == 2);
    CHECK((given.how.range.contains(1) && !given.how.range.contains(0)));
    const auto ls = parsed<cli::detail::ls_arguments>({"ls", "a"}, file.path);
    CHECK(ls.how.untrusted);
    const auto named = parsed<cli::detail::ls_arguments>({"--config", file.path, "ls", "a"}, {});
    CHECK(named.how.untrusted);
    CHECK_FALSE(parsed<cli::detail::ls_arguments>({"ls", "a"}, {}).how.untrusted);
    // A command that has none of them is as it is.
    CHECK(refusal({"merge", "a.db", "-o", "b.db"}, file.path).empty());
}

TEST_CASE("defaults: a command's section overrides those for all commands") {
    const file_of_defaults file{
        "format = \"csv\"\n"
        "rule = [\"a\", \"b\"]\n"
        "untrusted = true\n"
        "[check]  # has its own\n"
        "format = \"json\"\n"
        "rule = []\n"
        "untrusted = false\n"};
    CHECK(parsed<cli::detail::ls_arguments>({"ls", "a"}, file.path).how.format == cli::detail::output_format::csv);
    CHECK(parsed<cli::detail::ls_arguments>({"ls", "a"}, file.path).how.untrusted);
    const auto check = parsed<cli::detail::check_arguments>({"check", "a", "--rule", "vanishing_gradient"}, file.path);
    CHECK(check.how.format == cli::detail::output_format::json);
    CHECK_FALSE(check.how.untrusted);
    CHECK(refusal({"check", "a"}, file.path).find("rule") != std::string::npos);  // it has none
}

TEST_CASE("defaults: any command may follow --config FILE") {
    const file_of_defaults file{"format = \"csv\"\n"};
    const auto help = [](std::vector<std::string> arguments) {
        return parsed<cli::detail::printed_text>(std::move(arguments), {}).text;
    };
    CHECK(help({"--config", file.path, "help", "ls"}) == help({"ls", "--help"}));
    CHECK(help({"--config=" + file.path, "help"}) == help({"--help"}));
    cli::detail::command_line line{registry()};
    CHECK_FALSE(line.parse({"--config", file.path, "version"}).arguments.has_value());
    CHECK(refusal({"--config", file.path, "lss"}, {}).find("there is no command \"lss\"") == 0);
    CHECK_FALSE(refusal({"--config", file.path}, {}).empty());
    CHECK_FALSE(refusal({"--config"}, {}).empty());
}

TEST_CASE("defaults: environment variables override them") {
    const file_of_defaults file{"cache = '/from/file'\nendpoint-url = 'http://file'\n"};
    const environment_variable no_server{"AWS_ENDPOINT_URL_S3", std::nullopt};
    const environment_variable server{"AWS_ENDPOINT_URL", std::nullopt};
    const environment_variable cache{"SMDEBUG_CACHE_DIR", ""};
    const auto storage = [&](std::vector<std::string> arguments) {
        return parsed<cli::detail::ls_arguments>(std::move(arguments), file.path).how.storage;
    };
    CHECK(storage({"ls", "a"}).cache_folder == "/from/file");
    CHECK(storage({"ls", "a"}).s3.endpoint == "http://file");
    const environment_variable other_cache{"SMDEBUG_CACHE_DIR", "/from/environment"};
    CHECK(storage({"ls", "a"}).cache_folder.empty());  // the storage looks into the environment itself
    CHECK(storage({"ls", "a"}).s3.endpoint == "http://file");
    CHECK(storage({"ls", "a", "--cache", "/given"}).cache_folder == "/given");
    const environment_variable other_server{"AWS_ENDPOINT_URL", "http://environment"};
    CHECK(storage({"ls", "a"}).s3.endpoint != "http://file");
}

TEST_CASE("defaults: errors in them name the file and the line") {
    const auto told = [](const std::string& text, const std::vector<std::string>& arguments = {"ls", "a"}) {
        const file_of_defaults file{text};
        const std::string what = refusal(arguments, file.path);
        CHECK(what.find(file.path + ", line 2") != std::string::npos);
        return what;
    };
    CHECK(told("[lss]\nverify = true\n").find("there is no command \"lss\"") != std::string::npos);
    CHECK(told("[scan]\nverifyy = true\n").find("scan has no option \"verifyy\"") != std::string::npos);
    CHECK(told("\nverifyy = true\n").find("no command has an option \"verifyy\"") != std::string::npos);
    CHECK(told("\nformatt = true\n").find("Did you mean format?") !=
          std::string::npos);  // once, though of many commands
    CHECK(told("[ls]\nRUN = \"b\"\n").find("ls has no option \"RUN\"") != std::string::npos);
    CHECK(told("[ls]\nformat \"csv\"\n").find("no line") != std::string::npos);
    CHECK(told("\nformat = \"xml\"\n").find("--format") != std::string::npos);
    CHECK(told("\nskip-damaged = maybe\n").find("--skip-damaged") != std::string::npos);
    CHECK(told("\nthreads = none\n", {"stats", "a"}).find("--threads must be") != std::string::npos);
    // Of the command line nothing is said of the file.
    const file_of_defaults file{"threads = 2\n"};
    CHECK(refusal({"stats", "a", "--threads", "x"}, file.path).find(file.path) == std::string::npos);
    CHECK(refusal({"--config", "/does/not/exist", "ls", "a"}, {}).find("/does/not/exist") != std::string::npos);
}

TEST_CASE("defaults: a file of more than 1 MiB is none, and a device is not read") {
    const std::string comment = "# 345678901234567890123456789012345678901234567890123456789012\n";
    std::string text;
    while (text.size() + comment.size() <= std::size_t{1} << 20U) {
        text += comment;
    }
    CHECK(refusal({"rules"}, file_of_defaults{text}.path).empty());
    CHECK(refusal({"rules"}, file_of_defaults{text + comment}.path).find("more than 1 MiB") != std::string::npos);
    CHECK(refusal({"--config", "/dev/zero", "rules"}, "").find("/dev/zero cannot be read") != std::string::npos);
}
