// Rules by name, made from parameters that are texts: the built-in ones, and a program's own.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Rules by name, for runs of any type.  Runs that a rule compares with come as trials, and are of the type that the rule
/// was added for.
class rule_table {
public:
    using rule_pointer = std::shared_ptr<erased_rule<trial>>;
    using trial_list = std::vector<std::shared_ptr<const trial>>;

    struct entry {
        rule_info info;
        bool compares_runs = false;
        void (*check)(const rule_parameters&, bool compares) = nullptr;
        rule_pointer (*make)(const rule_parameters&, const trial_list&) = nullptr;
    };

    [[nodiscard]] static rule_table built_in();

    [[nodiscard]] std::vector<rule_info> infos() const;
    [[nodiscard]] const entry& find(std::string_view name) const;
    void check(std::string_view name, const rule_parameters& parameters, bool compares) const;
    void put(entry made);

    template <class R, class Trial>
    void add() {
        put({.info = describe<R>(),
             .compares_runs = takes_other_runs<R, Trial>,
             .check =
                 [](const rule_parameters& parameters, bool compares) {
                     R rule{};
                     configure(rule, parameters);
                     try {
                         check_settings(rule);
                     } catch (const insufficient_information_for_rule_invocation&) {
                         if (!compares) {
                             throw;
                         }
                     }
                 },
             .make = [](const rule_parameters& parameters, const trial_list& others) -> rule_pointer {
                 R rule{};
                 configure(rule, parameters);
                 if constexpr (takes_other_runs<R, Trial>) {
                     std::vector<std::shared_ptr<const Trial>> typed;
                     for (const auto& each : others) {
                         typed.push_back(std::static_pointer_cast<const Trial>(each));
                     }
                     rule.others = std::move(typed);
                 }
                 check_settings(rule);
                 return any_rule<Trial>{std::move(rule)}.erased_;
             }});
    }

private:
    std::vector<entry> entries_;
};

}  // namespace detail

/// Makes rules over runs of type Trial from names and parameters.  A value: nothing global, nothing registers
/// itself.
///
///     auto registry = smd::rule_registry<smd::trial>::built_in();
///     registry.add<my_rule>();
///     auto rule = registry.make("VanishingGradient", {{"threshold", "1e-6"}});
template <std::derived_from<trial> Trial>
class rule_registry {
public:
    /// The runs that a rule compares with, the type of its member `others`: see takes_other_runs.
    using other_runs = std::vector<std::shared_ptr<const Trial>>;

    /// Without rules.
    rule_registry() = default;

    /// With the built-in rules.
    [[nodiscard]] static rule_registry built_in() {
        rule_registry made;
        made.table_ = detail::rule_table::built_in();
        return made;
    }

    /// Adds a rule; it replaces one of the same name.  A member `others` of it gets other_runs.
    template <described_rule R>
        requires rule<R, Trial>
    void add() {
        static_assert(
            takes_other_runs<R, Trial> || !requires(R& rule) { rule.others; },
            "the rule's member `others` is not for runs of this type: write "
            "std::vector<std::shared_ptr<const Trial>> others, with the registry's Trial; for rule_main "
            "smdebug::program_trial");
        table_.add<R, Trial>();
    }

    /// The description of each rule, in the order in which they were added.
    [[nodiscard]] std::vector<rule_info> infos() const { return table_.infos(); }
    /// That of the rule of that name.  Errors: value_error: there is none; names the nearest.
    [[nodiscard]] const rule_info& info(std::string_view name) const { return table_.find(name).info; }
    /// Whether the rule of that name compares runs.  Errors: as info().
    [[nodiscard]] bool compares_runs(std::string_view name) const { return table_.find(name).compares_runs; }

    /// Checks a name and parameters before there are runs; `compares`: runs to compare with will be given, so that a
    /// rule's check() may throw insufficient_information_for_rule_invocation for want of them.  Errors: as make().
    void check(std::string_view name, const rule_parameters& parameters, bool compares = false) const {
        table_.check(name, parameters, compares);
    }

    /// A new rule, with a state of its own: make one for each run.
    /// Errors: value_error, insufficient_information_for_rule_invocation: an unknown name or parameter, naming the
    ///         nearest; a value that cannot be, naming its parameter, type and default; settings that make no sense.
    [[nodiscard]] any_rule<Trial> make(std::string_view name, const rule_parameters& parameters = {},
                                       const other_runs& others = {}) const {
        return any_rule<Trial>{table_.find(name).make(parameters, {others.begin(), others.end()})};
    }

private:
    detail::rule_table table_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rule_registry.ipp>
#endif
