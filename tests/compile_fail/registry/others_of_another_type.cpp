// A rule that compares with runs of another type than the registry makes rules for.
// expect: is not for runs of this type
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

struct compares {
#ifdef CONTROL
    std::vector<std::shared_ptr<const smdebug::memory_trial>> others;
#else
    std::vector<std::shared_ptr<const smdebug::local_trial>> others;
#endif
    static constexpr std::string_view name() { return "compares"; }
    static constexpr std::string_view summary() { return "never"; }
    static constexpr std::tuple<> settings() { return {}; }
    bool operator()(const smdebug::readable_trial auto& run, smdebug::step_number step) const {
        return run.has_tensor("a") && step < 0;
    }
};

void use(smdebug::rule_registry<smdebug::memory_trial>& registry) { registry.add<compares>(); }
