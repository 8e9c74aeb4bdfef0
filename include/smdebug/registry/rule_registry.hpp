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

#include <memory>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Makes rules over runs of type Trial from names and parameters.  A value: nothing global, nothing registers
/// itself.
///
///     auto registry = smd::rule_registry<smd::trial>::built_in();
///     registry.add<my_rule>();
///     auto rule = registry.make("VanishingGradient", {{"threshold", "1e-6"}});
template <readable_trial Trial>
class rule_registry {
public:
    /// The runs that a rule compares with, the type of its member `others`: see takes_other_runs.
    using other_runs = std::vector<std::shared_ptr<const Trial>>;

    /// Without rules.
    rule_registry() = default;

    /// With the built-in rules.
    [[nodiscard]] static rule_registry built_in();

    /// Adds a rule; it replaces one of the same name.  A member `others` of it gets other_runs.
    template <described_rule R>
        requires rule<R, Trial>
    void add() {
        static_assert(
            takes_other_runs<R, Trial> || !requires(R& rule) { rule.others; },
            "the rule's member `others` is not for runs of this type: write "
            "std::vector<std::shared_ptr<const Trial>> others, with the registry's Trial; for rule_main "
            "smdebug::program_trial");
        put({.info = describe<R>(),
             .compares_runs = takes_other_runs<R, Trial>,
             .check =
                 [](const rule_parameters& parameters, bool compares) {
                     R rule{};
                     configure(rule, parameters);
                     try {
                         detail::check_settings(rule);
                     } catch (const insufficient_information_for_rule_invocation&) {
                         if (!compares) {
                             throw;
                         }
                     }
                 },
             .make = [](const rule_parameters& parameters, const other_runs& others) -> any_rule<Trial> {
                 R rule{};
                 configure(rule, parameters);
                 if constexpr (takes_other_runs<R, Trial>) {
                     rule.others = others;
                 }
                 detail::check_settings(rule);
                 return rule;
             }});
    }

    /// The description of each rule, in the order in which they were added.
    [[nodiscard]] std::vector<rule_info> infos() const;
    /// That of the rule of that name.  Errors: value_error: there is none; names the nearest.
    [[nodiscard]] const rule_info& info(std::string_view name) const { return find(name).info; }
    /// Whether the rule of that name compares runs.  Errors: as info().
    [[nodiscard]] bool compares_runs(std::string_view name) const { return find(name).compares_runs; }

    /// Checks a name and parameters before there are runs; `compares`: runs to compare with will be given, so that a
    /// rule's check() may throw insufficient_information_for_rule_invocation for want of them.  Errors: as make().
    void check(std::string_view name, const rule_parameters& parameters, bool compares = false) const;

    /// A new rule, with a state of its own: make one for each run.
    /// Errors: value_error, insufficient_information_for_rule_invocation: an unknown name or parameter, naming the
    ///         nearest; a value that cannot be, naming its parameter, type and default; settings that make no sense.
    [[nodiscard]] any_rule<Trial> make(std::string_view name, const rule_parameters& parameters = {},
                                       const other_runs& others = {}) const {
        return find(name).make(parameters, others);
    }

private:
    struct entry {
        rule_info info;
        bool compares_runs = false;
        void (*check)(const rule_parameters&, bool compares) = nullptr;
        any_rule<Trial> (*make)(const rule_parameters&, const other_runs&) = nullptr;
    };

    void put(entry made);
    [[nodiscard]] const entry& find(std::string_view name) const;

    std::vector<entry> entries_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rule_registry.tpp>
#endif
