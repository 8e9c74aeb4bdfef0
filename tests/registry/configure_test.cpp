#include <smdebug/registry/configure.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/setting.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

namespace {

/// A rule with a setting of every type.
struct every_kind {
    bool flag = true;
    std::int64_t count = 3;
    double limit = 1e-7;
    std::string prefix = "a";
    std::optional<std::int64_t> first = {};
    std::optional<double> most = 0.5;
    std::optional<mode> in = {};
    text_list names = {};
    text_list patterns = "relu";
    std::vector<double> bounds = {1, 2};

    [[nodiscard]] static constexpr std::string_view name() { return "every_kind"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "whatever"; }
    [[nodiscard]] static constexpr auto settings() {
        using self = every_kind;
        return std::tuple{setting{"flag", &self::flag, "a switch"},
                          setting{"count", &self::count, "how many"},
                          setting{"limit", &self::limit, "how far"},
                          setting{"prefix", &self::prefix, "what it begins with"},
                          setting{"first", &self::first, "from where"},
                          setting{"most", &self::most, "up to where"},
                          setting{"in", &self::in, "in which mode"},
                          setting{"names", &self::names, "which"},
                          setting{"patterns", &self::patterns, "which else", setting_kind::regexes},
                          setting{"bounds", &self::bounds, "between what"}};
    }
};

/// A rule with settings as users first write them.
struct plainly_written {
    int count = 3;
    std::optional<int> most = {};
    texts names = {"a", "b"};
    texts patterns = {};

