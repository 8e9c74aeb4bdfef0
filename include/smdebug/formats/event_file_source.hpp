// A run of the Python package without its index, as what a catalog is built from: names and places as its event files tell them.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/record_file.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Reads the event files below events/, each once and with its checksums.
///  - A file's name says step and worker, as in an index file's name; its records say mode and step in that mode.
///  - Collections files are read where they are there; else there is none, and as many workers as wrote files.
///  - A record that is damaged or cut is left out and noted.  The last file of a worker in a run that has not ended is noted
///    where it ends in a cut record, and left until it is whole.
///  - What only an index says is lost: the shapes of tensors whose values were not saved.
/// Models catalog_source.      Cost: that of reading the run.
class event_file_source {
public:
    struct settings {
        /// Nobody writes any more, whatever the mark of the job's end says: a cut record stays cut.
        bool is_over = false;
        std::uint64_t most_record_bytes = (std::uint64_t{1} << 31U) + 64;  ///< see format_options
    };

    explicit event_file_source(any_storage store) : event_file_source(std::move(store), settings{}) {}
    event_file_source(any_storage store, settings how) : store_(std::move(store)), how_(how) {}

    [[nodiscard]] bool update(run_contents& contents);

private:
    struct found_record {
        std::string tag = {};
        byte_range where = {};
        std::optional<smdebug::mode> mode = {};
        std::optional<step_number> mode_step = {};
    };

    void read_collections(run_contents& contents);
    // Whether it has all that it will have; `is_over`: a record that is cut stays so.
    [[nodiscard]] bool read_file(const std::string& key, bool is_over, run_contents& contents);

    any_storage store_;
    settings how_;
    std::set<std::string, std::less<>> done_;              // keys
    std::map<std::string, step_number> last_steps_;        // of each worker
    std::map<std::string, std::string, std::less<>> cut_;  // by key: where that was noted
    bool is_open_ = false;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/event_file_source.ipp>
#endif
