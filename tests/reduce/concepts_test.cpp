#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/concepts.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

/// Models reduction_kernel and nothing more.
struct archetype {
    [[nodiscard]] result<reduction_values> reduce(const tensor_view&, reduction_set) const {
        return status::unsupported;
    }
    [[nodiscard]] std::string name() const { return "archetype"; }
    archetype() = delete;
    archetype(const archetype&) = default;
    archetype& operator=(const archetype&) = delete;
    ~archetype() = default;
};
static_assert(reduction_kernel<archetype>);

struct not_const {
    result<reduction_values> reduce(const tensor_view&, reduction_set) { return status::unsupported; }
    [[nodiscard]] std::string name() const { return ""; }
};
static_assert(named_kernel<not_const> && !tensor_reducer<not_const> && !reduction_kernel<not_const>);

struct answers_values {
    [[nodiscard]] reduction_values reduce(const tensor_view&, reduction_set) const { return {}; }
    [[nodiscard]] std::string name() const { return ""; }
};
static_assert(!tensor_reducer<answers_values> && !reduction_kernel<answers_values>);

struct nameless {
    [[nodiscard]] result<reduction_values> reduce(const tensor_view&, reduction_set) const { return status::ok; }
};
static_assert(tensor_reducer<nameless> && !named_kernel<nameless> && !reduction_kernel<nameless>);

struct not_copyable : nameless {
    [[nodiscard]] std::string name() const { return ""; }
    not_copyable() = default;
    not_copyable(not_copyable&&) = default;
};
static_assert(tensor_reducer<not_copyable> && named_kernel<not_copyable> && !reduction_kernel<not_copyable>);

/// Near misses of watched_reducer.
struct watches_by_value_alone {
    [[nodiscard]] reduction_values reduce(const tensor_view&, reduction_set, const byte_watch&) const { return {}; }
};
struct watches_mutably {
    result<reduction_values> reduce(const tensor_view&, reduction_set, byte_watch&) const { return status::ok; }
};
static_assert(!watched_reducer<archetype> && !watched_reducer<watches_by_value_alone> &&
              !watched_reducer<watches_mutably>);

/// Near misses of repeating_reducer.
struct repeats_values {
    [[nodiscard]] reduction_values reduce_repeated(const tensor_view&, std::size_t, reduction_set) const { return {}; }
};
struct repeats_mutably {
    result<reduction_values> reduce_repeated(const tensor_view&, std::size_t, reduction_set) { return status::ok; }
};
static_assert(!repeating_reducer<archetype> && !repeating_reducer<repeats_values> &&
              !repeating_reducer<repeats_mutably>);

}  // namespace

TEST_CASE("reduction_values: NaN and nothing computed, until a kernel says otherwise") {
    reduction_values values;
    CHECK(values.computed.empty());
    CHECK(values.count == 0);
    for (const double value : values.value) {
        CHECK(smdebug::is_nan(value));
    }
    values.value[reduction_key{reduction::l1, true}.index()] = 3;
    CHECK(values(reduction::l1, true) == 3);
    CHECK(smdebug::is_nan(values(reduction::l1)));
}
