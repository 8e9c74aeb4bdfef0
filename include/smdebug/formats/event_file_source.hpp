// Event files without their index: as a source of a catalog, with names and places read from them; and the repair of a
// run's index by them.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
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

namespace smdebug::inline v1 {

/// Reads the event files below events/, each once and with its checksums.
///  - Step and worker come from a file's name, as in the name of an index file; mode and mode step from its records.
///  - Collections files are read if they exist; without them there are as many workers as wrote files.
///  - A damaged or cut record is left out and noted.  If the last file of a worker in a growing run ends in a cut
///    record, that is noted, and the record is read once it is whole.
///  - Information that only an index holds is lost: the shapes of tensors whose values were not saved.
/// Models catalog_source.      Cost: that of reading the run.
class event_file_source {
public:
    struct settings {
        /// The run is complete, even without the mark of the job's end: a cut record stays cut.
        bool is_over = false;
        std::uint64_t most_record_bytes = detail::usual_most_record_bytes;  ///< see format_options
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
    // Whether the file is complete; `is_over`: a cut record stays cut.
    [[nodiscard]] bool read_file(const std::string& key, bool is_over, run_contents& contents);

    any_storage store_;
    settings how_;
    std::set<std::string, std::less<>> done_;              // keys
    std::map<std::string, step_number> last_steps_;        // of each worker
    std::map<std::string, std::string, std::less<>> cut_;  // by key: where a cut record was noted
    bool is_open_ = false;
};

/// The changes that a repair makes.
struct index_repair {
    enum class action : std::uint8_t {
        written,   ///< it is missing
        replaced,  ///< it is damaged, or contradicts the event file; kept as NAME.damaged
    };
    struct file {
        std::string key = {};
        action what = action::written;
        std::string why = {};      ///< a sentence without the file's name
        std::string dropped = {};  ///< content that only the old file has, or may have had; may be empty
        std::string text = {};     ///< its new content
    };

    std::vector<file> files = {};  ///< by key
    std::vector<std::string> problems =
        {};                       ///< damaged parts of event files, left out; index files without an event file
    std::size_t event_files = 0;  ///< event files read
    std::size_t good = 0;         ///< index files that need no change
};

/// Reads all event files of a run of the Python package, compares them with its index, and plans what is to be written.
/// An index file is kept if it names the content of its event file, in any formatting and with any shapes.  A replaced
/// file keeps its order and its shapes, unless it belongs to another step.
/// The run must not be written to meanwhile.      Errors: those of the storage; not_found: no event files.
/// Cost: a pass over the run.  Memory: 40 bytes a record, and the texts.
[[nodiscard]] index_repair plan_index_repair(const any_storage& store);

/// Writes the planned files; each is on the disk before the next one is written.  Event files are never changed.
/// Returns the number of files written: all, unless `stop` came between two of them.
/// Errors: those of the storage; files before the failed one are written.
std::size_t repair_index(any_storage& store, const index_repair& plan, const std::stop_token& stop = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/event_file_source.ipp>
#endif
