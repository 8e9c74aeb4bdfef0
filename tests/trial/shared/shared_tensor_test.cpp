// What a step_cache keeps of each tensor: its last saves, and values.
#include "support/run_builder.hpp"
#include "support/shared_trial.hpp"
#include "support/test.hpp"

#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::shared_tensor;

namespace {

reduction_values with_sum(double sum) {
    reduction_values made;
    made.value[reduction_key{reduction::sum, false}.index()] = sum;
    made.computed = reduction::sum;
    return made;
}

double sum_of(const detail::known_save* known) {
    return known == nullptr || !known->reductions ? -1 : (*known->reductions)(reduction::sum);
}

/// A cache that keeps so many bytes of values, of two tensors.
struct kept_values {
    explicit kept_values(std::size_t most_bytes)
        : sharing{.value_bytes = most_bytes}, view(detail::view_for_rules(smdebug::detail::state_of(run), &sharing)) {}

    static memory_storage empty_run() {
        memory_storage store;
        run_builder{store}.collections().end();
        return store;
    }
    static tensor_value value_of(std::size_t elements) {
        return tensor_value::copy_of<float>({elements}, std::vector<float>(elements, 1.0F));
    }

    void keep(const std::string& name, step_number step, const tensor_value& value) {
        static_cast<void>(view->value(*view->share_of(name), step, "w", [&] { return lookup<tensor_value>{value}; }));
    }
    /// A cached value, without reading; nothing if it would have to be read.
    [[nodiscard]] std::optional<tensor_value> find(const std::string& name, step_number step,
                                                   const std::string& worker = "w") const {
        const auto found =
            view->value(*view->share_of(name), step, worker, [] { return lookup<tensor_value>{lookup_error{}}; });
        return found ? std::optional{*found} : std::nullopt;
    }
    void begin(step_number step) const { view->begin_step(*smdebug::detail::catalog_of(run), step, {}); }

    memory_trial run{empty_run()};
    sharing_options sharing;
    std::shared_ptr<detail::rule_view> view;
};

}  // namespace

TEST_CASE("shared_tensor: keeps the last sixteen saves of a tensor") {
    shared_tensor a;
    shared_tensor b;
    CHECK(a.find(0, "w") == nullptr);
    for (step_number step = 0; step < 28; ++step) {
        a.keep(step, "w").reductions = with_sum(static_cast<double>(step));
        b.keep(step, "w").reductions = with_sum(1000);
    }
    for (step_number step = 0; step < 28; ++step) {
        CHECK(sum_of(a.find(step, "w")) == (step < 12 ? -1 : static_cast<double>(step)));
    }
    CHECK(sum_of(b.find(27, "w")) == 1000);
    CHECK(a.find(27, "another") == nullptr);
    CHECK(sum_of(&a.keep(27, "w")) == 27);
    CHECK(sum_of(&a.keep(28, "w")) == -1);
}

TEST_CASE("shared_tensor: the same for each worker, however many there are, and in any order") {
    shared_tensor a;
    for (step_number step = 0; step < 30; ++step) {
        for (int worker = 0; worker < 5; ++worker) {
            const int turn = step % 2 == 0 ? worker : 4 - worker;
            a.keep(step, std::to_string(turn)).reductions = with_sum(static_cast<double>(10 * step + turn));
        }
    }
    for (step_number step = 14; step < 30; ++step) {
        for (int worker = 0; worker < 5; ++worker) {
            CHECK(sum_of(a.find(step, std::to_string(worker))) == static_cast<double>(10 * step + worker));
        }
    }
    CHECK(a.find(12, "0") == nullptr);
}

TEST_CASE("shared_tensor: a worker that saves rarely does not make it grow") {
    shared_tensor a;
    for (step_number step = 0; step < 4000; ++step) {
        a.keep(step, "often").reductions = with_sum(1);
        if (step % 400 == 0) {
            a.keep(step, "seldom").reductions = with_sum(2);
        }
    }
    std::size_t kept = 0;
    for (step_number step = 0; step < 4000; ++step) {
        kept += a.find(step, "often") != nullptr ? 1U : 0U;
        kept += a.find(step, "seldom") != nullptr ? 1U : 0U;
    }
    CHECK(kept <= 2 * shared_tensor::kept_saves);
}

TEST_CASE("step_cache: keeps the most recent values up to a number of bytes") {
    const tensor_value small = kept_values::value_of(10);   // 40 bytes
    const tensor_value large = kept_values::value_of(100);  // 400 bytes
    kept_values memory{100};
    memory.keep("a", 0, small);
    memory.keep("b", 0, small);
    const auto kept = memory.find("a", 0);
    REQUIRE(kept.has_value());
    CHECK(kept->bytes().data() == small.bytes().data());  // shared, not copied
    CHECK_FALSE(memory.find("a", 1).has_value());
    CHECK_FALSE(memory.find("a", 0, "other").has_value());
    memory.keep("c", 0, small);
    CHECK_FALSE(memory.find("a", 0).has_value());
    CHECK(memory.find("b", 0).has_value());
    CHECK(memory.find("c", 0).has_value());
    memory.keep("large", 0, large);  // too large by itself
    CHECK_FALSE(memory.find("large", 0).has_value());
    CHECK(memory.find("c", 0).has_value());
    kept_values none{0};
    none.keep("a", 0, small);
    CHECK_FALSE(none.find("a", 0).has_value());
}

TEST_CASE("step_cache: small values are bounded in number, too") {
    const tensor_value one = kept_values::value_of(1);
    kept_values memory{std::size_t{1} << 20U};
    for (step_number step = 0; step < 1000; ++step) {
        memory.keep("a", step, one);
    }
    std::size_t kept = 0;
    for (step_number step = 0; step < 1000; ++step) {
        kept += memory.find("a", step).has_value() ? 1U : 0U;
    }
    CHECK(kept == 256);
    CHECK(memory.find("a", 999).has_value());
}

TEST_CASE("step_cache: drops the values of steps before the last one, which makes room for others") {
    const tensor_value value = kept_values::value_of(100);
    kept_values memory{1000};
    memory.begin(1);
    memory.keep("a", 1, value);
    memory.begin(2);
    memory.keep("a", 2, value);
    CHECK(memory.find("a", 1).has_value());
    memory.begin(3);
    CHECK_FALSE(memory.find("a", 1).has_value());
    CHECK(memory.find("a", 2).has_value());
    memory.keep("a", 3, value);
    CHECK(memory.find("a", 2).has_value());
    CHECK(memory.find("a", 3).has_value());
}
