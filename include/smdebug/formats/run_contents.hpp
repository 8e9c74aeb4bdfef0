// What a run consists of whose data another tool wrote: which tensors, at which steps, and where their bytes lie.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// A part of an event file that is put together from others.
struct event_piece {
    static constexpr std::uint32_t written = UINT32_MAX;   ///< kept in the table: what stands around elements
    static constexpr std::uint32_t made = UINT32_MAX - 1;  ///< by a function

    std::uint32_t object = written;  ///< number of the storage's object, or one of the above
    std::uint64_t offset = 0;        ///< in the object, or in what is written; the number of the function
    std::uint64_t size = 0;
};

/// What one worker has of one step: an index file and an event file, as a trial sees them.
struct presented_file {
    struct entry {
        std::uint32_t name = 0;
        byte_range record;  ///< in the event file
    };
    struct shape_entry {
        std::uint32_t name = 0;
        shape_type extents;
    };

    step_number step = 0;
    step_number mode_step = 0;
    smdebug::mode mode = smdebug::mode::train;
    std::uint32_t worker = 0;
    std::uint32_t whole_object = event_piece::written;  ///< the event file is this object as it is; else: `pieces`
    std::uint64_t size = 0;                             ///< bytes of the event file, where it is put together
    std::vector<entry> entries = {};
    std::vector<shape_entry> shapes = {};
    std::vector<event_piece> pieces = {};
    std::vector<std::byte> written = {};
    std::vector<std::function<std::vector<std::byte>()>> makers = {};
    bool is_listed = false;  ///< somebody may have read it: it stays as it is
};

/// An object that records lie in, where that is not the storage that everything else lies in: a member of an archive.
struct object_elsewhere {
    any_storage store;
    std::string key;
};

/// Texts and their numbers.
class numbered_texts {
public:
    numbered_texts() = default;
    numbered_texts(const numbered_texts&) = delete;
    numbered_texts& operator=(const numbered_texts&) = delete;
    numbered_texts(numbered_texts&&) noexcept = default;
    numbered_texts& operator=(numbered_texts&&) noexcept = default;
    ~numbered_texts() = default;

    /// Cost: a comparison where texts come in the same order again and again, else a look-up.
    [[nodiscard]] std::uint32_t number_of(std::string_view text);
    [[nodiscard]] const std::string& operator[](std::uint32_t number) const noexcept { return *texts_[number]; }
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const;
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

private:
    std::map<std::string, std::uint32_t, std::less<>> numbers_;
    std::vector<const std::string*> texts_;
    std::size_t guess_ = 0;  ///< the one behind that which was asked for last
};

}  // namespace detail

/// The table that a catalog_source fills, and presented_run shows as a run.
/// A tensor's bytes stay where they are, in objects of a storage: what is noted here is their place.
/// What was added to a step that a trial may have seen already goes to a further worker, "worker_0~2": a trial reads an index
/// file once.
/// Memory: 50 bytes a record of a file, 200 more a step; names once.      Threads: one.
class run_contents {
public:
    /// Where a tensor belongs.
    struct place {
        step_number step = 0;  ///< global
        smdebug::mode mode = smdebug::mode::train;
        step_number mode_step = 0;
        std::string_view worker = "worker_0";
        double wall_time = 0;  ///< seconds since 1970, of what is no record yet
    };
    /// What a tensor is, where no record says it.
    struct tensor_form {
        dtype type = dtype::invalid;
        std::span<const std::size_t> shape = {};
    };
    /// Makes the elements of a tensor, of exactly as many bytes as its form says.  Called by many threads at once.
    using maker = std::function<std::vector<std::byte>()>;

    /// The number of an object of the storage.
    [[nodiscard]] std::uint32_t object(std::string_view key);
    /// The number of an object of another storage, under a name of its own.
    [[nodiscard]] std::uint32_t object(std::string_view name, any_storage store, std::string key);

