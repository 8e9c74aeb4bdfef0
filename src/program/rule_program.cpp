#include <program/rule_program.hpp>

#include <program/check.hpp>
#include <program/command_options.hpp>
#include <program/evaluate_run.hpp>
#include <program/follow_check.hpp>
#include <program/rows.hpp>
#include <program/scan.hpp>
#include <program/scan_arguments.hpp>
#include <program/terminal.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rule_main.hpp>
#include <smdebug/trial/trial.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

namespace smdebug::inline v1::cli {
namespace detail {

namespace {

// The command line of one rule's program.
class rule_parser {
public:
    explicit rule_parser(const program_rules& only)
        : registry_(only), info_(only.infos().front()), app_{info_.meaning + ".", info_.name} {
        app_.add_option("RUN", args_.runs, "training runs: folders, or s3://bucket/prefix")->type_name("");
        app_.add_option("--trial-dir", more_runs_, "the same")->type_name("RUN")->allow_extra_args(false);
        for (const parameter_info& each : info_.parameters) {
            std::string flags = "--" + each.name;
            std::string dashed = flags;
            std::replace(dashed.begin() + 2, dashed.end(), '_', '-');
            flags += dashed != flags ? "," + dashed : "";
            app_.add_option_function<std::string>(
                    flags,
                    [this, name = each.name](const std::string& text) { parameters_.insert_or_assign(name, text); },
                    each.meaning + "; default: " + each.standard)
                ->type_name(each.type)
                ->group("Settings");
        }
        add_evaluation(app_, args_, rules_, steps_);
        add_follow(app_, args_.follow, "go on until the job ends: each step as soon as it is complete");
        add_how(app_, args_.how);
        if (app_.get_option_no_throw("--list") == nullptr) {
            add_text(app_, "--list", batch_.list, "FILE",
                     "a batch: more runs, a path, pattern or folder a line; -: standard input.  A row for each run");
        }
        add_batch(app_, batch_);
        app_.add_flag_callback(
            "--json", [this] { args_.how.format = output_format::json; }, "as --format json: one object a finding");
        if (std::none_of(info_.parameters.begin(), info_.parameters.end(),
                         [](const parameter_info& each) { return each.name == "version"; })) {
            app_.set_version_flag("--version", info_.name + ", a rule made with smdebug " + version_text());
        }
        app_.footer(
            "Exit status: 0 not met, 3 met, 1 error, or part of a run could not be read, 4 both 3 and 1, 2 wrong "
            "usage,\n"
            "             130 interrupted.");
    }

    // The exit status, where nothing is left to run: --help, --version.
    [[nodiscard]] std::optional<int> parse(std::vector<std::string> arguments, console& to) {
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        try {
            app_.parse(std::move(arguments));
        } catch (const CLI::CallForVersion& asked) {
            to.print(std::string{asked.what()} + "\n");
            return exit_ok;
        } catch (const CLI::CallForHelp&) {
            to.print(app_.help());
            return exit_ok;
        } catch (const CLI::Error& wrong) {
            throw usage_error(text_of_error(wrong, app_), "Try --help.");
        }
        args_.runs.insert(args_.runs.end(), more_runs_.begin(), more_runs_.end());
        if (args_.runs.empty() && !batch_.list) {
            throw usage_error("a run is missing: RUN, --trial-dir RUN or --list FILE", "Try --help.");
        }
        rule_request request{.label = info_.name, .rule = info_.name, .parameters = parameters_};
        if (takes_other_trials(registry_, request)) {
            request.other_trials = rules_.other_trials;
        } else if (!rules_.other_trials.empty()) {
            throw usage_error("--other-trials: " + info_.name + " does not compare runs");
        }
        check_request(registry_, request);
        args_.rules = {std::move(request)};
        take_steps(args_, steps_);
        check_follow(args_.follow, args_.runs.size());
        is_batch_ =
            batch_.list || batch_.shard || batch_.threads > 0 || batch_.run_timeout || batch_.memory || batch_.output;
        batch_.rows = !batch_.output || args_.how.format_is_given;
        if (is_batch_ && args_.follow.on) {
            throw usage_error("--follow is for runs that are named; a batch looks at what is there now");
        }
        batch_.check = args_;
        return std::nullopt;
    }

    [[nodiscard]] const check_arguments& args() const noexcept { return args_; }
    // The arguments of a batch over many runs, if one was requested; else null.
    [[nodiscard]] const scan_arguments* batch() const noexcept { return is_batch_ ? &batch_ : nullptr; }

private:
    const program_rules& registry_;
    rule_info info_;
    CLI::App app_;
    check_arguments args_;
    scan_arguments batch_;
    bool is_batch_ = false;
    std::vector<std::string> more_runs_;
    rule_parameters parameters_;
    rule_options rules_;
    step_options steps_;
};

}  // namespace

int run_rule_program(const program_rules& only, std::vector<std::string> arguments, std::ostream& out,
                     std::ostream& err, console_kind kind, const stop_giver& about_to_follow) {
    console to{out, err, kind, only.infos().front().name};
    return status_of(to, [&] {
        rule_parser parser{only};
        if (const auto done = parser.parse(std::move(arguments), to)) {
            return *done;
        }
        to.set_table_width(parser.args().how.width.value_or(kind.width));
        const auto stop = [&] { return about_to_follow ? about_to_follow() : std::stop_token{}; };
        if (parser.batch() != nullptr) {
            return scan_runs(*parser.batch(), only, to, stop());
        }
        if (!parser.args().follow.on) {
            return check(parser.args(), only, to);
        }
        return follow_check(parser.args(), only, to, stop());
    });
}

}  // namespace detail

int rule_program_main(const rule_registry<smdebug::program_trial>& only, int count, char** arguments) {
    open_standard_descriptors();
    std::ios::sync_with_stdio(false);
    std::optional<interrupt_listener> interrupts;
    return detail::run_rule_program(only, std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count),
                                    std::cout, std::cerr, terminal_kind(),
                                    [&] { return interrupts.emplace().token(); });
}

}  // namespace smdebug::inline v1::cli
