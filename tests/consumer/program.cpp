// A user's program for a rule: without a run it prints its usage.
#include <smdebug/rule_main.hpp>

#include <string_view>
#include <tuple>

struct always {
    static constexpr std::string_view name() { return "always"; }
    static constexpr std::string_view summary() { return "every step"; }
    static constexpr std::tuple<> settings() { return {}; }
    bool operator()(const smdebug::readable_trial auto&, smdebug::step_number) const { return true; }
};

int main(int count, char** arguments) { return smdebug::rule_main<always>(count, arguments) == 2 ? 0 : 1; }
