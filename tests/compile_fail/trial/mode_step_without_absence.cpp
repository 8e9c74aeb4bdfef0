// A trial whose mode_step() has no value for a step that was never written.
// expect: step_source
#include <smdebug/trial/concepts.hpp>

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

struct mode_step_without_absence {
    std::vector<smdebug::step_number> steps(const smdebug::steps_options& which) const;
    std::optional<smdebug::mode> mode(smdebug::step_number step) const;
#ifdef CONTROL
    std::optional<smdebug::step_number> mode_step(smdebug::step_number step) const;
#else
    smdebug::step_number mode_step(smdebug::step_number step) const;
#endif
    std::vector<std::string> tensor_names(const smdebug::tensor_names_options& which) const;
    bool has_tensor(std::string_view name) const;
    handle tensor(std::string_view name) const;
    std::string name() const;
};

void look_at(const smdebug::readable_trial auto& trial);

void use(const mode_step_without_absence& trial) { look_at(trial); }
