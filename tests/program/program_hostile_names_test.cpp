#include <program/program.hpp>

#include "program/captured.hpp"
#include "support/archive_builder.hpp"
#include "support/checkpoint_files.hpp"
#include "support/log_builder.hpp"
#include "support/test.hpp"

#include <program/console.hpp>
#include <program/text.hpp>
#include <smdebug/archive.hpp>
#include <smdebug/formats.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::string_view_literals;
using texts = std::vector<std::string>;

namespace {

// Checks that it cannot control a terminal.  The hostile names put "!" after each control character; progress lines,
// which appear where the machine is slow, begin with a bar or a number.
void check_harmless(const std::string& shown) {
    CAPTURE(printable(shown));
    CHECK(shown.find_first_of("\x1b\0"sv) == std::string::npos);
    for (std::size_t place = shown.find('\r'); place != std::string::npos; place = shown.find('\r', place + 1)) {
        CHECK((place + 1 == shown.size() || "[0123456789 \rs"sv.find(shown[place + 1]) != std::string::npos));
    }
    CHECK(shown.find("\xC2\x9B") == std::string::npos);
    CHECK(shown.find("\xE2\x80\xAE") == std::string::npos);
    CHECK(shown.find("\n!") == std::string::npos);
    CHECK(shown.find("\n\\r!") == std::string::npos);
}

std::string joined_arguments(const texts& arguments) { return cli::detail::joined(arguments, " "); }

}  // namespace

