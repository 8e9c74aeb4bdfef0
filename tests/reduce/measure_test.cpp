#include <smdebug/reduce/concepts.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug;

namespace measure_test {

struct positives {
    double above = 0;
    std::size_t operator()(const tensor_view& values) const { return values.count(); }
    friend bool operator==(const positives&, const positives&) = default;
};
struct ratio {
    double operator()(const tensor_view& earlier, const tensor_view& now) const {
        return static_cast<double>(now.count()) / static_cast<double>(earlier.count());
    }
    friend bool operator==(const ratio&, const ratio&) = default;
};
static_assert(tensor_measure<positives> && !tensor_comparison<positives>);
static_assert(tensor_comparison<ratio> && !tensor_measure<ratio>);

// Near misses, each for one reason.
struct without_equality {
    double operator()(const tensor_view&) const { return 0; }
};
struct answers_nothing {
    void operator()(const tensor_view&) const {}
    friend bool operator==(const answers_nothing&, const answers_nothing&) = default;
};
struct answers_once {
    std::unique_ptr<double> operator()(const tensor_view&) const { return {}; }
    friend bool operator==(const answers_once&, const answers_once&) = default;
};
struct changes {
    double operator()(const tensor_view&) { return 0; }
    friend bool operator==(const changes&, const changes&) = default;
};
static_assert(!tensor_measure<without_equality> && !tensor_measure<answers_nothing> && !tensor_measure<answers_once> &&
              !tensor_measure<changes>);

}  // namespace measure_test

using namespace measure_test;

TEST_CASE("measure: answers and the names of their types") {
    static_assert(std::same_as<measured_by<positives>, std::size_t> && std::same_as<compared_by<ratio>, double>);
    const std::array<std::byte, 8> bytes{};
    const std::array<std::size_t, 1> shape{2};
    const tensor_view two{dtype::float32, shape, bytes, {}};
    CHECK(positives{}(two) == 2);
    CHECK(ratio{}(two, two) == 1);
}
#include <smdebug/core/strict_math/end.ipp>
