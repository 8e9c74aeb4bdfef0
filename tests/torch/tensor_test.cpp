#include <smdebug/torch/tensor.hpp>

#include "torch/torch_fixture.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/reduce/digest.hpp>

#include <torch/version.h>

#include "support/standard.hpp"

namespace smd = smdebug;
using namespace smdebug_test::torch_;

namespace {

using smd::detail::device_numbers;

// A view of a tensor that lies in C order here.
struct viewed {
    at::Tensor here;
    smd::shape_type extents;

    explicit viewed(const at::Tensor& tensor)
        : here(tensor.detach().contiguous()), extents(smd::detail::shape_of_torch(here)) {}
    [[nodiscard]] smd::tensor_view view() const {
        return {smd::detail::dtype_of_torch(here.scalar_type()),
                extents,
                {static_cast<const std::byte*>(here.data_ptr()), here.nbytes()},
                {}};
    }
};

smd::reduction_values by_kernel(const at::Tensor& tensor, smd::reduction_set wanted) {
    const viewed one{tensor};
    return *smd::default_kernel{}.reduce(one.view(), wanted);
}

smd::reduction_values by_torch(const at::Tensor& tensor, smd::reduction_set wanted) {
    device_numbers numbers;
    numbers.add(tensor, {.reductions = wanted});
    return numbers.fetch().front().reductions;
}

// To the accuracy of docs/guarantees.md.  Sums may cancel, so they are compared with the sum of magnitudes.
void check_same(const smd::reduction_values& got, const smd::reduction_values& expected) {
    CHECK(got.count == expected.count);
    CHECK(got.nan == expected.nan);
    CHECK(got.pos_inf == expected.pos_inf);
    CHECK(got.neg_inf == expected.neg_inf);
    CHECK(got.zeros == expected.zeros);
    for (std::size_t i = 0; i < 2 * smd::reduction_count; ++i) {
        const smd::reduction_key key = smd::reduction_key::from_index(i);
        CAPTURE(key.name());
        CHECK(got.computed.contains(key) == expected.computed.contains(key));
        const double a = got.value[i];
        const double b = expected.value[i];
        CAPTURE(a);
        CAPTURE(b);
        if (std::isnan(b) || std::isinf(b)) {
            CHECK((std::isnan(b) ? std::isnan(a) : a == b));
            continue;
        }
        const bool cancels = key.what == smd::reduction::sum || key.what == smd::reduction::mean;
        const double l1 = expected(smd::reduction::l1);
        const double scale = !cancels || std::isnan(l1)        ? std::abs(b)
                             : key.what == smd::reduction::sum ? l1
                                                               : l1 / static_cast<double>(expected.count);
        const bool is_spread = key.what == smd::reduction::variance || key.what == smd::reduction::std;
        const double off =
            is_spread && b != 0
                ? std::max(1.0, expected(smd::reduction::mean, true) / expected(smd::reduction::std, key.abs))
                : 1.0;
        CHECK(std::abs(a - b) <= 1e-12 * scale * off);
    }
}

// Dtypes that libtorch 1.13 does not have: 8-bit floats came with 2.1, the larger unsigned integers with 2.3.  The format
// has those in newer_dtypes(), and lacks those in newer_refused_dtypes().
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
std::vector<at::ScalarType> newer_dtypes() {
    using enum at::ScalarType;
    return {UInt16, UInt32, UInt64, Float8_e4m3fn, Float8_e5m2};
}
std::vector<at::ScalarType> newer_refused_dtypes() {
    using enum at::ScalarType;
    return {Float8_e4m3fnuz, Float8_e5m2fnuz};
}
#else
std::vector<at::ScalarType> newer_dtypes() { return {}; }
std::vector<at::ScalarType> newer_refused_dtypes() { return {}; }
#endif

// Those that both the format and this libtorch have.
std::vector<at::ScalarType> saved_dtypes() {
    std::vector<at::ScalarType> all{torch::kFloat32, torch::kFloat64, torch::kFloat16,      torch::kBFloat16,
                                    torch::kInt8,    torch::kInt16,   torch::kInt32,        torch::kInt64,
                                    torch::kUInt8,   torch::kBool,    torch::kComplexFloat, torch::kComplexDouble};
    for (const at::ScalarType type : newer_dtypes()) {
        all.push_back(type);
    }
    return all;
}

at::Tensor counted(std::int64_t count) { return torch::arange(count, torch::kFloat64); }

}  // namespace

