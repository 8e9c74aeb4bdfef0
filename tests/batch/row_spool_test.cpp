#include <smdebug/batch/row_spool.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

reduction_row row_of(int number) {
    reduction_row row{.step = number,
                      .mode_step = -number,
                      .mode = mode::eval,
                      .worker = "worker_" + std::to_string(number % 3),
                      .name = std::string(static_cast<std::size_t>(number % 50), 'n') + '\0' + "\xff",
                      .dtype = "float32",
                      .shape = number % 2 == 0 ? std::optional<std::string>{"2x3"} : std::nullopt};
    row.reductions.value[3] = std::numeric_limits<double>::infinity();
    row.reductions.value[4] = 0.1 * number;
    row.reductions.count = 6;
    row.reductions.zeros = 1;
    row.reductions.computed = reduction_set::all();
    return row;
}

bool same(const reduction_row& one, const reduction_row& other) {
    bool equal = one.step == other.step && one.mode_step == other.mode_step && one.mode == other.mode &&
                 one.worker == other.worker && one.name == other.name && one.dtype == other.dtype &&
                 one.shape == other.shape && one.reductions.count == other.reductions.count &&
                 one.reductions.zeros == other.reductions.zeros && one.reductions.computed == other.reductions.computed;
    for (std::size_t i = 0; i < one.reductions.value.size(); ++i) {
        equal = equal && std::bit_cast<std::uint64_t>(one.reductions.value[i]) ==
                             std::bit_cast<std::uint64_t>(other.reductions.value[i]);
    }
    return equal;
}

}  // namespace

TEST_CASE("row_spool: returns the same rows from memory and from a file, any number of times") {
    for (const std::size_t most : {std::size_t{16} << 20U, std::size_t{1000}, std::size_t{0}}) {
        row_spool spool{most};
        for (int i = 0; i < 5000; ++i) {
            spool.add(row_of(i));
        }
        CHECK(spool.size() == 5000);
        for (int turn = 0; turn < 2; ++turn) {
            int next = 0;
            int wrong = 0;
            spool.for_each([&](const reduction_row& row) { wrong += same(row, row_of(next++)) ? 0 : 1; });
            CHECK(next == 5000 + turn);
            CHECK(wrong == 0);
            spool.add(row_of(next));
        }
    }
}
