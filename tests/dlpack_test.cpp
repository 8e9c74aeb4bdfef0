#include <smdebug/dlpack.hpp>

#include "support/test.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smd = smdebug;

namespace {

using memory_hook = smd::basic_hook<smd::memory_storage>;

// A tensor of DLPack over elements of its own: 0, 1, 2, ... as float32.
struct lent {
    std::vector<float> elements;
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;
    DLTensor tensor{};

    lent(std::vector<std::int64_t> shape, std::vector<std::int64_t> steps = {}, std::size_t count = 64)
        : elements(count), extents(std::move(shape)), strides(std::move(steps)) {
        std::iota(elements.begin(), elements.end(), 0.0F);
        tensor.data = elements.data();
        tensor.device = {kDLCPU, 0};
        tensor.ndim = static_cast<int>(extents.size());
        tensor.dtype = {kDLFloat, 32, 1};
        tensor.shape = extents.data();
        tensor.strides = strides.empty() ? nullptr : strides.data();
    }
    lent(const lent&) = delete;
    lent& operator=(const lent&) = delete;
    ~lent() = default;
};

std::vector<float> floats_of(const smd::strided_tensor& tensor) {
    const smd::tensor_view view = tensor.view();
    std::vector<float> values(view.count());
    std::copy(view.bytes.begin(), view.bytes.end(), std::as_writable_bytes(std::span{values}).begin());
    return values;
}

}  // namespace

TEST_CASE("view_of: strides and the byte offset are honoured, and only what is out of order is copied") {
    struct row {
        std::vector<std::int64_t> extents;
        std::vector<std::int64_t> strides;
        std::uint64_t offset;
        std::vector<float> expected;
        bool copied;
    };
    const std::vector<row> rows{
        {{2, 3}, {}, 0, {0, 1, 2, 3, 4, 5}, false},
        {{2, 3}, {3, 1}, 0, {0, 1, 2, 3, 4, 5}, false},
        {{2, 3}, {}, 8, {2, 3, 4, 5, 6, 7}, false},
        {{3, 2}, {1, 3}, 0, {0, 3, 1, 4, 2, 5}, true},
        {{2, 2}, {8, 1}, 4, {1, 2, 9, 10}, true},
        {{3}, {-1}, 8, {2, 1, 0}, true},
        {{2, 2}, {0, 1}, 0, {0, 1, 0, 1}, true},
        {{2, 1, 2}, {2, 77, 1}, 0, {0, 1, 2, 3}, false},
        {{}, {}, 20, {5}, false},
        {{2, 0, 3}, {}, 0, {}, false},
    };
    for (const row& given : rows) {
        lent source{given.extents, given.strides};
        source.tensor.byte_offset = given.offset;
        const smd::strided_tensor taken = smd::view_of(source.tensor);
        CAPTURE(smd::detail::extents_text(taken.view().shape));
        CHECK(floats_of(taken) == given.expected);
        CHECK(taken.copied() == given.copied);
        CHECK(taken.view().shape.size() == given.extents.size());
    }
}

TEST_CASE("save_tensor: a tensor of DLPack gives the bytes that a span of the same values gives") {
    const auto written = [](auto&& save) {
        smd::memory_storage store;
        memory_hook hook{smd::memory_storage{store}, {.save_config = {.save_interval = 1}, .save_all = true}};
        CHECK(save(hook));
        hook.close();
        return smd::basic_trial{store}.tensor("x").value(0);
    };
    const lent source{{3, 2}, {1, 3}};
    const auto taken = written([&](memory_hook& hook) { return hook.save_tensor("x", source.tensor, {"mine"}); });
    const auto plain = written([&](memory_hook& hook) {
        return hook.save_tensor("x", std::vector<float>{0, 3, 1, 4, 2, 5}, {3, 2}, {"mine"});
    });
    CHECK(taken.shape() == plain.shape());
    CHECK(std::equal(taken.bytes().begin(), taken.bytes().end(), plain.bytes().begin(), plain.bytes().end()));
    const DLManagedTensor managed{source.tensor, nullptr, nullptr};
    CHECK(written([&](memory_hook& hook) { return hook.save_tensor("x", managed); }).size() == 6);
}