TEST_CASE("save_tensor: every dtype of libtorch that the format has is saved as a span of the same values is") {
    const at::Tensor numbers = torch::tensor({0.0, 1.0, -2.0, 3.5, 0.0, 100.0}).reshape({2, 3});
    for (const at::ScalarType type : saved_dtypes()) {
        const at::Tensor tensor = numbers.abs().to(type);
        CAPTURE(c10::toString(type));
        const viewed plain{tensor};
        const auto by_tensor =
            written_by(saves_all(), [&](memory_hook& hook) { CHECK(hook.save_tensor("x", tensor)); });
        const auto by_view =
            written_by(saves_all(), [&](memory_hook& hook) { CHECK(hook.save_tensor("x", plain.view())); });
        CHECK(files_of(by_tensor) == files_of(by_view));
        CHECK(run_of(by_tensor).tensor("x").shape(0) == smd::shape_type{2, 3});
    }
}

TEST_CASE("save_tensor: whatever the strides, a tensor is saved in C order; and not changed") {
    const at::Tensor base = counted(24).reshape({2, 3, 4});
    const std::vector<std::pair<std::string, at::Tensor>> tensors{
        {"contiguous", base},
        {"transposed", base.transpose(0, 2)},
        {"sliced", base.slice(2, 1, 4, 2)},
        {"expanded", base.select(0, 0).unsqueeze(0).expand({5, 3, 4})},
        {"offset", base.select(0, 1)},
        {"channels last", counted(2 * 3 * 4 * 5).reshape({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast)},
        {"0-d", base.sum()},
        {"empty", torch::empty({0, 3})},
        {"conjugated", torch::complex(base, base).conj()},
        {"negated", torch::imag(torch::complex(base, base).conj())},
        {"with a gradient", base.clone().requires_grad_()},
        {"inference",
         [&] {
             const c10::InferenceMode inference;
             return base * 2;
         }()},
    };
    for (const auto& [what, tensor] : tensors) {
        CAPTURE(what);
        const viewed plain{tensor.detach().resolve_conj().resolve_neg()};
        const auto by_tensor =
            written_by(saves_all(every_reduction()), [&](memory_hook& hook) { CHECK(hook.save_tensor("x", tensor)); });
        const auto by_view = written_by(saves_all(every_reduction()),
                                        [&](memory_hook& hook) { CHECK(hook.save_tensor("x", plain.view())); });
        CHECK(files_of(by_tensor) == files_of(by_view));
        CHECK(tensor.equal(tensor.clone()));
    }
}

TEST_CASE("save_tensor: contiguous elements are not copied") {
    const at::Tensor tensor = counted(100);
    const smd::tensor_adapter<at::Tensor> adapter{tensor, "x"};
    CHECK(static_cast<const void*>(adapter.view().bytes.data()) == tensor.data_ptr());
    CHECK_FALSE(adapter.compute({.reductions = smd::reduction_set::all()})
                    .has_value());  // it lies here: the hook's kernel is as near
}

TEST_CASE("save_tensor: what cannot be saved is refused in a sentence, and costs no step") {
    const at::Tensor dense = torch::ones({2, 2});
    const at::Tensor quantised = torch::quantize_per_tensor(dense, 0.1, 0, torch::kQInt8);
    std::vector<std::pair<at::Tensor, std::string>> refused{
        {at::Tensor{}, "the tensor \"x\" is undefined: it has not been computed yet"},
        {dense.to_sparse(), "the tensor \"x\" is sparse (layout Sparse): save tensor.to_dense()"},
        {dense.to_sparse_csr(), "the tensor \"x\" is sparse (layout SparseCsr): save tensor.to_dense()"},
        {quantised, "the tensor \"x\" is quantised (QInt8), which the format does not have: save tensor.dequantize()"},
        {torch::empty({2}, torch::kMeta), "the tensor \"x\" lies on the device meta, which has no elements"},
        {torch::zeros({2}, torch::kComplexHalf), "the tensor \"x\" has the dtype ComplexHalf"},
    };
    for (const at::ScalarType type : newer_refused_dtypes()) {
        refused.emplace_back(torch::zeros({2}, type),
                             std::string{"the tensor \"x\" has the dtype "} + c10::toString(type));
    }
    memory_hook hook{smd::memory_storage{}, saves_all()};
    for (const auto& [tensor, sentence] : refused) {
        std::string said;
        try {
            hook.save_tensor("x", tensor);
        } catch (const smd::value_error& error) {
            said = error.what();
        }
        CAPTURE(said);
        CHECK(said.find(sentence) != std::string::npos);
    }
    CHECK(hook.save_tensor("y", dense));
    hook.end_step();
    CHECK(hook.counters().lost_steps == 0);
    CHECK(hook.counters().steps == 1);
    hook.end_step();
}

TEST_CASE("save_tensor: a tensor that is not due is not looked at") {
    memory_hook hook{smd::memory_storage{}, {.save_config = {.save_interval = 2}, .include_regex = {"^x"}}};
    CHECK_FALSE(hook.save_tensor("y", at::Tensor{}));
    hook.end_step();
    CHECK_FALSE(hook.save_tensor("x", at::Tensor{}));
}

TEST_CASE("device_numbers: the numbers are the hook's own, to their accuracy") {
    torch::manual_seed(1);
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor usual = torch::randn({37, 41}, torch::kFloat64);
    std::vector<std::pair<std::string, at::Tensor>> tensors{
        {"float64", usual},
        {"float32", usual.to(torch::kFloat32)},
        {"float16", usual.to(torch::kFloat16)},
        {"bfloat16", usual.to(torch::kBFloat16)},
        {"int8", torch::tensor({-128, 127, 0, 5}, torch::kInt8)},
        {"int64", torch::randint(-1000000, 1000000, {1000}, torch::kInt64)},
        {"uint8", torch::randint(0, 255, {1000}, torch::kUInt8)},
        {"bool", torch::tensor({true, false, true, true})},
        {"complex64", torch::complex(usual, -usual).to(torch::kComplexFloat)},
        {"complex128", torch::complex(usual, usual + 1)},
        {"transposed", usual.t()},
        {"sliced", usual.slice(1, 0, 41, 3)},
        {"expanded", usual.select(0, 0).unsqueeze(0).expand({9, 41})},
        {"one", torch::tensor({-2.5})},
        {"0-d", torch::tensor(4.0)},
        {"far from 0", usual * 1e-6 + 1e6},
        {"large", torch::tensor({3e300, -4e300, 1e10}, torch::kFloat64)},
        {"small", torch::tensor({3e-200, 4e-200, 0.0}, torch::kFloat64)},
        {"NaN", torch::tensor({1.0, nan, 3.0})},
        {"infinite", torch::tensor({1.0, inf, 3.0})},
        {"both infinities", torch::tensor({-inf, inf, 0.0, -0.0})},
        {"zeros", torch::zeros({5})},
        {"empty", torch::empty({0, 4})},
        {"empty complex", torch::empty({0}, torch::kComplexFloat)},
    };
    for (const at::ScalarType type : newer_dtypes()) {
        tensors.emplace_back(c10::toString(type), (usual.abs() * 50).to(type));
        tensors.emplace_back(std::string{c10::toString(type)} + " of ones in every bit",
                             torch::full({3}, -1, torch::kInt64).view(type));
        tensors.emplace_back(std::string{c10::toString(type)} + " of every byte",
                             torch::arange(256).to(torch::kUInt8).view(type));
    }
    for (const auto& [what, tensor] : tensors) {
        CAPTURE(what);
        check_same(by_torch(tensor, smd::reduction_set::all()), by_kernel(tensor, smd::reduction_set::all()));
    }
}

TEST_CASE("device_numbers: a tensor of several blocks is as one") {
    torch::manual_seed(2);
    at::Tensor large = torch::randn({2 * device_numbers::block + 1000}, torch::kFloat32) * 0.001 + 5;
    const smd::reduction_set wanted = smd::reduction_set::all() - smd::reduction_set{smd::reduction::prod} -
                                      smd::reduction_set{smd::reduction::prod, true};
    check_same(by_torch(large, wanted), by_kernel(large, wanted));
    large.index_put_({device_numbers::block + 3}, std::numeric_limits<float>::quiet_NaN());
    const auto values = by_torch(large, smd::reduction_set::all());
    CHECK(std::isnan(values(smd::reduction::min)));
    CHECK(std::isnan(values(smd::reduction::max)));
    CHECK(values.nan == 1);
}

TEST_CASE("device_numbers: digests are the hook's own, to the bit") {
    torch::manual_seed(3);
    const at::Tensor usual = torch::randn({37, 41}, torch::kFloat64);
    std::vector<std::pair<std::string, at::Tensor>> tensors{
        {"transposed", usual.t()},
        {"sliced", usual.slice(1, 0, 41, 3)},
        {"expanded", usual.select(0, 0).unsqueeze(0).expand({9, 41})},
        {"from the middle of a word", torch::arange(40, torch::kInt8).slice(0, 3, 37)},
        {"0-d", torch::tensor(4.0)},
        {"-0.0", torch::tensor({0.0, -0.0})},
        {"NaN", torch::full({3}, std::numeric_limits<double>::quiet_NaN())},
        {"empty", torch::empty({0, 4})},
        {"conjugated", torch::complex(usual, usual).conj()},
        {"negated", torch::imag(torch::complex(usual, usual).conj())},
        {"of several blocks", torch::arange(9 * device_numbers::block, torch::kInt8)},
    };
    for (const at::ScalarType type : saved_dtypes()) {
        for (std::int64_t count = 0; count <= 9; ++count) {
            tensors.emplace_back(std::string{c10::toString(type)} + " x " + std::to_string(count),
                                 usual.view(-1).slice(0, 1, 1 + count).to(type));
        }
    }
    for (const auto& [what, tensor] : tensors) {
        CAPTURE(what);
        device_numbers numbers;
        numbers.add(tensor, {.digest = true});
        const auto got = numbers.fetch().front().digest;
        CHECK(got == smd::digest_of(viewed{tensor.detach().resolve_conj().resolve_neg()}.view()));
    }
}

TEST_CASE("device_numbers: of many tensors each has its reductions, by one transfer") {
    device_numbers numbers;
    CHECK(numbers.empty());
    CHECK(numbers.add(torch::tensor({1.0, 2.0}), {.reductions = smd::reduction::mean}) == 0);
    CHECK(numbers.add(torch::tensor({3.0, -4.0}), {.reductions = smd::reduction::l2, .digest = true}) == 1);
    CHECK(numbers.add(torch::tensor({7.0}), {.digest = true}) == 2);
    CHECK(numbers.add(torch::tensor({-5.0}), {.reductions = {smd::reduction::max, true}}) == 3);
    const auto values = numbers.fetch();
    REQUIRE(values.size() == 4);
    CHECK(values[0].reductions(smd::reduction::mean) == 1.5);
    CHECK(std::isnan(values[0].reductions(smd::reduction::l2)));
    CHECK_FALSE(values[0].digest.has_value());
    CHECK(values[1].reductions(smd::reduction::l2) == 5);
    CHECK(values[1].digest == smd::digest_of(viewed{torch::tensor({3.0, -4.0})}.view()));
    CHECK(values[2].reductions.computed.empty());
    CHECK(values[2].digest == smd::digest_of(viewed{torch::tensor({7.0})}.view()));
    CHECK(values[3].reductions(smd::reduction::max, true) == 5);
    CHECK(numbers.empty());
}
