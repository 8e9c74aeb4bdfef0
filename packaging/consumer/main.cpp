// What a first program of a user does: opens a run, and prints its steps, its tensors and a reduction.
#include <smdebug/core/version.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
    if (count != 2) {
        std::puts("usage: consumer RUN");
        return 2;
    }
    const smdebug::local_trial run{arguments[1]};
    std::printf("steps");
    for (const smdebug::step_number step : run.steps()) {
        std::printf(" %lld", static_cast<long long>(step));
    }
    std::printf("\n");
    for (const std::string& name : run.tensor_names({.collection = "losses"})) {
        const auto loss = run.tensor(name);
        const smdebug::step_number last = loss.steps().back();
        std::printf("%s at step %lld: mean %.6f\n", name.c_str(), static_cast<long long>(last),
                    loss.reduction_value(last, smdebug::reduction::mean));
    }
    return 0;
}