TEST_CASE("program: no untrusted name controls a terminal, in any command, format and message") {
    constexpr std::string_view hostile = "a\0\x1b[2J\xC2\x9B\xE2\x80\xAE\n\r!"sv;
    const std::string on_disk = "b\x1b[2J\xC2\x9B\xE2\x80\xAE\n\r!";  // names of files have no byte 0
    const std::string tensor{hostile};
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const temporary_folder folder;
    const std::string run = folder.path() + "/" + on_disk;
    local_storage store{run};
    run_builder{store}
        .collections({on_disk}, {{"gradients", {tensor}}, {tensor, {tensor}}})
        .step({.step = 0, .tensors = {tensor_of<float>(tensor, {nan, 2})}, .worker = on_disk})
        .step({.step = 1, .tensors = {tensor_of<float>(tensor, {1, 2})}, .worker = on_disk})
        .end();
    const std::string changed = folder.path() + "/" + on_disk + "changed";
    local_storage changed_store{changed};
    run_builder{changed_store}
        .collections({on_disk}, {{tensor, {}}})
        .step({.step = 0, .tensors = {tensor_of<float>(tensor, {1, 2})}, .worker = on_disk})
        .step({.step = 1, .tensors = {tensor_of<float>(tensor + "x", {1, 2})}, .worker = on_disk})
        .end();
    const auto write_rule = [&](const std::string& file, const std::string& label, const std::string& parameters) {
        folder.write(file,
                     R"([{"RuleConfigurationName": "l)" + label + R"(", "RuleParameters": {)" + parameters + "}}]");
    };
    const std::string escaped = R"(\u0000\u001b\u009b\u202e\n\r!)";
    write_rule("rules.json", escaped, R"("rule_to_invoke": "ExplodingTensor")");
    write_rule("unknown.json", escaped, R"("rule_to_invoke": "r)" + escaped + "\"");
    write_rule("parameter.json", "", R"("rule_to_invoke": "ExplodingTensor", "p)" + escaped + R"(": "1")");
    write_rule("value.json", escaped, R"("rule_to_invoke": "ExplodingTensor", "only_nan": ")" + escaped + "\"");
    write_rule("actions.json", escaped,
               R"("rule_to_invoke": "ExplodingTensor", "action_json": "[{\"name\": \"sms\", \"endpoint\": \")" +
                   std::string{R"(\\u001b\\u202e\\n!)"} + R"(\"}]")");
    folder.write(on_disk + ".json", "{");
    folder.write("damaged/" + on_disk + "/index/000000000/000000000000_w.json", "{");
    folder.write("damaged/" + on_disk + "/END_OF_JOB.ts", "");
    folder.write("damaged/" + on_disk + "/collections/000000000/w_collections.json",
                 R"({"collections": {}, "_meta": {"num_workers": 1}})");
    // The same in an archive, twice, and with members that are damaged; in logs, checkpoints, and where no index is.
    std::map<std::string, std::string> members;
    for (const std::string& key : store.list("", "")) {
        const std::string bytes{as_text(store.read(key).view())};
        members["one" + on_disk + "/" + key] = bytes;
        members["two" + on_disk + "/" + key] = bytes;
    }
    members["one" + on_disk + "/index/000000000/000000000002_" + on_disk + ".json"] = "{";
    const std::string archive = folder.path() + "/" + on_disk + ".tar";
    const std::string tar = tar_of(members);
    folder.write(on_disk + ".tar", tar);
    folder.write(on_disk + "cut.tar", tar.substr(0, tar.size() - 3000));
    folder.write(on_disk + ".zip", zip_of(members));
    std::string wrong = zip_of(members, 0);
    wrong[wrong.find("tensor_payload")] = 'T';
    folder.write(on_disk + "wrong.zip", wrong);
    const std::string logs = folder.path() + "/logs" + on_disk;
    std::string record = log_record(5, {scalar_value(hostile, 2)});
    record.back() = static_cast<char>(record.back() ^ 1);
    folder.write("logs" + on_disk + "/" + on_disk + "/events.out.tfevents.1." + on_disk,
                 log_head() + log_record(4, {scalar_value(hostile, 2), text_value(on_disk, on_disk)}) + record);
    const std::string checkpoints = folder.path() + "/checkpoints" + on_disk;
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_5.safetensors",
                 safetensors_of("{\"w" + escaped + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4));
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_6.safetensors",
                 safetensors_of("{\"w" + escaped + R"(":{"dtype":"F)" + escaped + R"(","shape":[1]}})", 4));
    folder.write("checkpoints" + on_disk + "/" + on_disk + "step_7.npy", npy_of("{'descr': '" + on_disk + "'}", 4));
    const std::string bare = folder.path() + "/bare" + on_disk;
    for (const std::string& key : store.list("events/", "")) {
        folder.write("bare" + on_disk + "/" + key, std::string{as_text(store.read(key).view())} + "x");
    }
    folder.write("bare" + on_disk + "/END_OF_JOB.ts", "");
    const std::vector<texts> all{
        {"ls", archive},
        {"ls", archive, "--untrusted"},
        {"ls", archive + "!/nowhere" + on_disk},
        {"ls", folder.path() + "/" + on_disk + "cut.tar"},
        {"ls", folder.path() + "/" + on_disk + "cut.tar", "--skip-damaged"},
        {"ls", folder.path() + "/" + on_disk + ".zip"},
        {"ls", folder.path() + "/" + on_disk + "wrong.zip"},
        {"show", archive, tensor},
        {"show", archive + "!/two" + on_disk, tensor, "--untrusted"},
        {"stats", archive},
        {"stats", archive, "--skip-damaged"},
        {"stats", folder.path() + "/" + on_disk + "wrong.zip"},
        {"scan", archive},
        {"scan", archive, "--untrusted"},
        {"scan", folder.path() + "/" + on_disk + "cut.tar"},
        {"scan", folder.path()},
        {"check", archive, "--rule", "exploding_tensor", "--untrusted"},
        {"diff", archive, run},
        {"ls", logs},
        {"stats", logs, "--untrusted"},
        {"stats", logs, "--runs-from-folders"},
        {"show", logs, on_disk},
        {"show", logs, tensor},
        {"scan", logs},
        {"check", logs, "--rule", "exploding_tensor"},
        {"ls", checkpoints},
        {"stats", checkpoints},
        {"stats", checkpoints, "--step-regex", on_disk + "("},
        {"scan", checkpoints},
        {"ls", bare},
        {"stats", bare},
        {"ls", run, "--verify"},
        {"ls", folder.path() + "/damaged/" + on_disk, "--verify"},
        {"ls", changed, "--verify"},
        {"ls", run},
        {"ls", run, "--follow"},
        {"ls", run, run + "/nowhere"},
        {"ls", folder.path() + "/damaged/" + on_disk},
        {"ls", folder.path() + "/damaged/" + on_disk, "--skip-damaged"},
        {"show", run, tensor},
        {"show", run, tensor, "--step", "7"},
        {"show", run, tensor, "--worker", on_disk},
        {"show", run, tensor, "--worker", on_disk + "x"},
        {"show", run, "a!"},
        {"stats", run},
        {"stats", run, "--tensors", on_disk + "["},
        {"stats", run, "--collection", on_disk},
        {"diff", run, run},
        {"diff", run, golden("torch_mlp")},
        {"diff", run, golden("torch_mlp"), "--all"},
        {"diff", run, changed},
        {"diff", changed, run, "--all"},
        {"diff", run, changed, "--worker", on_disk + "x"},
        {"diff", run, run + "/nowhere"},
        {"check", run, "--rule", "exploding_tensor"},
        {"check", run, "--rule", "exploding_tensor", "--follow"},
        {"check", run, "--rule", "exploding_tensor", "--on-finding", folder.path() + "/none" + on_disk},
        {"check", run, "--rule", "exploding_tensor", "--status-file", "/dev/null/" + on_disk},
        {"check", run, "--rule", on_disk},
        {"check", run, "--rule", "exploding_tensor," + on_disk},
        {"check", run, "--rules-json", folder.path() + "/rules.json"},
        {"check", run, "--rules-json", folder.path() + "/rules.json", "--follow"},
        {"check", run, "--rules-json", folder.path() + "/actions.json"},
        {"check", run, "--rules-json", folder.path() + "/unknown.json"},
        {"check", run, "--rules-json", folder.path() + "/parameter.json"},
        {"check", run, "--rules-json", folder.path() + "/value.json"},
        {"check", run, "--rules-json", folder.path() + "/" + on_disk + ".json"},
        {"check", run, "--rules-json", folder.path() + "/" + on_disk},
        {"scan", run},
        {"scan", run, "--list", folder.path() + "/" + on_disk},
        {"ls", run, "--" + on_disk},
        {on_disk},
        {"ls", run, "--mode", on_disk},
    };
    for (const texts& command : all) {
        for (const std::string format : {"table", "csv", "json"}) {
            texts arguments = command;
            if (arguments.size() > 1) {
                arguments.insert(arguments.end(), {"--format", format});
            }
            const ended got = run_to_end(arguments, {.out_is_terminal = true, .err_is_terminal = true});
            CAPTURE(format);
            CAPTURE(printable(joined_arguments(command)));
            check_harmless(got.out);
            check_harmless(got.err);
        }
    }
    // Commands that have no --format.
    const std::string out = folder.path() + "/out" + on_disk;
    for (const texts& command : std::vector<texts>{
             {"report", run, "-o", out + ".html"},
             {"report", run, changed, "-o", out + ".html", "--untrusted"},
             {"report", archive, "-o", out + ".html"},
             {"report", logs, checkpoints, "-o", out + ".html"},
             {"report", run, "-o", out + "/nowhere/x.html"},
             {"export", run, "--to", "npz", "-o", out + "npz"},
             {"export", run, "--to", "npz", "-o", out + "npz"},
             {"export", checkpoints, "--to", "tensorboard", "-o", out + "tb"},
             {"export", archive, "--to", "csv", "-o", out + ".csv"},
             {"pack", run, changed, "-o", out + ".tar.gz"},
             {"pack", run, run, "-o", out + "2.tar.gz"},
             {"pack", folder.path() + "/damaged/" + on_disk, logs, "-o", out + "3.tar.gz"},
             {"index", archive},
             {"index", run},
             {"repair", bare},
             {"repair", run, "--dry-run"},
             {"repair", folder.path() + "/damaged/" + on_disk},
             {"scan", run, archive, "-o", out + "1.db"},
             {"scan", run, "-o", out + "2.db"},
             {"merge", out + "1.db", out + "2.db", "-o", out + ".db"},
             {"merge", out, "-o", out + "4.db"},
         }) {
        const ended got = run_to_end(command, {.out_is_terminal = true, .err_is_terminal = true});
        CAPTURE(printable(joined_arguments(command)));
        check_harmless(got.out);
        check_harmless(got.err);
    }
    // What goes to a file as CSV has the names.
    CHECK(run_to_end({"stats", run, "--format", "csv"}).out.find(tensor) != std::string::npos);
    CHECK(run_to_end({"show", run, tensor, "--format", "csv"}).out.find(tensor) != std::string::npos);
    // Nothing is cut at a byte 0.
    const ended unknown = run_to_end({"check", run, "--rules-json", folder.path() + "/unknown.json"});
    CHECK(unknown.status == 2);
    CHECK(contains(unknown.err, "there is no rule \"r\\x00\\x1b\\u009b\\u202e\\n\\r!\". There are: "));
}
