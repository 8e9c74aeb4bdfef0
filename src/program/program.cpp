#include <program/program.hpp>

#include <program/arguments.hpp>
#include <program/check.hpp>
#include <program/console.hpp>
#include <program/diff.hpp>
#include <program/evaluate_run.hpp>
#include <program/export.hpp>
#include <program/folder_runs.hpp>
#include <program/follow_check.hpp>
#include <program/follow_ls.hpp>
#include <program/follow_report.hpp>
#include <program/following.hpp>
#include <program/index.hpp>
#include <program/ls.hpp>
#include <program/manual.hpp>
#include <program/merge.hpp>
#include <program/pack.hpp>
#include <program/program_version.hpp>
#include <program/repair.hpp>
#include <program/report.hpp>
#include <program/rule_list.hpp>
#include <program/rule_set.hpp>
#include <program/scan.hpp>
#include <program/scan_arguments.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// Which command each kind of arguments stands for.
struct dispatcher {
    console& to;
    const program_rules& registry;
    const stop_giver& about_to_follow;
    const rank_starter& ranks;
    [[nodiscard]] int operator()(const help_request& asked) const {
        to.print(asked.text);
        return exit_ok;
    }
    [[nodiscard]] int operator()(const version_request&) const {
        to.print("smdebug " + program_version(ranks.library));
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
        return scan_runs(args, registry, to, stop(), ranks);
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

}  // namespace

}  // namespace detail

int run_program(std::vector<std::string> arguments, std::ostream& out, std::ostream& err, detail::console_kind kind,
                const detail::stop_giver& about_to_follow, const std::function<std::string()>& defaults,
                const detail::rank_starter& ranks) {
    detail::console to{out, err, kind};
    return status_of(to, [&] {
        const program_rules registry = program_rules::built_in();
        auto command = detail::parse_arguments(std::move(arguments), registry, defaults ? defaults() : std::string{});
        std::visit([](auto& args) { detail::spread_folders(args); }, command);
        return std::visit(detail::dispatcher{to, registry, about_to_follow, ranks}, command);
    });
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
