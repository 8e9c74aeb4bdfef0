// A run with names, dtypes and shapes that a format may have problems with; collects the reports on tensors left out.
#pragma once

#include "support/run_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test {

inline written_tensor raw_tensor(std::string name, smdebug::dtype type, smdebug::shape_type shape,
                                 std::string_view bytes) {
    const auto content = smdebug::as_bytes(bytes);
    return {std::move(name), type, std::move(shape), {content.begin(), content.end()}};
}

inline written_tensor text_tensor(std::string name, std::vector<std::string_view> texts) {
    const smdebug::shape_type shape{texts.size()};
    return {std::move(name), smdebug::dtype::string, shape, {}, std::move(texts)};
}

inline const std::string odd_name = "q\"uo'te,\n\\x";

inline std::vector<written_tensor> odd_tensors() {
    using namespace smdebug;
    return {tensor_of<float>("plain", {1, 2, 3, 4, 5, 6}, {2, 3}),
            tensor_of<double>("scalar", {2.5}, {}),
            tensor_of<float>("empty", {}, {0, 4}),
            tensor_of<std::int64_t>("a/b:0", {-1, 1LL << 62}),
            tensor_of<std::int32_t>("../evil", {7}),
            tensor_of<std::uint8_t>(odd_name, {1, 255}),
            raw_tensor("flags", dtype::boolean, {3}, std::string_view{"\1\0\1", 3}),
            raw_tensor("half", dtype::float16, {2}, std::string_view{"\0\x3c\0\xc0", 4}),        // 1, -2
            raw_tensor("brain", dtype::bfloat16, {2}, std::string_view{"\x80\x3f\xc0\x7f", 4}),  // 1, NaN
            raw_tensor("f8", dtype::float8_e4m3fn, {3}, std::string_view{"\x38\xc0\x7f", 3}),    // 1, -2, NaN
            tensor_of<std::complex<float>>("z", {{1, -2}}),
            text_tensor("words", {"a", "", "long,\"er"})};
}

/// Steps 0 (TRAIN 0) and 3 (EVAL 0); `ends` with the mark.
inline smdebug::memory_storage odd_run(const std::vector<written_tensor>& more = {}) {
    using namespace smdebug;
    memory_storage store;
    std::vector<written_tensor> first = odd_tensors();
    first.insert(first.end(), more.begin(), more.end());
    run_builder{store}
        .collections({"worker_0"}, {{"weights", {"plain", "half"}}, {"losses", {"scalar"}}})
        .step({.step = 0, .tensors = first, .mode_step = 0})
        .step({.step = 3,
               .tensors = {tensor_of<float>("plain", {-1, -2, -3, -4, -5, -6}, {2, 3}),
                           tensor_of<double>("scalar", {0.5}, {})},
               .mode = mode::eval,
               .mode_step = 0})
        .end();
    return store;
}

/// Options that note what is left out, as "NAME@STEP: why".
struct noted_export {
    noted_export() {
        options.left_out = [this](const smdebug::left_out_tensor& what) {
            told.push_back(std::string{what.tensor} + "@" + std::to_string(what.step) +
                           (what.is_damaged ? "!" : ": " + what.why));
        };
    }
    smdebug::export_options options = {};
    std::vector<std::string> told = {};
};

inline bool contains_text(const std::string& text, std::string_view piece) {
    return text.find(piece) != std::string::npos;
}

}  // namespace smdebug_test
