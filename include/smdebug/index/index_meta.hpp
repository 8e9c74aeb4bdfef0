// The first part of an index file: which step of which mode, and which event file.
// Apart from the reader of the files, so that writing one needs no JSON parser.
#pragma once

#include <smdebug/core/step.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::index_file {

/// The first part.
struct meta {
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
    std::string_view event_file_name;  ///< relative to the run; borrowed
};

}  // namespace detail::index_file
}  // namespace v1
}  // namespace smdebug
