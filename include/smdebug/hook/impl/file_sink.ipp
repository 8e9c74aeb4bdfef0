// The bodies of <smdebug/hook/file_sink.hpp>.
#pragma once

#include <smdebug/hook/file_sink.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void direct_sink::begin(const std::string& key) {
    abandon();
    output_ = store_.create(key);
}

SMDEBUG_INLINE void direct_sink::finish(const std::string& index_key, std::string_view index_text, bool replaces) {
    if (replaces) {
        remove(index_key);
    }
    if (output_) {
        output_->commit(how_);
        output_.reset();
    }
    put(index_key, index_text);
}

SMDEBUG_INLINE void direct_sink::remove(const std::string& key) {
    if (store_.abilities().removes) {
        store_.remove(key, how_);  // on disk: else it might reappear, beside new events
    }
}

}  // namespace smdebug::inline v1::detail
