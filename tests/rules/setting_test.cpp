#include <smdebug/rules/setting.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

struct described {
    double limit = 2;
    text_list patterns = {};

    [[nodiscard]] static constexpr std::string_view name() { return "described"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"limit", &described::limit, "how far"},
                          setting{"patterns", &described::patterns, "which", setting_kind::regexes}};
    }
};

struct without_settings {
    [[nodiscard]] static constexpr std::string_view name() { return "without_settings"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
};

// Near misses of described_rule.
struct no_name : without_settings {
    static void name();
};
struct no_summary {
    [[nodiscard]] static constexpr std::string_view name() { return "no_summary"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
};
struct settings_of_another_kind : without_settings {
    [[nodiscard]] static constexpr std::tuple<int> settings() { return {1}; }
};
struct no_default : without_settings {
    explicit no_default(int) {}
};
static_assert(described_rule<described> && described_rule<without_settings>);
static_assert(!described_rule<no_name> && !described_rule<no_summary> && !described_rule<settings_of_another_kind> &&
              !described_rule<no_default>);

static_assert(setting_value<bool> && setting_value<std::int64_t> && setting_value<double> &&
              setting_value<std::string> && setting_value<std::optional<std::int64_t>> &&
              setting_value<std::optional<double>> && setting_value<std::optional<mode>> && setting_value<text_list> &&
              setting_value<std::vector<double>> && setting_value<int> && setting_value<std::optional<int>> &&
              setting_value<std::vector<std::string>>);
static_assert(!setting_value<short> && !setting_value<float> && !setting_value<mode> && !setting_value<const char*> &&
              !setting_value<std::vector<int>>);

struct checked {
    void check() const {}
};
struct checks_by_changing {
    void check() {}
};
struct check_with_an_answer {
    [[nodiscard]] bool check() const { return true; }
};
static_assert(checked_rule<checked> && !checked_rule<checks_by_changing> && !checked_rule<check_with_an_answer> &&
              !checked_rule<described>);

}  // namespace

TEST_CASE("for_each_setting: each setting once, in order, with its member, its meaning and its kind") {
    described rule;
    std::vector<std::string> names;
    for_each_setting<described>([&]<class T>(const setting<described, T>& each) {
        names.emplace_back(each.name);
        if constexpr (std::same_as<T, double>) {
            rule.*each.member = 7;
            CHECK(each.kind == setting_kind::plain);
            CHECK(each.meaning == "how far");
        } else {
            CHECK(each.kind == setting_kind::regexes);
        }
    });
    CHECK(names == std::vector<std::string>{"limit", "patterns"});
    CHECK(rule.limit == 7);
    for_each_setting<without_settings>([](const auto&) { FAIL("there is none"); });
}
