// A tensor's value as the recorded answers write it: dtype, shape, digest, and the elements where they are few.
// Source: tests/data/golden/README.md, "Encoding".
#pragma once

#include "json_out.hpp"
#include "number_text.hpp"
#include "sha256.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include "support/standard.hpp"

namespace golden_replay {

/// Up to this many elements are written out.
inline constexpr std::size_t written_out = 64;

[[nodiscard]] inline fragment shape_json(const smdebug::shape_type& shape) { return list_of_whole(shape); }

[[nodiscard]] inline fragment value_json(const smdebug::tensor_value& value) {
    static_assert(std::endian::native == std::endian::little, "the digest is of little-endian elements");
    object out;
    out.add("dtype", in_quotes(smdebug::name_of(value.type()))).add("shape", shape_json(value.shape()));
    if (!smdebug::is_numeric(value.type())) {
        return out.add("strings", list_of_texts(value.strings())).done();
    }
    out.add("sha256", in_quotes(sha256::hex(value.bytes())));
    if (value.size() <= written_out) {
        out.add("data", smdebug::visit_dtype(value.type(), [&]<class T>() {
                    return list_of(value.elements<T>(), [](const T& element) { return element_json(element); });
                }));
    }
    return out.done();
}

}  // namespace golden_replay