TEST_CASE("view_of: what cannot be saved is refused in a sentence that names it") {
    struct row {
        void (*spoil)(DLTensor&);
        std::string_view said;
    };
    static std::array<std::int64_t, 1> negative{-1};
    static std::array<std::int64_t, 2> huge{std::int64_t{1} << 40, std::int64_t{1} << 40};
    const std::vector<row> rows{
        {[](DLTensor& of) {
             of.device = {kDLCUDA, 1};
         },
         "lies on a device (CUDA, DLPack's type 2, number 1)"},
        {[](DLTensor& of) {
             of.device = {kDLCUDAManaged, 0};
         },
         "CUDA managed"},
        {[](DLTensor& of) {
             of.device = {static_cast<DLDeviceType>(14), 0};
         },
         "oneAPI"},
        {[](DLTensor& of) { std::memset(&of.device.device_type, 99, 1); }, "type 99"},
        {[](DLTensor& of) { of.dtype.lanes = 4; }, "4 lanes"},
        {[](DLTensor& of) { of.dtype.bits = 4; }, "4 bits"},
        {[](DLTensor& of) {
             of.dtype = {kDLOpaqueHandle, 64, 1};
         },
         "code 3"},
        {[](DLTensor& of) { of.ndim = -1; }, "-1 dimensions"},
        {[](DLTensor& of) { of.shape = nullptr; }, "has no shape"},
        {[](DLTensor& of) { of.data = nullptr; }, "6 elements at no address"},
        {[](DLTensor& of) { of.ndim = 1, of.shape = negative.data(); }, "the extent -1"},
        {[](DLTensor& of) { of.shape = huge.data(); }, "more elements than memory"},
    };
    for (const row& given : rows) {
        lent source{{2, 3}};
        given.spoil(source.tensor);
        std::string said;
        try {
            static_cast<void>(smd::view_of(source.tensor, "x"));
        } catch (const smd::value_error& refused) {
            said = refused.what();
        }
        CAPTURE(said);
        CHECK(said.find(given.said) != std::string::npos);
        CHECK(said.find("the tensor \"x\" ") != std::string::npos);
    }
}

TEST_CASE("dtypes: each goes out as it came in; a boolean may become a uint8") {
    for (int code = 1; code <= 25; ++code) {
        const smd::dtype type = smd::dtype_from_code(static_cast<std::uint64_t>(code));
        if (!smd::is_numeric(type)) {
            continue;
        }
        const DLDataType out = smd::detail::dlpack_type_of(type);
        const smd::dtype back = smd::detail::dtype_of_dlpack(out);
        CAPTURE(smd::name_of(type));
        CHECK((back == type || (type == smd::dtype::boolean && back == smd::dtype::uint8)));
        CHECK(out.bits == 8 * smd::size_of(type));
    }
    CHECK(smd::detail::dtype_of_dlpack({6, 8, 1}) == smd::dtype::boolean);
}

TEST_CASE("to_dlpack: a value that was read is handed on without a copy, and lives as long as it is held") {
    const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
    const auto owner = std::make_shared<std::vector<double>>(numbers);
    const std::weak_ptr<std::vector<double>> watched = owner;
    std::optional<smd::tensor_value> value;
    value.emplace(smd::dtype::float64, smd::shape_type{2, 1, 3}, owner, std::as_bytes(std::span{*owner}));
    const void* const at = owner->data();
    DLManagedTensor* const out = smd::to_dlpack(*value);
    value.reset();
    const_cast<std::shared_ptr<std::vector<double>>&>(owner).reset();
    REQUIRE(!watched.expired());
    CHECK(out->dl_tensor.data == at);
    CHECK(out->dl_tensor.ndim == 3);
    CHECK(out->dl_tensor.strides[0] == 3);
    CHECK(out->dl_tensor.device.device_type == kDLCPU);
    const smd::strided_tensor again = smd::view_of(*out);
    CHECK(!again.copied());
    CHECK(again.view().type == smd::dtype::float64);
    out->deleter(out);
    CHECK(watched.expired());
}

TEST_CASE("to_dlpack: strings and nothing are refused; a number and an empty tensor are handed on") {
    const std::array<std::string_view, 1> texts{"a"};
    CHECK_THROWS_AS(static_cast<void>(smd::to_dlpack(smd::tensor_value::of_strings({1}, texts))), smd::unsupported);
    CHECK_THROWS_AS(static_cast<void>(smd::to_dlpack({})), smd::unsupported);
    const std::array<float, 1> number{7};
    DLManagedTensor* const scalar = smd::to_dlpack(smd::tensor_value::copy_of<float>({}, number));
    CHECK(scalar->dl_tensor.ndim == 0);
    CHECK(*static_cast<const float*>(scalar->dl_tensor.data) == 7);
    scalar->deleter(scalar);
    DLManagedTensor* const empty = smd::to_dlpack(smd::tensor_value::copy_of<float>({0, 3}, {}));
    CHECK(empty->dl_tensor.shape[1] == 3);
    empty->deleter(empty);
}