    [[nodiscard]] static constexpr std::string_view name() { return "plainly_written"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "whatever"; }
    [[nodiscard]] static constexpr auto settings() {
        using self = plainly_written;
        return std::tuple{setting{"count", &self::count, "how many"}, setting{"most", &self::most, "up to where"},
                          setting{"names", &self::names, "which"},
                          setting{"patterns", &self::patterns, "which else", setting_kind::regexes}};
    }
};

struct nothing_to_set {
    [[nodiscard]] static constexpr std::string_view name() { return "nothing_to_set"; }
    [[nodiscard]] static constexpr std::string_view service_name() { return "NothingToSet"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
    [[nodiscard]] static constexpr auto settings() { return std::tuple<>{}; }
};

every_kind configured(const rule_parameters& given) {
    every_kind rule;
    configure(rule, given);
    return rule;
}

template <class Rule = every_kind>
std::string refusal(const rule_parameters& given) {
    Rule rule;
    try {
        configure(rule, given);
    } catch (const value_error& wrong) {
        return std::string{wrong.message()};
    }
    return "accepted";
}

}  // namespace

TEST_CASE("describe: a rule's names, and of each setting its type, its default and what it means") {
    const rule_info info = describe<every_kind>();
    CHECK(info.name == "every_kind");
    CHECK(info.service_name.empty());
    CHECK(info.meaning == "whatever");
    REQUIRE(info.parameters.size() == 10);
    texts described;
    for (const parameter_info& each : info.parameters) {
        described.push_back(each.name + ": " + each.type + " = " + each.standard);
    }
    CHECK(described == texts{"flag: bool = True", "count: int = 3", "limit: float = 1e-07", "prefix: str = a",
                             "first: int or None = None", "most: float or None = 0.5", "in: mode or None = None",
                             "names: list = None", "patterns: list = relu", "bounds: list of float = 1.0,2.0"});
    CHECK(info.parameters[2].meaning == "how far");
    CHECK(describe<nothing_to_set>().service_name == "NothingToSet");
    CHECK(describe<nothing_to_set>().parameters.empty());
}

TEST_CASE("configure: settings may be an int and a std::vector<std::string>") {
    plainly_written rule;
    configure(rule, {{"count", "-4"}, {"most", "7"}, {"names", "x, y"}, {"patterns", texts{"x{1,2}"}}});
    CHECK(rule.count == -4);
    CHECK(rule.most == 7);
    CHECK(rule.names == texts{"x", "y"});
    CHECK(rule.patterns == texts{"x{1,2}"});
    configure(rule, {{"names", "None"}});
    CHECK(rule.names.empty());
    CHECK(refusal<plainly_written>({{"count", "5000000000"}}) ==
          "rule plainly_written: parameter count (int, default 3) must be a whole number, not \"5000000000\"");
    CHECK(refusal<plainly_written>({{"patterns", "(("}}).find("holds a bad regular expression") != std::string::npos);
    CHECK(describe<plainly_written>().parameters[2].type == "list");
    CHECK(describe<plainly_written>().parameters[2].standard == "a,b");
}

TEST_CASE("configure: every type of setting is made of its text; what is not given stays as it is") {
    const every_kind rule = configured({{"flag", "False"},
                                        {"count", "-4"},
                                        {"limit", "1e3"},
                                        {"prefix", "p, q"},
                                        {"first", "7"},
                                        {"most", "None"},
                                        {"in", "EVAL"},
                                        {"names", "a, b"},
                                        {"patterns", "x{2}"},
                                        {"bounds", "0.5,1e2"}});
    CHECK_FALSE(rule.flag);
    CHECK(rule.count == -4);
    CHECK(rule.limit == 1000);
    CHECK(rule.prefix == "p, q");
    CHECK(rule.first == 7);
    CHECK_FALSE(rule.most.has_value());
    CHECK(rule.in == mode::eval);
    CHECK(rule.names.texts() == texts{"a", "b"});
    CHECK(rule.patterns.texts() == texts{"x{2}"});
    CHECK(rule.bounds == std::vector<double>{0.5, 100});
    const every_kind same = configured({{"limit", "2"}});
    CHECK(same.limit == 2);
    CHECK(same.count == 3);
    CHECK(same.patterns.texts() == texts{"relu"});
}

TEST_CASE("configure: a list that comes as one may have items with commas; one item does for anything else") {
    const every_kind rule = configured({{"patterns", texts{"relu{1,3}", "tanh"}}, {"count", texts{"9"}}});
    CHECK(rule.patterns.texts() == texts{"relu{1,3}", "tanh"});
    CHECK(rule.count == 9);
    CHECK(refusal({{"count", texts{"9", "8"}}}) ==
          "rule every_kind: parameter count (int, default 3) must be a whole number, not a list of 2");
}

TEST_CASE("configure: a value that cannot be is refused with the parameter's name, type and default") {
    CHECK(refusal({{"flag", "yes"}}) ==
          "rule every_kind: parameter flag (bool, default True) must be True or False, not \"yes\"");
    CHECK(refusal({{"most", "x"}}) ==
          "rule every_kind: parameter most (float or None, default 0.5) must be a number or None, not \"x\"");
    CHECK(
        refusal({{"patterns", texts{"fine", "("}}})
            .starts_with("rule every_kind: parameter patterns (list, default relu) holds a bad regular expression: "));
    CHECK(refusal({{"names", "("}}) == "accepted");  // not a list of regexes
    for (const char* number : {"", "abc", "1,5", "1e", "nan", "0x10"}) {
        CHECK_MESSAGE(refusal({{"limit", number}}) != "accepted", number);
    }
}

TEST_CASE("configure: a setting that is refused keeps its value") {
    every_kind rule{.patterns = "kept"};
    CHECK_THROWS_AS(static_cast<void>(set_parameter(rule, "patterns", "(")), value_error);
    CHECK(rule.patterns.texts() == texts{"kept"});
}

TEST_CASE("configure: of an unknown parameter the nearest is named, and all that there are") {
    CHECK(refusal({{"limits", "1"}}) ==
          "rule every_kind has no parameter \"limits\". Did you mean limit? It has: flag, count, limit, prefix, first, "
          "most, in, names, patterns, bounds");
    CHECK(refusal<nothing_to_set>({{"x", "1"}}) == "rule nothing_to_set has no parameter \"x\". It has: none");
    every_kind rule;
    CHECK_FALSE(set_parameter(rule, "Limit", "1"));
    CHECK(set_parameter(rule, "limit", "1"));
    CHECK(rule.limit == 1);
}
