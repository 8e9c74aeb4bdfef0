#include <smdebug/rules/all_zero.hpp>
#include <smdebug/rules/exploding_tensor.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/vanishing_gradient.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <iostream>

int main() {
    const smdebug::local_trial run{"/tmp/run"};
    for (const auto& result :
         smdebug::invoke_rules(run, {}, smdebug::rules::all_zero{}, smdebug::rules::exploding_tensor{},
                               smdebug::rules::vanishing_gradient{})) {
        std::cout << result.name << '\n';
    }
}
