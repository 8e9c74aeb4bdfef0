#include <smdebug/trial/read/tensor_memory.hpp>

#include "support/run_builder.hpp"

#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using detail::tensor_memory;

namespace {

reduction_values with_sum(double sum) {
    reduction_values made;
    made.value[reduction_key{reduction::sum, false}.index()] = sum;
    made.computed = reduction::sum;
    return made;
}

double sum_of(const detail::known_tensor* known) { return known == nullptr ? -1 : known->found(reduction::sum); }

tensor_value value_of(std::size_t elements, float first) {
    memory_storage store;
    std::vector<float> values(elements, first);
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("t", values)}}).end();
    return memory_trial{store}.tensor("t").value(0);
}

}  // namespace

TEST_CASE("tensor_memory: keeps the last sixteen saves of a tensor") {
    tensor_memory memory{0};
    CHECK(memory.find("a", 0, "w") == nullptr);
    for (step_number step = 0; step < 28; ++step) {
        memory.keep("a", step, "w").found = with_sum(static_cast<double>(step));
        memory.keep("b", step, "w").found = with_sum(1000);
    }
    for (step_number step = 0; step < 28; ++step) {
        CHECK(sum_of(memory.find("a", step, "w")) == (step < 12 ? -1 : static_cast<double>(step)));
    }
    CHECK(sum_of(memory.find("b", 27, "w")) == 1000);
    CHECK(memory.find("a", 27, "another") == nullptr);
    CHECK(memory.find("c", 27, "w") == nullptr);
}

TEST_CASE("tensor_memory: of each worker, however many there are, and in whatever order they come") {
    tensor_memory memory{0};
    for (step_number step = 0; step < 30; ++step) {
        for (int worker = 0; worker < 5; ++worker) {
            const int turn = step % 2 == 0 ? worker : 4 - worker;
            memory.keep("a", step, std::to_string(turn)).found = with_sum(static_cast<double>(10 * step + turn));
        }
    }
    for (step_number step = 14; step < 30; ++step) {
        for (int worker = 0; worker < 5; ++worker) {
            CHECK(sum_of(memory.find("a", step, std::to_string(worker))) == static_cast<double>(10 * step + worker));
        }
    }
    CHECK(memory.find("a", 12, "0") == nullptr);
}

TEST_CASE("tensor_memory: a worker that saves now and then does not make it grow") {
    tensor_memory memory{0};
    for (step_number step = 0; step < 4000; ++step) {
        memory.keep("a", step, "often").found = with_sum(1);
        if (step % 400 == 0) {
            memory.keep("a", step, "seldom").found = with_sum(2);
        }
    }
    std::size_t kept = 0;
    for (step_number step = 0; step < 4000; ++step) {
        kept += memory.find("a", step, "often") != nullptr ? 1U : 0U;
        kept += memory.find("a", step, "seldom") != nullptr ? 1U : 0U;
    }
    CHECK(kept <= 2 * tensor_memory::kept_saves);
}

TEST_CASE("tensor_memory: keeps values up to a number of bytes, those that came last") {
    const tensor_value small = value_of(10, 1);   // 40 bytes
    const tensor_value large = value_of(100, 2);  // 400 bytes
    tensor_memory memory{100};
    memory.keep_value("a", 0, "w", small);
    memory.keep_value("b", 0, "w", small);
    REQUIRE(memory.find_value("a", 0, "w").has_value());
    const auto kept = memory.find_value("a", 0, "w");
    CHECK(kept->bytes().data() == small.bytes().data());  // shared, not copied
    CHECK_FALSE(memory.find_value("a", 1, "w").has_value());
    CHECK_FALSE(memory.find_value("a", 0, "other").has_value());
    memory.keep_value("c", 0, "w", small);
    CHECK_FALSE(memory.find_value("a", 0, "w").has_value());
    CHECK(memory.find_value("b", 0, "w").has_value());
    CHECK(memory.find_value("c", 0, "w").has_value());
    memory.keep_value("large", 0, "w", large);  // too large by itself
    CHECK_FALSE(memory.find_value("large", 0, "w").has_value());
    CHECK(memory.find_value("c", 0, "w").has_value());
    tensor_memory none{0};
    none.keep_value("a", 0, "w", small);
    CHECK_FALSE(none.find_value("a", 0, "w").has_value());
}

TEST_CASE("tensor_memory: small values are bounded in number, too") {
    const tensor_value one = value_of(1, 1);
    tensor_memory memory{std::size_t{1} << 20U};
    for (step_number step = 0; step < 1000; ++step) {
        memory.keep_value("a", step, "w", one);
    }
    std::size_t kept = 0;
    for (step_number step = 0; step < 1000; ++step) {
        kept += memory.find_value("a", step, "w").has_value() ? 1U : 0U;
    }
    CHECK(kept == 256);
    CHECK(memory.find_value("a", 999, "w").has_value());
}

TEST_CASE("tensor_memory: forgets the values of older steps, and has room for others then") {
    const std::vector<float> numbers(100, 1.0F);
    const tensor_value value = tensor_value::copy_of<float>({100}, numbers);
    detail::tensor_memory memory{1000};
    memory.keep_value("a", 1, "w", value);
    memory.keep_value("a", 2, "w", value);
    memory.forget_values_before(2);
    CHECK_FALSE(memory.find_value("a", 1, "w").has_value());
    CHECK(memory.find_value("a", 2, "w").has_value());
    memory.keep_value("a", 3, "w", value);
    CHECK(memory.find_value("a", 2, "w").has_value());
    CHECK(memory.find_value("a", 3, "w").has_value());
}
