// The bodies of <smdebug/hook/file_sink.hpp> that are templates.
#pragma once

#include <smdebug/hook/file_sink.hpp>
#include <smdebug/storage/abilities.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <writable_storage Storage>
void direct_sink<Storage>::begin(const std::string& key) {
    abandon();
    output_.emplace(create_output(*store_, key));
}

template <writable_storage Storage>
void direct_sink<Storage>::finish(const std::string& index_key, std::string_view index_text, bool replaces) {
    if (replaces) {
        remove(index_key);
    }
    if (output_) {
        output_->commit(how_);
        output_.reset();
    }
    put(index_key, index_text);
}

template <writable_storage Storage>
void direct_sink<Storage>::remove(const std::string& key) {
    if constexpr (removing_storage<Storage>) {
        if (abilities_of(*store_).removes) {
            static_cast<void>(store_->remove(key));
            if (how_ == durability::on_disk) {
                settle_removal(*store_, key);  // else it might come back, beside new events
            }
        }
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