    /// A tensor in a record of an event file, with its frame.  Several tensors may lie in one record.
    void add_record(const place& where, std::string_view tensor, std::uint32_t object, byte_range record);
    /// The same of a file that is an event file of the format itself, for one step of one worker: it is shown as it is.
    /// Errors: value_error where the step has records of another kind.
    void add_own_record(const place& where, std::string_view tensor, std::uint32_t object, byte_range record);
    /// A tensor whose elements lie in an object as they are in memory: little-endian, C order.
    /// Errors: value_error where `elements` is not as long as the form says.
    void add_elements(const place& where, std::string_view tensor, const tensor_form& form, std::uint32_t object,
                      byte_range elements);
    /// A tensor whose elements are made when somebody reads it: those that lie in another form.      Errors: as above.
    void add_made(const place& where, std::string_view tensor, const tensor_form& form, maker make);
    /// Bytes of the record that either would make: readers of runs bound them, see size_limits::record.
    [[nodiscard]] static std::uint64_t record_bytes(const place& where, std::string_view tensor,
                                                    const tensor_form& form);
    /// A number, kept here: a saved reduction, say, see reduction_tensor_name().
    /// `as`: float64 or float32.
    void add_number(const place& where, std::string_view tensor, double number, dtype as = dtype::float64);
    /// A tensor that is known, but cannot be read: an image.
    void add_shape(const place& where, std::string_view tensor, std::span<const std::size_t> shape);

    /// Puts a tensor into a collection, or makes one.
    void add_collection(collection group);
    void add_to_collection(std::string_view collection, std::string_view tensor);
    /// How many workers write each step; 1 where each has steps of its own.
    void set_num_workers(std::size_t count) { job_.num_workers = static_cast<std::int64_t>(count); }
    /// Whether more may come.
    void set_ended(bool ended) noexcept { ended_ = ended; }
    /// Something that could not be used: where, and what is wrong.  Of one place the last call counts, or of one topic at a
    /// place, where several things can be wrong.
    void note_problem(std::string where, std::string what, problem_kind kind = problem_kind::damaged,
                      std::string topic = {});
    /// What was noted of a place is no longer so: a record that was cut has become whole.
    void withdraw_problem(const std::string& where);

    /// The tensors that a step of a worker has, and of those that came late: "worker_0~2".
    [[nodiscard]] std::set<std::string> tensors_of(const place& where) const;
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool empty() const noexcept { return files_.empty(); }
    [[nodiscard]] std::size_t steps() const noexcept { return files_.size(); }  ///< of each worker

    // For presented_run -------------------------------------------------------------------------------------------

    using file_key = std::pair<step_number, std::uint32_t>;  ///< step and worker
    using file_map = std::map<file_key, std::shared_ptr<detail::presented_file>>;
    [[nodiscard]] const file_map& files() const noexcept { return files_; }
    [[nodiscard]] const detail::numbered_texts& objects() const noexcept { return objects_; }
    /// Where an object lies; null: in the storage, under its name.
    [[nodiscard]] const detail::object_elsewhere* elsewhere(std::uint32_t object) const;
    [[nodiscard]] const detail::numbered_texts& names() const noexcept { return names_; }
    [[nodiscard]] const detail::numbered_texts& workers() const noexcept { return workers_; }
    [[nodiscard]] const detail::collections_file& job() const noexcept { return job_; }
    /// The files that were added since the last call; from now on they stay as they are.
    [[nodiscard]] std::vector<std::shared_ptr<const detail::presented_file>> take_new();
    /// What is wrong, by place.
    [[nodiscard]] std::vector<problem> problems() const;

private:
    [[nodiscard]] detail::presented_file& file_at(const place& where);
    // Refuses to mix both kinds of event files.
    static void put_together(const detail::presented_file& file);
    void add_entry(detail::presented_file& file, std::string_view tensor, byte_range record);
    // Appends a piece to the event file, or lets the last one grow.
    static void append(detail::presented_file& file, const detail::event_piece& piece);
    static void append_written(detail::presented_file& file, byte_view bytes);
    // `written`: the elements, where `elements` says that they are kept here; `make`: where it says that they are made.
    void add_framed(const place& where, std::string_view tensor, const tensor_form& form, detail::event_piece elements,
                    byte_view written, maker make);

    file_map files_;
    std::vector<file_key> new_files_;
    detail::presented_file* last_file_ = nullptr;  ///< of the last file_at(), and its worker
    std::string last_worker_;
    std::vector<std::byte> around_;  ///< its memory is used again
    detail::numbered_texts objects_;
    std::map<std::uint32_t, detail::object_elsewhere> elsewhere_;
    detail::numbered_texts names_;
    detail::numbered_texts workers_;
    detail::collections_file job_;
    std::map<std::pair<std::string, std::string>, problem> problems_;  ///< by place and topic
    bool ended_ = false;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/run_contents.ipp>
#endif
