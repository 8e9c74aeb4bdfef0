// Findings that lasted for some saves of a tensor, of rules with a patience.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace smdebug::inline v1::rules::detail {

/// Keeps findings that were met at `patience` saves of a tensor in a row, this one included, from the first step on
/// that it is given.  A step that is given again counts once, a note does not count.
class lasting_findings {
public:
    [[nodiscard]] finding keep(const auto& save, std::int64_t patience, finding one) {
        if (patience <= 1) {
            return one;
        }
        row& of = rows_[{save.name(), save.worker()}];
        if (save.step() != of.last) {
            of = {save.step(), save.step() > of.last ? of.count : 0};
        }
        of.count = one.met ? of.before + 1 : (one.message.empty() ? 0 : of.before);
        if (one.met) {
            one.message += "; so in " + std::to_string(of.count) + " saves in a row";
        }
        return one.met && of.count < patience ? finding{} : one;
    }

private:
    struct row {
        step_number last = -1;
        std::int64_t before = 0;  // that step
        std::int64_t count = 0;
    };
    std::map<std::pair<std::string, std::string>, row> rows_;  // by tensor and worker
};

}  // namespace smdebug::inline v1::rules::detail
