#include <smdebug/formats/concepts.hpp>

#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/presented_run.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;

namespace {

/// A source and nothing else: movable, not copyable, no default constructor.
class source_archetype {
public:
    explicit source_archetype(std::vector<step_number> steps) : steps_(std::move(steps)) {}
    source_archetype(source_archetype&&) = default;
    source_archetype& operator=(source_archetype&&) = default;
    source_archetype(const source_archetype&) = delete;
    source_archetype& operator=(const source_archetype&) = delete;
    ~source_archetype() = default;

    [[nodiscard]] bool update(run_contents& contents) {
        for (const step_number step : steps_) {
            contents.add_number({.step = step, .mode_step = step}, "x", static_cast<double>(step) / 2);
        }
        contents.set_ended(true);
        return !std::exchange(steps_, {}).empty();
    }

private:
    std::vector<step_number> steps_;
};

struct cannot_move {
    cannot_move() = default;
    cannot_move(cannot_move&&) = delete;
    bool update(run_contents& contents);
};
struct tells_nothing {
    void update(run_contents& contents);
};
struct counts {
    int update(run_contents& contents);
};
struct only_const {
    bool update(const run_contents& contents, int more);
};

static_assert(catalog_source<source_archetype> && !std::copyable<source_archetype>);
static_assert(catalog_source<tensorboard_source> && catalog_source<event_file_source>);
static_assert(!catalog_source<cannot_move> && !catalog_source<tells_nothing> && !catalog_source<counts> &&
              !catalog_source<only_const> && !catalog_source<int>);
static_assert(storage<presented_run> && followable_storage<presented_run> && dated_storage<presented_run> &&
              key_follower<presented_run::follower>);

}  // namespace

TEST_CASE("catalog_source: the archetype is enough for a trial") {
    const trial run{any_storage{presented_run{any_storage{memory_storage{}}, source_archetype{{3, 1, 7}}}}};
    CHECK(run.steps() == std::vector<step_number>{1, 3, 7});
    CHECK(run.tensor("x").value<double>(7)() == 3.5);
    CHECK(run.loaded_all_steps());
}
