#include DOOR

#include <iostream>
#include <string>

int main(int count, char** arguments) {
    const smdebug::local_trial run{std::string{count > 1 ? arguments[1] : "."}};
    for (const std::string& name : run.tensor_names()) {
        const auto tensor = run.tensor(name);
        for (const auto step : tensor.steps()) {
            std::cout << name << ' ' << step << ' ' << tensor.reduction_value(step, "mean") << '\n';
        }
    }
}
