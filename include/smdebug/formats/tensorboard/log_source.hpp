// A folder of TensorBoard logs, as a source of a catalog: tags are tensors, folders are workers and modes.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/record_file.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// Reads TensorBoard logs: every event file below a storage's root.
///  - A tag, which may be any bytes, is a tensor, its points are steps.  Scalars of float32 and float64 are numbers of
///    the catalog; other tensors and texts are read from the log when needed.  A histogram is a tensor without values,
///    with saved reductions: min, max, and if the message has the sums, also sum, mean, std, variance and l2; for a
///    histogram that is stored as a tensor (tf.summary.histogram) min and max are the outer edges of the non-empty
///    bins.  Its rows (left edge, right edge, count) are the values of "TAG [buckets]", see is_histogram_table().
///    Images, audio and hyperparameters are listed by name alone.
///  - A tensor that is damaged or of an unsupported dtype is listed by name alone, and noted.
///  - A folder is a worker: the root "worker_0", others by their path with '.' for '/'.  Folders named train,
///    validation (val, valid, eval, eval_x, test) or predict are the modes TRAIN, EVAL, PREDICT of the folder above
///    them; all others are TRAIN.
///  - If all folders are of one mode, the global step is the log's.  With two modes each of their steps is a separate
///    global step: 2 * step for TRAIN and 2 * step + 1 for EVAL; with three modes 3 * step, + 1, + 2.  If another mode
///    appears later, everything is read anew.
///  - No two folders share a worker and a mode.  If they would, one keeps the name: a folder that is not a mode's
///    before those of modes, those of modes in the order above, then by path.  The others are workers by their own
///    path: `test` beside `validation` is the worker "test"; with `a.b` and `a/b` the second is "a.b_2".  A folder that
///    appears later never takes a name away.
///  - Several files of a folder count in the order of their names, which begin with the time.  If a tag's steps go
///    back, in one record, in one file or in several, the later point counts from that step on, as in TensorBoard.
///    Points that become void are counted, and noted for each file as replaced.  A point that is written again with the
///    same bits, whenever that was, changes nothing and is not noted.
///  - Steps begin at 0: values at negative ones are left out, and noted for each tag and file.
///  - A damaged record is left out and noted; after a damaged length the rest of that file cannot be read.  An
///    incomplete record is waited for, until the logs have ended or a later file appears in the same folder: then it is
///    noted as cut.  A file that may not be read is noted; the others are read.
///  - New values of a step that trials know are added to it.  What changes values that trials know, the names of
///    workers or the numbers of steps makes them read everything anew, see run_contents::set_outdated().
///  - The logs have ended if no file was written for `quiet_after`; there is no explicit mark of the end.
/// Models catalog_source.      Cost: each file is read once, with its checksums.
class tensorboard_source {
public:
    struct settings {
        bool folders_are_workers = true;  ///< if false, only folders of modes below the run's are read
        std::chrono::milliseconds quiet_after{std::chrono::minutes{10}};
        /// The last step of a growing file is complete once no data was written for so long, or a later step has
        /// appeared.
        std::chrono::milliseconds whole_after{std::chrono::seconds{1}};
        std::uint64_t most_record_bytes = detail::usual_most_record_bytes;  ///< see format_options
        std::function<std::chrono::system_clock::time_point()> now = [] { return std::chrono::system_clock::now(); };
    };

    static constexpr bool own_steps = false;  ///< see catalog_source

    explicit tensorboard_source(any_storage store) : tensorboard_source(std::move(store), settings{}) {}
    tensorboard_source(any_storage store, settings how) : store_(std::move(store)), how_(std::move(how)) {}

