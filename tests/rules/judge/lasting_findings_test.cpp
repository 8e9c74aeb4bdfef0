#include <smdebug/rules/judge/saved_tensor.hpp>

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>

#include "support/test.hpp"

using namespace smdebug;
using rules::detail::lasting_findings;

namespace {

/// What lasting_findings asks of a save.
struct save {
    std::string tensor;
    std::string from;
    step_number at;

    [[nodiscard]] const std::string& name() const { return tensor; }
    [[nodiscard]] const std::string& worker() const { return from; }
    [[nodiscard]] step_number step() const { return at; }
};

const finding met{.met = true, .message = "m"};

}  // namespace

TEST_CASE("lasting_findings: a finding counts from so many saves in a row on") {
    lasting_findings kept;
    CHECK_FALSE(kept.keep(save{"t", "w", 0}, 2, met).met);
    CHECK(kept.keep(save{"t", "w", 3}, 2, met).message == "m; so in 2 saves in a row");
    CHECK(kept.keep(save{"t", "w", 4}, 2, met).message == "m; so in 3 saves in a row");
    CHECK_FALSE(kept.keep(save{"t", "w", 5}, 2, {}).met);
    CHECK_FALSE(kept.keep(save{"t", "w", 6}, 2, met).met);
    CHECK(kept.keep(save{"t", "w", 6}, 1, met).message == "m");
}

TEST_CASE(
    "lasting_findings: each tensor and worker by itself; a step again counts once, a note does not, a walk back begins "
    "anew") {
    lasting_findings kept;
    CHECK_FALSE(kept.keep(save{"t", "w", 0}, 2, met).met);
    CHECK_FALSE(kept.keep(save{"t", "v", 1}, 2, met).met);
    CHECK_FALSE(kept.keep(save{"u", "w", 1}, 2, met).met);
    CHECK_FALSE(kept.keep(save{"t", "w", 0}, 2, met).met);
    CHECK(kept.keep(save{"t", "w", 1}, 2, finding::note("n")).message == "n");
    CHECK(kept.keep(save{"t", "w", 2}, 2, met).met);
    CHECK_FALSE(kept.keep(save{"t", "w", 1}, 2, met).met);
}
