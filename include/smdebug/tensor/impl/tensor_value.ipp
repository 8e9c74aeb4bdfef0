// The bodies of <smdebug/tensor/tensor_value.hpp>.
#pragma once

#include <smdebug/tensor/tensor_value.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace smdebug::inline v1 {

SMDEBUG_INLINE std::shared_ptr<std::byte> allocate_elements(std::size_t size) {
    if (size == 0) {
        return nullptr;
    }
    constexpr std::align_val_t alignment{element_alignment};
    auto* const bytes = static_cast<std::byte*>(::operator new(size, alignment));
    return {bytes, [](std::byte* block) { ::operator delete(block, alignment); }};
}

SMDEBUG_INLINE tensor_value::tensor_value(decoded_tensor&& decoded, const byte_buffer& record) {
    const auto made = std::make_shared<state>(decoded.type, std::move(decoded.shape));
    made->take_strings(decoded.strings);
    if (decoded.bytes.empty()) {
        made->copied = !decoded.strings.empty();
    } else if (is_aligned(decoded.bytes, decoded.type) && record.owner() && lies_in(record.view(), decoded.bytes)) {
        made->owner = record.owner();
        made->view.bytes = decoded.bytes;
    } else if (is_aligned(decoded.bytes, decoded.type) && decoded.owner && !lies_in(decoded.expanded, decoded.bytes) &&
               !lies_in(record.view(), decoded.bytes)) {
        made->owner = std::move(decoded.owner);
        made->view.bytes = decoded.bytes;
    } else {
        made->copy(decoded.bytes);
    }
    state_ = made;
}

SMDEBUG_INLINE tensor_value::tensor_value(dtype type, shape_type shape, std::shared_ptr<const void> owner,
                                          byte_view bytes) {
    assert(is_numeric(type) && is_aligned(bytes, type));
    assert(element_count(shape) == bytes.size() / size_of(type) && bytes.size() % size_of(type) == 0);
    const auto made = std::make_shared<state>(type, std::move(shape));
    made->owner = std::move(owner);
    made->view.bytes = bytes;
    state_ = made;
}

SMDEBUG_INLINE tensor_value tensor_value::copy_of_bytes(dtype type, shape_type shape, byte_view elements) {
    const auto made = std::make_shared<state>(type, std::move(shape));
    made->copy(elements);
    return tensor_value{made};
}

SMDEBUG_INLINE tensor_value tensor_value::of_strings(shape_type shape, std::span<const std::string_view> strings) {
    assert(element_count(shape) == strings.size());
    const auto made = std::make_shared<state>(dtype::string, std::move(shape));
    made->take_strings(strings);
    made->copied = true;
    return tensor_value{made};
}

SMDEBUG_INLINE const shape_type& tensor_value::shape() const& noexcept {
    static const shape_type none;
    return state_ ? state_->shape : none;
}

SMDEBUG_INLINE const tensor_view& tensor_value::seen() const noexcept {
    static constexpr tensor_view none{};
    return state_ ? state_->view : none;
}

SMDEBUG_INLINE void tensor_value::state::copy(byte_view source) {
    const auto block = allocate_elements(source.size());
    if (block) {
        std::memcpy(block.get(), source.data(), source.size());
    }
    view.bytes = {block.get(), source.size()};
    owner = block;
    copied = true;
}

SMDEBUG_INLINE void tensor_value::state::take_strings(std::span<const std::string_view> views) {
    strings.reserve(views.size());
    for (const std::string_view text : views) {
        strings.emplace_back(text);
    }
    string_views.assign(strings.begin(), strings.end());
    view.strings = string_views;
}

SMDEBUG_INLINE bool tensor_value::is_aligned(byte_view bytes, dtype type) noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment_of(type) == 0;
}

SMDEBUG_INLINE bool tensor_value::lies_in(byte_view whole, byte_view bytes) noexcept {
    const auto place = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return place(bytes.data()) >= place(whole.data()) &&
           place(bytes.data() + bytes.size()) <= place(whole.data() + whole.size());
}

SMDEBUG_INLINE std::vector<double> reals_of(const tensor_value& tensor) {
    std::vector<double> found;
    visit_reals(tensor, [&]<class Element>(std::span<const Element> elements) {
        found.reserve(elements.size());
        for (const Element& each : elements) {
            found.push_back(to_double(each));
        }
    });
    return found;
}

}  // namespace smdebug::inline v1
