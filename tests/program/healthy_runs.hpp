// Runs from which the tests of `smdebug learn` learn.
#pragma once

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>

#include <string>

namespace smdebug_test {

inline void write_healthy_run(const std::string& path, double scale, int odd_step = -1, bool ends = true) {
    smdebug::local_storage store{path};
    run_builder build{store};
    build.collections();
    for (int i = 0; i < 6; ++i) {
        const double size = (i == odd_step ? 100 : 1) * scale;
        build.step({.step = i, .tensors = {tensor_of<double>("w", {size, 2 * size + i})}});
    }
    if (ends) {
        build.end();
    }
}

/// Runs a to h, which differ by a factor up to 1.4.
struct healthy_runs {
    healthy_runs() {
        for (int i = 0; i < 8; ++i) {
            write_healthy_run(run(i), 1 + i / 20.0);
        }
    }
    [[nodiscard]] std::string run(int i) const { return at("runs/" + std::string(1, static_cast<char>('a' + i))); }
    [[nodiscard]] std::string at(const std::string& name) const { return folder.path() + "/" + name; }

    temporary_folder folder;
};

}  // namespace smdebug_test
