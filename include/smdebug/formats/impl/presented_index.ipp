// The bodies of <smdebug/formats/presented_index.hpp>.
#pragma once

#include <smdebug/formats/presented_index.hpp>
#include <smdebug/index/index_writer.hpp>
#include <smdebug/index/locations.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string index_key_of(const run_contents& contents, const presented_file& file) {
    return locations::index_key(file.step, contents.workers()[file.worker]);
}

SMDEBUG_INLINE std::string event_key_of(const run_contents& contents, const presented_file& file) {
    return file.whole_object == event_piece::written ? locations::event_key(file.step, contents.workers()[file.worker])
                                                     : contents.objects()[file.whole_object];
}

SMDEBUG_INLINE std::string index_text_of(const run_contents& contents, const presented_file& file) {
    index_writer writer;
    for (const presented_file::entry& entry : file.entries) {
        writer.add_tensor(contents.names()[entry.name], entry.record);
    }
    for (const presented_file::shape_entry& entry : file.shapes) {
        const std::string& name = contents.names()[entry.name];
        writer.add_shape(name, name, entry.extents);
    }
    const std::string events = event_key_of(contents, file);
    return std::string{writer.text({.mode = file.mode, .mode_step = file.mode_step, .event_file_name = events})};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