    [[nodiscard]] bool update(run_contents& contents);

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    // A value; not in the contents yet, as a later one may make it void.
    struct point {
        step_number step = 0;
        double wall_time = 0;
        double number = 0;         ///< a scalar of the catalog; else its place in folder::messages
        std::uint32_t object = 0;  ///< the file
        std::uint32_t tag = 0;
        dtype type = dtype::invalid;  ///< of the number; invalid if it has a message
        detail::log_value_kind kind = detail::log_value_kind::scalar;
        bool is_void = false;
    };
    /// min, max, num, sum, sum of squares; the last two are NaN if unknown.
    using histogram_numbers = std::array<double, 5>;
    // The further data of a point that is not a number.
    struct message {
        byte_range place = {};           ///< in the file
        histogram_numbers numbers = {};  ///< of a histogram
        shape_type shape = {};           ///< for a point that is only listed
        std::size_t hash = 0;            ///< of the value's bytes
    };
    struct tag {
        std::string plugin = {};
        bool is_known = false;                         ///< its collection has it
        std::vector<std::uint32_t> live = {};          ///< the places of its points that are not void, by step
        step_number last_step = 0;                     ///< of the last of them
        step_number last_shown = -1;                   ///< the last step of which trials know a point; -1: none
        std::uint32_t name = none;                     ///< number of its name in the contents
        std::vector<std::uint32_t> of_histogram = {};  ///< the tags of its numbers and rows
    };
    // Points of one file that later ones replace, for one reason.
    struct void_points {
        std::map<std::string, std::size_t, std::less<>> tags = {};  ///< how many of each
        step_number step = 0;                                       ///< the first step that is written again
        std::uint32_t by = 0;                                       ///< the file with the later points
    };
    // A problem of a tag in records of one file.
    struct fault {
        problem_kind kind = problem_kind::damaged;
        std::uint64_t offset = 0;  ///< of the first record
        std::uint64_t last = 0;    ///< of the last one
        std::size_t records = 0;
        bool has_news = false;
    };
    // Values of a tag in one file whose steps cannot be numbered.
    struct bad_steps {
        std::size_t count = 0;
        step_number first = 0;
    };
    enum class void_reason : std::uint8_t { same_step, steps_go_back, restart };
    struct folder {
        std::string worker = {};
        smdebug::mode mode = smdebug::mode::train;
        std::size_t place_of_mode = 0;  ///< among those of all folders
        detail::string_interner names = {};
        std::vector<tag> tags = {};                                               ///< by the number of their name
        std::deque<point> points = {};                                            ///< in file order
        std::vector<message> messages = {};                                       ///< of points
        std::map<std::string, detail::record_file, std::less<>> files = {};       ///< by key
        std::map<std::uint32_t, std::map<void_reason, void_points>> voided = {};  ///< by file
        std::map<std::string, std::string, std::less<>> cut = {};                 ///< by key: place of a cut record
        step_number last_step = 0;
        std::chrono::system_clock::time_point grown = {};  ///< when growth was last seen
        bool is_outdated = false;                          ///< a point makes one void that trials know
    };

    void find_files(run_contents& contents);
    // Gives the folder a worker and a mode that no other folder has.  Returns whether its name was free.
    bool add_folder(const std::string& path);
    void read(folder& from, detail::record_file& file, run_contents& contents);
    // Notes the files of a folder that end within a record; `ended`: including the last file.
    void note_cut_files(folder& of, bool ended, run_contents& contents) const;
    // Adds a point of a tag; it is the latest one of its file.  Returns false if it is there already, with the same
    // bits.
    static bool add_point(folder& into, const point& next);
    // Whether two points are of one step, and equal bit by bit.
    [[nodiscard]] static bool are_same(const folder& in, const point& one, const point& other);
    // The first live point of a tag at or after a step.
    [[nodiscard]] static std::vector<std::uint32_t>::iterator first_from(folder& of, tag& in, step_number step);
    // The number of a tag, which may be new.
    [[nodiscard]] static std::uint32_t tag_number(folder& in, std::string_view name);
    // The only value of an event, if it is a scalar.
    static void take_scalar(folder& into, std::uint32_t object, const detail::scalar_event& event);
    // `payload`: the record that holds the event.
    void take(folder& into, std::uint32_t object, byte_range record, byte_view payload, run_contents& contents);
    static void void_from(folder& of, std::uint32_t number, step_number step, std::uint32_t by, bool is_restart);
    static void note_void_points(folder& of, run_contents& contents);
    // Puts points into the table; those of the step that is being written are kept back, unless `all`.
    void publish(folder& from, bool all, run_contents& contents);
    // Notes that a value is left out because its step is negative or too large.
    void note_step(std::uint32_t object, const std::string& name, step_number step, run_contents& contents);
    // False if the step is too large to be numbered, which is noted.
    [[nodiscard]] bool add(folder& from, const point& one, run_contents& contents);
    // Notes the modes of all folders, by which steps are numbered.
    void count_modes(run_contents& contents);
    // Nothing for a step that is too large to be numbered.
    [[nodiscard]] std::optional<step_number> global_step(const folder& from, step_number step) const;
    // Completes a value that has a tensor; if that cannot be read, the value is only listed, and noted.
    void look_at_tensor(const detail::log_value& value, const std::string& plugin, byte_range record, point& next,
                        message& of);
    // Completes a value that has a histogram.  Returns whether it can be read.
    [[nodiscard]] static bool look_at_histogram(const detail::log_value& value, message& of);
    // Notes a fault of a record; equal faults of a file become one problem, however many records have them.
    void note_fault(std::uint32_t object, byte_range record, std::string what, problem_kind kind);
    void note_faults(run_contents& contents);
    [[nodiscard]] bool is_quiet() const;

    any_storage store_;
    settings how_;
    std::map<std::string, folder, std::less<>> folders_;
    std::set<std::pair<std::string, smdebug::mode>> taken_;                  ///< workers and modes of folders
    std::set<smdebug::mode> modes_;                                          ///< of the folders
    std::set<std::string, std::less<>> missing_;                             ///< keys of links to nothing
    detail::log_event event_;                                                ///< its memory is used again
    std::map<std::pair<std::uint32_t, std::string>, fault> faults_;          ///< by file and sentence
    std::map<std::tuple<std::uint32_t, std::string, bool>, bad_steps> bad_;  ///< by file and tag; true if negative
    bool is_open_ = false;
    bool has_shown_ = false;  ///< trials know some steps
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/tensorboard/impl/log_source.ipp>
#endif
