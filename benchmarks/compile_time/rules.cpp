#include <smdebug/rules/built_in/all_zero.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>
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
