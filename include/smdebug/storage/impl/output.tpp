// The bodies of <smdebug/storage/output.hpp> that are templates.
#pragma once

#include <smdebug/storage/output.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <writable_storage Storage>
void gathered_output<Storage>::commit(durability /*as write() has it*/) {
    store_->write(key_, bytes_);
    bytes_ = {};  // the memory is not needed until destruction
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
