// How a hook opens the place that a text names: out_dir, tensorboard_dir.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_place.hpp>
#include <smdebug/storage/concepts.hpp>

#include <concepts>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A storage that a text is enough for.
template <class S>
concept named_storage = writable_storage<S> &&(std::constructible_from<S, std::string> || std::same_as<S, any_place>);

/// Opens it.  Errors: those of local_place_of for a folder; else what the storage's constructor throws.
template <named_storage Storage>
struct place_opener {
    [[nodiscard]] static Storage open(const std::string& text);
};

/// For a place of any kind it is in hook/open_place.hpp, which knows all kinds: include that, or hook/hook.hpp.
template <>
struct place_opener<any_place>;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/place_opener.tpp>
#endif
