#include <smdebug/hook/tensor_adapter.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace smd = smdebug;

namespace {

using smdebug_test::hooks::memory_hook;

// What another library might have: numbers behind a handle, which are fetched or reduced where they are.
struct far_tensor {
    std::vector<float> values;
    int* fetched;
    int* reduced;
    bool can_reduce = true;
    bool can_digest = true;
};

// As std::mdspan is with layout_stride, in two dimensions: g++ 12 has none.
struct strided_span {
    using element_type = const float;
    using value_type = float;
    struct mapping_type {
        std::array<std::ptrdiff_t, 2> strides;
        [[nodiscard]] static constexpr bool is_always_strided() { return true; }
        [[nodiscard]] std::ptrdiff_t stride(std::size_t dimension) const { return strides[dimension]; }
    };
    struct accessor_type {
        [[nodiscard]] const float& access(const float* from, std::size_t at) const { return from[at]; }
    };
    const float* first;
    std::array<std::ptrdiff_t, 2> extents;
    mapping_type map;

    [[nodiscard]] static constexpr std::size_t rank() { return 2; }
    [[nodiscard]] std::ptrdiff_t extent(std::size_t dimension) const { return extents[dimension]; }
    [[nodiscard]] const mapping_type& mapping() const { return map; }
    [[nodiscard]] accessor_type accessor() const { return {}; }
    [[nodiscard]] const float* data_handle() const { return first; }
};
static_assert(smd::element_mdspan<strided_span> && smd::adapted_tensor<strided_span>);
static_assert(!smd::adapted_tensor<std::vector<float>> && !smd::adapted_tensor<int>);

smd::hook_options every_step(std::optional<smd::reduction_config> what = {}) {
    return {.save_config = {.save_interval = 2}, .reduction_config = std::move(what), .save_all = true};
}

template <class T>
std::vector<T> elements_of(const smd::memory_storage& store, const char* name) {
    const auto value = smd::basic_trial{store}.tensor(name).value(0);
    const auto elements = value.template elements<T>();
    return {elements.begin(), elements.end()};
}

}  // namespace

template <>
struct smdebug::tensor_adapter<far_tensor> {
    tensor_adapter(const far_tensor& tensor, std::string_view name) : tensor_(&tensor), extents_{tensor.values.size()} {
        if (tensor.values.empty()) {
            throw smd::value_error("the tensor \"" + std::string{name} + "\" is nowhere");
        }
    }
    [[nodiscard]] smd::tensor_view view() const {
        ++*tensor_->fetched;
        return {smd::dtype::float32, extents_, std::as_bytes(std::span{tensor_->values}), {}};
    }
    [[nodiscard]] std::optional<smd::tensor_numbers> compute(const smd::due_numbers& due) const {
        if (!tensor_->can_reduce) {
            return std::nullopt;
        }
        ++*tensor_->reduced;
        smd::tensor_numbers numbers;
        numbers.reductions.value.fill(7);
        numbers.reductions.computed = due.reductions;
        numbers.computed_by = "somebody whose name is much too long for that";
        if (due.digest && tensor_->can_digest) {
            numbers.digest = 11;
        }
        return numbers;
    }
    [[nodiscard]] std::span<const std::size_t> shape() const { return extents_; }

private:
    const far_tensor* tensor_;
    std::array<std::size_t, 1> extents_;
};

