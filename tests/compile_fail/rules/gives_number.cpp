// A rule that counts: a bool, a finding or findings are answers, a number is none.
// expect: rule_answer
#include <smdebug/rules/concepts.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct handle {
    std::string name() const;
    std::vector<smdebug::step_number> steps(const smdebug::steps_options& which) const;
    std::vector<std::string> workers(smdebug::step_number step, const smdebug::read_options& where) const;
    double reduction_value(smdebug::step_number step, smdebug::reduction what,
                           const smdebug::reduction_options& how) const;
    smdebug::lookup<double> find_reduction(smdebug::step_number step, smdebug::reduction what,
                                           const smdebug::reduction_options& how) const;
};

struct some_trial {
    std::vector<smdebug::step_number> steps(const smdebug::steps_options& which) const;
    std::optional<smdebug::mode> mode(smdebug::step_number step) const;
    std::optional<smdebug::step_number> mode_step(smdebug::step_number step) const;
    std::vector<std::string> tensor_names(const smdebug::tensor_names_options& which) const;
    bool has_tensor(std::string_view name) const;
    handle tensor(std::string_view name) const;
    std::string name() const;
};

struct gives_number {
#ifdef CONTROL
    smdebug::finding operator()(const some_trial& trial, smdebug::step_number step);
#else
    int operator()(const some_trial& trial, smdebug::step_number step);
#endif
};

void check(const some_trial& trial, smdebug::rule<some_trial> auto& rule);

void use(const some_trial& trial, gives_number& rule) { check(trial, rule); }
