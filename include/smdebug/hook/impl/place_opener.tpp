// The bodies of <smdebug/hook/place_opener.hpp> that are templates.
#pragma once

#include <smdebug/hook/local_place.hpp>
#include <smdebug/hook/place_opener.hpp>
#include <smdebug/storage/local_storage.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <named_storage Storage>
Storage place_opener<Storage>::open(const std::string& text) {
    if constexpr (std::same_as<Storage, local_storage>) {
        return local_storage{local_place_of(text)};
    } else {
        return Storage(text);
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
