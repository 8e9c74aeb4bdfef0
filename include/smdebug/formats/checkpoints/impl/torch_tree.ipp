// The bodies of <smdebug/formats/checkpoints/torch_tree.hpp>.
#pragma once

#include <smdebug/formats/checkpoints/torch_tree.hpp>

#include <algorithm>
#include <iterator>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE dtype dtype_in_torch(std::string_view name) noexcept {
    struct row {
        std::string_view name;
        dtype type;
    };
    constexpr row rows[] = {
        {"float32", dtype::float32},
        {"float", dtype::float32},
        {"float64", dtype::float64},
        {"double", dtype::float64},
        {"float16", dtype::float16},
        {"half", dtype::float16},
        {"bfloat16", dtype::bfloat16},
        {"float8_e4m3fn", dtype::float8_e4m3fn},
        {"float8_e5m2", dtype::float8_e5m2},
        {"int64", dtype::int64},
        {"long", dtype::int64},
        {"int32", dtype::int32},
        {"int", dtype::int32},
        {"int16", dtype::int16},
        {"short", dtype::int16},
        {"int8", dtype::int8},
        {"uint8", dtype::uint8},
        {"uint16", dtype::uint16},
        {"uint32", dtype::uint32},
        {"uint64", dtype::uint64},
        {"bool", dtype::boolean},
        {"complex64", dtype::complex64},
        {"cfloat", dtype::complex64},
        {"complex128", dtype::complex128},
        {"cdouble", dtype::complex128},
    };
    const auto* const found =
        std::find_if(std::begin(rows), std::end(rows), [&](const row& each) { return each.name == name; });
    return found != std::end(rows) ? found->type : dtype::invalid;
}

SMDEBUG_INLINE std::string_view collection_in_torch(std::string_view name, dtype type, char separator) noexcept {
    constexpr std::string_view dictionaries[] = {"model", "state_dict", "model_state_dict", "module", "net", "params"};
    const bool is_floating = is_complex(type) || type == dtype::float64 || type == dtype::float32 ||
                             type == dtype::float16 || type == dtype::bfloat16 || type == dtype::float8_e4m3fn ||
                             type == dtype::float8_e5m2;
    const std::size_t end = name.find(separator);
    const std::string_view first = name.substr(0, end);
    const std::string_view last = name.substr(name.find_last_of("/.") + 1);  // npos + 1 is 0
    if (first.find("optim") != std::string_view::npos) {
        return "optimizer";
    }
    const std::size_t ema = first.find("ema");
    if (ema != std::string_view::npos && (ema == 0 || first[ema - 1] == '_') &&
        (ema + 3 == first.size() || first[ema + 3] == '_')) {
        return "ema";
    }
    const bool is_bare = end == std::string_view::npos || separator != '/';
    if (name.find_first_of("/.") == std::string_view::npos && name.find("loss") != std::string_view::npos) {
        return "losses";
    }
    if (!is_bare && std::find(std::begin(dictionaries), std::end(dictionaries), first) == std::end(dictionaries)) {
        return {};
    }
    if (!is_floating) {
        return is_bare && name.find('.') == std::string_view::npos ? "" : "buffers";  // a state of random numbers: none
    }
    if (last == "running_mean" || last == "running_var") {
        return "buffers";
    }
    return last.find("bias") != std::string_view::npos ? "biases" : "weights";
}

}  // namespace smdebug::inline v1::formats::detail