TEST_CASE("save_tensor: an mdspan is saved in C order, whatever its strides") {
    std::array<float, 6> memory{0, 1, 2, 3, 4, 5};
    smd::memory_storage store;
    memory_hook hook{smd::memory_storage{store}, every_step()};
    CHECK(hook.save_tensor("rows", strided_span{memory.data(), {2, 3}, {{3, 1}}}));
    CHECK(hook.save_tensor("columns", strided_span{memory.data(), {3, 2}, {{1, 3}}}, {"mine"}));
#if defined(__cpp_lib_mdspan)
    CHECK(hook.save_tensor("standard",
                           std::mdspan<const float, std::extents<int, 3, 2>, std::layout_left>{memory.data()}));
#endif
    hook.close();
    CHECK(elements_of<float>(store, "rows") == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(elements_of<float>(store, "columns") == std::vector<float>{0, 3, 1, 4, 2, 5});
    CHECK(smd::basic_trial{store}.tensor("columns").shape(0) == smd::shape_type{3, 2});
#if defined(__cpp_lib_mdspan)
    CHECK(elements_of<float>(store, "standard") == std::vector<float>{0, 3, 1, 4, 2, 5});
#endif
}

TEST_CASE("save_tensor: an adapter is made only where its tensor is due, and fetches only where elements are") {
    int fetched = 0;
    int reduced = 0;
    const far_tensor tensor{{1, 2, 3}, &fetched, &reduced};
    struct row {
        std::optional<smd::reduction_config> what;
        bool can_reduce;
        int fetched;
        int reduced;
    };
    const std::vector<row> rows{
        {std::nullopt, true, 1, 0},
        {smd::reduction_config{.reductions = {"mean"}}, true, 0, 1},
        {smd::reduction_config{.reductions = {"mean"}}, false, 1, 0},
        {smd::reduction_config{.save_shape = true}, true, 0, 1},
        {smd::reduction_config{.reductions = {"mean"}, .save_raw_tensor = true}, true, 1, 0},
    };
    for (const row& given : rows) {
        fetched = 0;
        reduced = 0;
        smd::memory_storage store;
        memory_hook hook{smd::memory_storage{store}, every_step(given.what)};
        CHECK(hook.save_tensor("x", far_tensor{tensor.values, &fetched, &reduced, given.can_reduce}));
        hook.end_step();
        CHECK_FALSE(hook.save_tensor("x", far_tensor{{}, &fetched, &reduced}));  // not due: not even looked at
        hook.end_step();
        CHECK(fetched == given.fetched);
        CHECK(reduced == given.reduced);
        CHECK_THROWS_AS(hook.save_tensor("x", far_tensor{{}, &fetched, &reduced}), smd::value_error);
        hook.close();
        if (given.what && !given.what->reductions.empty()) {
            const double mean = smd::basic_trial{store}.tensor("x").reduction_value(0, smd::reduction::mean);
            CHECK(mean == (given.reduced == 0 ? 2 : 7));
        }
        CHECK(hook.counters().lost_steps == 0);
    }
}

TEST_CASE("save_tensor: reductions that an adapter computed are marked in their records; the hook's own are not") {
    for (const bool can_reduce : {true, false}) {
        int fetched = 0;
        int reduced = 0;
        smd::memory_storage store;
        memory_hook hook{smd::memory_storage{store}, every_step(smd::reduction_config{.reductions = {"mean"}})};
        CHECK(hook.save_tensor("x", far_tensor{{1, 2, 3}, &fetched, &reduced, can_reduce}));
        hook.close();
        const std::string key = store.list("events/", "").at(0);
        const smd::byte_buffer file = store.read(key);
        const std::string bytes{reinterpret_cast<const char*>(file.data()), file.size()};
        CHECK((bytes.find("computed_by\x12\x20somebody whose name is much too \n") != std::string::npos) == can_reduce);
        CHECK((bytes.find("computed_by") != std::string::npos) == can_reduce);
        CHECK(smd::basic_trial{store}.tensor("x").reduction_value(0, smd::reduction::mean) == (can_reduce ? 7 : 2));
    }
}

TEST_CASE("save_tensor: a digest is the adapter's; where it has none, the elements are fetched for it") {
    for (const bool can_digest : {true, false}) {
        int fetched = 0;
        int reduced = 0;
        const far_tensor tensor{{1, 2, 3}, &fetched, &reduced, true, can_digest};
        smd::memory_storage store;
        smd::hook_options options = every_step(smd::reduction_config{.save_shape = true});
        options.digests = {"all"};
        memory_hook hook{smd::memory_storage{store}, options};
        CHECK(hook.save_tensor("x", tensor));
        hook.close();
        const std::int64_t own = smd::digest_of(smd::tensor_adapter<far_tensor>{tensor, "x"}.view());
        CHECK(smd::basic_trial{store}.tensor("x").digest(0) == (can_digest ? 11 : own));
        CHECK(fetched == (can_digest ? 1 : 2));  // once for the line above
        CHECK(reduced == 1);
    }
}

TEST_CASE("save_tensor: a closed hook refuses copied and adapted tensors as it does any other") {
    memory_hook hook{smd::memory_storage{}, every_step()};
    hook.close();
    int fetched = 0;
    int reduced = 0;
    CHECK_THROWS_AS(hook.save_tensor("x", std::vector<float>{1}), smd::unsupported);
    CHECK_THROWS_AS(hook.save_tensor("x", std::vector<bool>{true}), smd::unsupported);
    CHECK_THROWS_AS(hook.save_tensor("x", std::vector<std::string>{"a"}, {1}), smd::unsupported);
    CHECK_THROWS_AS(hook.save_tensor("x", far_tensor{{1}, &fetched, &reduced}), smd::unsupported);
    CHECK_FALSE(hook.should_save("x", {"mine"}));
    CHECK(fetched + reduced == 0);
}

TEST_CASE("save_tensor: TensorBoard and a step that saves everything need the elements") {
    int fetched = 0;
    int reduced = 0;
    const far_tensor tensor{{1, 2, 3}, &fetched, &reduced};
    memory_hook hook{smd::memory_storage{}, every_step(smd::reduction_config{.reductions = {"mean"}})};
    hook.save_everything_next_step();
    CHECK(hook.save_tensor("x", tensor));
    CHECK(fetched == 1);
    CHECK(reduced == 0);
    smd::hook_options shown = every_step(smd::reduction_config{.reductions = {"mean"}});
    shown.export_tensorboard = true;
    memory_hook other{smd::memory_storage{}, shown};
    CHECK(other.save_tensor("x", tensor));
    CHECK(fetched == 2);
    CHECK(reduced == 0);
}
