// The program: arguments in, results and exit status out.  It throws nothing and touches no global state.
#pragma once

#include <smdebug/cli/arguments.hpp>
#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/diff.hpp>
#include <smdebug/cli/export.hpp>
#include <smdebug/cli/folder_runs.hpp>
#include <smdebug/cli/follow_check.hpp>
#include <smdebug/cli/follow_ls.hpp>
#include <smdebug/cli/follow_report.hpp>
#include <smdebug/cli/index.hpp>
#include <smdebug/cli/ls.hpp>
#include <smdebug/cli/manual.hpp>
#include <smdebug/cli/merge.hpp>
#include <smdebug/cli/pack.hpp>
#include <smdebug/cli/program_version.hpp>
#include <smdebug/cli/repair.hpp>
#include <smdebug/cli/report.hpp>
#include <smdebug/cli/rule_list.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/scan.hpp>
#include <smdebug/cli/show.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// Which command each kind of arguments stands for.
struct dispatcher {
    console& to;
    const program_rules& registry;
    const stop_giver& about_to_follow;
    [[nodiscard]] int operator()(const help_request& asked) const {
        to.print(asked.text);
        return exit_ok;
    }
    [[nodiscard]] int operator()(const version_request&) const {
        to.print("smdebug " + program_version());
        return exit_ok;
    }
    [[nodiscard]] int operator()(const ls_arguments& args) const {
        fit(args.how.width);
        return args.follow.on ? follow_ls(args, to, stop()) : ls(args, to);
    }
    [[nodiscard]] int operator()(const show_arguments& args) const {
        fit(args.how.width);
        return show(args, to);
    }
    [[nodiscard]] int operator()(const stats_arguments& args) const {
        fit(args.how.width);
        return stats(args, to);
    }
    [[nodiscard]] int operator()(const diff_arguments& args) const {
        fit(args.how.width);
        return diff(args, to);
    }
    [[nodiscard]] int operator()(const check_arguments& args) const {
        fit(args.how.width);
        return args.follow.on ? follow_check(args, registry, to, stop()) : check(args, registry, to);
    }
    [[nodiscard]] int operator()(const scan_arguments& args) const {
        fit(args.check.how.width);
        return scan_runs(args, registry, to, stop());
    }
    [[nodiscard]] int operator()(const merge_arguments& args) const { return merge(args, to, stop()); }
    [[nodiscard]] int operator()(const pack_arguments& args) const { return pack(args, to, stop()); }
    [[nodiscard]] int operator()(const export_arguments& args) const { return export_to(args, to, stop()); }
    [[nodiscard]] int operator()(const report_arguments& args) const {
        smdebug::detail::posix::refuse_special_file(args.output);  // before the work, too
        return args.check.follow.on ? follow_report(args, registry, to, stop()) : report_runs(args, registry, to);
    }
    [[nodiscard]] int operator()(const rules_arguments& args) const {
        fit(args.width);
        return list_rules(args, registry, to);
    }
    [[nodiscard]] int operator()(const index_arguments& args) const { return write_indexes(args, to); }
    [[nodiscard]] int operator()(const repair_arguments& args) const { return repair(args, to, stop()); }
    [[nodiscard]] int operator()(const manual_arguments& args) const { return print_manual(args, to); }

private:
    void fit(std::optional<std::size_t> width) const { to.set_table_width(width.value_or(to.table_width())); }
    [[nodiscard]] std::stop_token stop() const { return about_to_follow ? about_to_follow() : std::stop_token{}; }
};

}  // namespace detail

/// Runs the program with these arguments (without the program's name); returns its exit status.
/// `defaults`: tells the file of defaults, as defaults_file() does; null: none.
[[nodiscard]] inline int run_program(std::vector<std::string> arguments, std::ostream& out, std::ostream& err,
                                     detail::console_kind kind = {}, const detail::stop_giver& about_to_follow = {},
                                     const std::function<std::string()>& defaults = {}) {
    detail::console to{out, err, kind};
    return status_of(to, [&] {
        const program_rules registry = program_rules::built_in();
        auto command = detail::parse_arguments(std::move(arguments), registry, defaults ? defaults() : std::string{});
        std::visit([](auto& args) { detail::spread_folders(args); }, command);
        return std::visit(detail::dispatcher{to, registry, about_to_follow}, command);
    });
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
