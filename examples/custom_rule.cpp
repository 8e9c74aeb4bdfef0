// A rule of your own as a program: `custom_rule RUN --most 0.5 --follow`; see `custom_rule --help`.
#include <smdebug/rule_main.hpp>
#include <smdebug/smdebug.hpp>

namespace smd = smdebug;

struct large_update {
    double most = 1;  // a setting, and so a flag

    static constexpr std::string_view name() { return "large_update"; }
    static constexpr std::string_view summary() { return "a weight's gradient is large beside the weight"; }
    static constexpr auto settings() {
        return std::tuple{
            smd::setting{"most", &large_update::most, "largest mean|gradient| / mean|weight| that is fine"}};
    }

    std::vector<smd::finding> operator()(const smd::readable_trial auto& run, smd::step_number step) const {
        std::vector<smd::finding> found;
        for (const std::string& gradient : run.tensor_names({.regex = "^gradient/", .step = step})) {
            const auto mean = [&](const std::string& name) {
                return run.tensor(name).reduction_value(step, smd::reduction::mean, {.abs = true});
            };
            const double ratio = mean(gradient) / mean(gradient.substr(9));  // "gradient/fc1.weight" of "fc1.weight"
            found.push_back({.met = ratio > most, .tensor = gradient, .value = ratio, .threshold = most});
        }
        return found;
    }
};

int main(int count, char** arguments) { return smd::rule_main<large_update>(count, arguments); }
