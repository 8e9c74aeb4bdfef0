// A rule's settings, each described once, next to the member that holds it: programs make flags, help, parsers and
// reports of these descriptions.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The types that a setting may have: what a text can say.
template <class T>
concept setting_value =
    std::same_as<T, bool> || std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, double> ||
    std::same_as<T, std::string> || std::same_as<T, std::optional<int>> ||
    std::same_as<T, std::optional<std::int64_t>> || std::same_as<T, std::optional<double>> ||
    std::same_as<T, std::optional<mode>> || std::same_as<T, text_list> || std::same_as<T, std::vector<std::string>> ||
    std::same_as<T, std::vector<double>>;

/// How a list of texts is to be understood.
enum class setting_kind : std::uint8_t {
    plain,
    regexes,  ///< a list of regular expressions, checked when they are parsed
};

/// One setting of the rule R: its name in texts and flags, the member, and a line that explains it, without a default
/// (that is what a default-constructed rule holds).
template <class R, setting_value T>
struct setting {
    using rule_type = R;
    using value_type = T;

    std::string_view name;
    T R::*member;
    std::string_view meaning;
    setting_kind kind = setting_kind::plain;
};
template <class R, class T>
setting(std::string_view, T R::*, std::string_view) -> setting<R, T>;
template <class R, class T>
setting(std::string_view, T R::*, std::string_view, setting_kind) -> setting<R, T>;

namespace detail {

template <class T>
inline constexpr bool is_settings_tuple = false;
template <class... R, class... T>
inline constexpr bool is_settings_tuple<std::tuple<setting<R, T>...>> = true;

}  // namespace detail

/// R::settings() gives a tuple of setting<R, ...>, R::summary() a line that says when the rule fires.
///
///     static constexpr std::string_view name() { return "my_rule"; }
///     static constexpr std::string_view summary() { return "a tensor is larger than it should be"; }
///     static constexpr auto settings() { return std::tuple{setting{"limit", &my_rule::limit, "largest that is fine"}};
///     }
///
/// Those of the built-in rules are templates: tuples are slow to compile, and a file that only calls rules makes none.
template <class R>
concept described_rule = named_rule<R> && std::default_initializable<R> && requires {
    { R::summary() } -> std::convertible_to<std::string_view>;
    requires detail::is_settings_tuple<std::remove_cvref_t<decltype(R::settings())>>;
};

/// Optional: rule.check() throws value_error, or insufficient_information_for_rule_invocation, for settings that make
/// no sense.  It is called before the rule is.
template <class R>
concept checked_rule = requires(const R& rule) {
    { rule.check() } -> std::same_as<void>;
};

namespace detail {

/// Settings that make no sense are an error before anything is read.
template <class Rule>
void check_settings(const Rule& callable) {
    if constexpr (checked_rule<Rule>) {
        callable.check();
    }
}

}  // namespace detail

/// Calls visit(setting) for each setting of R, in order.
template <described_rule R, class Visit>
constexpr void for_each_setting(Visit&& visit) {
    std::apply([&](const auto&... each) { (visit(each), ...); }, R::settings());
}

}  // namespace v1
}  // namespace smdebug
