// What a catalog_source finds in another tool's data: which tensors, at which steps, and where their bytes are.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/stored_form.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Interns strings: gives each a dense id in order of first use.
class string_interner {
public:
    string_interner() = default;
    string_interner(const string_interner& other);
    string_interner& operator=(const string_interner& other) { return *this = string_interner{other}; }
    string_interner(string_interner&&) noexcept = default;
    string_interner& operator=(string_interner&&) noexcept = default;
    ~string_interner() = default;

    /// Cost: one comparison where texts repeat in the same order, else a look-up.
    [[nodiscard]] std::uint32_t number_of(std::string_view text) {
        if (guess_ >= texts_.size() || !is_same_text(*texts_[guess_], text)) {
            guess_ = look_up(text);
        }
        const auto number = static_cast<std::uint32_t>(guess_);
        guess_ = guess_ + 1 < texts_.size() ? guess_ + 1 : 0;
        return number;
    }
    [[nodiscard]] const std::string& operator[](std::uint32_t number) const noexcept { return *texts_[number]; }
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

private:
    [[nodiscard]] std::size_t look_up(std::string_view text);

    std::map<std::string, std::uint32_t, std::less<>> numbers_;
    std::vector<const std::string*> texts_;
    std::size_t guess_ = 0;  // the text after the last one found
};

/// Where a source found one tensor.
struct found_entry {
    byte_range place;
    std::uint32_t name = 0;  ///< its id in the contents
    std::uint32_t form = 0;
    timed_number number = {};
};

/// Consecutive entries of one step, worker and object.
struct found_stretch {
    step_number step = 0;
    step_number mode_step = 0;
    std::uint32_t worker = 0;
    std::uint32_t object = 0;
    smdebug::mode mode = smdebug::mode::train;
    std::uint64_t stamp = 0;  ///< see run_contents::place
    std::size_t first = 0;    ///< index of its first entry; it ends where the next stretch begins
};

/// A shape alone.
struct found_shape {
    std::size_t stretch = 0;  ///< place of the found_stretch
    std::uint32_t name = 0;
    shape_type extents = {};
};

struct contents_access;

}  // namespace detail

/// What a catalog_source has found since the last update, and the state of the job.
/// A tensor's bytes stay in the storage's objects; only their place is added.  A name is any bytes the writer chose;
/// "smdebug/reductions/abs_mean/NAME" is a saved reduction of NAME, see reduction_tensor_name().
/// Tensors for a step that a trial already has join that step.  A tensor that the step already has makes the trial read
/// everything anew, see set_outdated(); if a source gives both at once, the first stays, and the other is reported as a
/// problem of the run.
/// Memory: 40 bytes an entry until the trial takes them.      Threads: one.
class run_contents {
public:
    /// Where a tensor belongs.
    struct place {
        step_number step = 0;  ///< global
        smdebug::mode mode = smdebug::mode::train;
        step_number mode_step = 0;
        std::string_view worker = "worker_0";
        double wall_time = 0;  ///< seconds since 1970
        /// Another one if the object at this place was written again; see growth::carry_over_loads.
        std::uint64_t stamp = std::numeric_limits<std::uint64_t>::max();
    };
    /// A tensor's type and layout, where no record holds them.
    struct tensor_form {
        dtype type = dtype::invalid;
        std::span<const std::size_t> shape = {};
        bool big_endian = false;    ///< the bytes of each element are swapped
        bool column_major = false;  ///< column-major (Fortran order): the first index varies fastest
    };
    /// Makes the elements of a tensor, exactly as many bytes as its form requires.  Called concurrently.
    using maker = std::function<std::vector<std::byte>()>;

    /// The id of a name; adding tensors by id is cheaper than by name.
    [[nodiscard]] std::uint32_t name(std::string_view tensor) { return names_.number_of(tensor); }
    /// Adds a number, which the catalog keeps.  `name`: see name().  `as`: float64 or float32.  `of`: the object that
    /// contains it, see object().
    /// Errors: value_error for another dtype, and for an id that was not given out.
    void add_number(const place& where, std::uint32_t name, double number, dtype as, std::uint32_t of) {
        const detail::found_entry entry = number_entry(name, number, where.wall_time, as);
        begin(where, of);
        entries_.push_back(entry);
    }

    /// Adds a number at the step, worker and object of the last addition in this update.  Cheaper than naming them
    /// again.      Errors: as add_number(); value_error if nothing was added before.
    void add_number_beside(std::uint32_t name, double number, double wall_time, dtype as) {
        const detail::found_entry entry = number_entry(name, number, wall_time, as);
        if (stretches_.empty()) {
            throw_nothing_beside();
        }
        entries_.push_back(entry);
    }

    /// The id of an object of the storage.
    [[nodiscard]] std::uint32_t object(std::string_view key) { return objects_.number_of(key); }

    /// A tensor in a record of an event file, including its frame, which the trial's decoder reads.
    /// Errors, as of the others below: value_error for an id of an object that was not given out.
    void add_record(const place& where, std::string_view tensor, std::uint32_t object, byte_range record);
    /// A tensor whose elements are in an object.      Errors: value_error where their length does not match the form.
    void add_elements(const place& where, std::string_view tensor, const tensor_form& form, std::uint32_t object,
                      byte_range elements);
    /// A tensor whose elements are made when it is read, in C order and in this machine's byte order.
    /// Errors: value_error for another order, an impossible form, or no function.
    void add_made(const place& where, std::string_view tensor, const tensor_form& form, maker make,
                  std::optional<std::uint32_t> of = {});
    /// A number, by the tensor's name.      `as`: float64 or float32.  Errors: value_error for another dtype.
    void add_number(const place& where, std::string_view tensor, double number, dtype as = dtype::float64,
                    std::optional<std::uint32_t> of = {});
    /// A tensor that is known but cannot be read: an image.
    void add_shape(const place& where, std::string_view tensor, std::span<const std::size_t> shape,
                   std::optional<std::uint32_t> of = {});

    /// Adds a collection; replaces one of the same name.
    void add_collection(collection group);
    /// Adds a tensor to a collection, and creates it if it does not exist.
    void add_to_collection(std::string_view collection, std::string_view tensor);
    /// How many workers write each step; 1 where each worker has its own steps.
    void set_num_workers(std::size_t count) noexcept { num_workers_ = count; }
    /// Whether more may come.
    void set_ended(bool ended) noexcept { ended_ = ended; }
    /// How much of what was added is no longer what a new source would find: data that were written again, or that
    /// belong before others.
    enum class outdated_in : std::uint8_t {
        nothing,
        parts,  ///< the trial reads everything anew when that takes a small share of the time, or at the job's end
        all,    ///< later additions do not fit the earlier ones: it reads everything anew at once
    };
    /// Makes the trial read everything anew, with a new copy of the source.  The greatest extent that was set counts.
    void set_outdated(outdated_in what = outdated_in::parts) noexcept { outdated_ = std::max(outdated_, what); }
    /// Reports something that could not be used: where, and what is wrong.  The last call for a place counts, or for a
    /// topic at a place, where several things can be wrong.
    void note_problem(std::string where, std::string what, problem_kind kind = problem_kind::damaged,
                      std::string topic = {});
    /// Withdraws the problem noted for a place: a record that was cut is now complete.
    void withdraw_problem(const std::string& where, const std::string& topic = {});
    /// The topic of a file that may not be read.
    static constexpr const char* denied = "denied";

    [[nodiscard]] bool ended() const noexcept { return ended_ && has_found(); }
    [[nodiscard]] outdated_in outdated() const noexcept { return outdated_; }
    /// Whether there is a run: the source has found an object, even one that it cannot read.
    [[nodiscard]] bool has_found() const noexcept { return objects_.size() > 0 || !problems_.empty(); }
    [[nodiscard]] const std::string& key_of(std::uint32_t object) const noexcept { return objects_[object]; }
    /// The problems, by place.
    [[nodiscard]] std::vector<problem> problems() const;

    [[nodiscard]] const std::map<std::string, collection, std::less<>>& collections() const noexcept {
        return collections_;
    }
    [[nodiscard]] std::size_t num_workers() const noexcept { return num_workers_; }

private:
    friend struct detail::contents_access;

    void begin(const place& where, std::uint32_t object) {
        if (stretches_.empty() || stretches_.back().step != where.step || stretches_.back().object != object ||
            last_worker_ != where.worker) {
            begin_stretch(where, object);
        }
    }
    void begin_stretch(const place& where, std::uint32_t object);
    [[nodiscard]] detail::found_entry number_entry(std::uint32_t name, double number, double wall_time, dtype as) {
        if (name >= names_.size()) {
            throw_unknown("name", name, names_.size());
        }
        return {{}, name, form_without_shape(detail::storage_form::number, as), {number, wall_time}};
    }
    [[noreturn]] static void throw_unknown(const char* of, std::uint32_t id, std::size_t count);
    [[noreturn]] static void throw_nothing_beside();
    [[nodiscard]] std::uint32_t object_or_none(std::optional<std::uint32_t> of) { return of ? *of : object(""); }
    void add(const place& where, std::string_view tensor, std::uint32_t object, byte_range bytes, std::uint32_t form) {
        begin(where, object);
        entries_.push_back({bytes, names_.number_of(tensor), form, {0, where.wall_time}});
    }
    [[nodiscard]] std::uint32_t form_number(detail::stored_form form);
    [[nodiscard]] std::uint32_t form_without_shape(detail::storage_form as, dtype type) {
        for (const auto& [known_as, known_type, number] : without_shape_) {
            if (known_as == as && known_type == type) {
                return number;
            }
        }
        return new_form_without_shape(as, type);
    }
    [[nodiscard]] std::uint32_t new_form_without_shape(detail::storage_form as, dtype type);
    [[nodiscard]] static std::uint64_t bytes_of(std::string_view tensor, const tensor_form& form);

    detail::string_interner objects_;
    detail::string_interner names_;
    detail::string_interner workers_;
    std::vector<detail::found_stretch> stretches_;
    detail::chunked_list<detail::found_entry> entries_;
    std::vector<detail::found_shape> shapes_;
    std::string last_worker_;
    std::shared_ptr<std::deque<detail::stored_form>> forms_ = std::make_shared<std::deque<detail::stored_form>>();
    std::unordered_multimap<std::size_t, std::uint32_t> form_places_;  // by hash
    std::size_t form_guess_ = 0;
    std::vector<std::tuple<detail::storage_form, dtype, std::uint32_t>> without_shape_;  // only a few of them
    std::map<std::string, collection, std::less<>> collections_;
    std::size_t num_workers_ = 1;
    std::map<std::pair<std::string, std::string>, problem> problems_;  // by place and topic
    bool ended_ = false;
    outdated_in outdated_ = outdated_in::nothing;
};

/// Finds tensors and steps in data that another tool wrote.  A type AnySource models `catalog_source` when:
///  1. update(contents) adds to `contents` what is new since the last call, and returns whether there was anything; the
///     first call adds everything there is.  What may still change (a step that is still being written) is left for a
///     later call;
///  2. once `contents.ended()` is set, nothing more comes, and update() is not called again unless nothing has been
///     found yet;
///  3. damaged data are noted as a problem, and the rest is added; an error means that nothing can be read at all, and
///     the next call continues where the last one was;
///  4. one thread at a time uses it.  Each trial has its own copy, made before the first call.
/// Objects are named by their keys in the trial's storage: see as_run().
/// Optional: `static constexpr bool own_steps = false`, for data without global steps, where the source makes them from
/// the modes' own steps: a trial's range then counts in mode steps, see trial::steps_are_synthetic().
template <class AnySource>
concept catalog_source = std::copyable<AnySource> && requires(AnySource& source, run_contents& contents) {
    { source.update(contents) } -> std::same_as<bool>;
};

namespace detail {

/// What the catalog and the sources of this library need of run_contents, and other sources do not.
struct contents_access {
    /// Adds a TensorProto or histogram without a record around it.  `name`: see run_contents::name().
    static void add_message(run_contents& to, const run_contents::place& where, std::uint32_t name, storage_form as,
                            std::uint32_t object, byte_range message) {
        to.begin(where, object);
        to.entries_.push_back({message, name, to.form_without_shape(as, dtype::invalid), {0, where.wall_time}});
    }
    [[nodiscard]] static const string_interner& names(const run_contents& of) noexcept { return of.names_; }
    [[nodiscard]] static const string_interner& workers(const run_contents& of) noexcept { return of.workers_; }
    /// What was added since forget_found(), in that order.
    [[nodiscard]] static std::span<const found_stretch> stretches(const run_contents& of) noexcept {
        return of.stretches_;
    }
    /// Calls visit(const found_entry&) for those of a stretch, by its place in stretches().
    template <class Visit>
    static void each_entry(const run_contents& of, std::size_t stretch, Visit&& visit) {
        const auto& all = of.stretches_;
        const std::size_t end = stretch + 1 < all.size() ? all[stretch + 1].first : of.entries_.size();
        of.entries_.each(all[stretch].first, end, visit);
    }
    [[nodiscard]] static std::size_t entry_count(const run_contents& of) noexcept { return of.entries_.size(); }
    [[nodiscard]] static std::span<const found_shape> shapes(const run_contents& of) noexcept { return of.shapes_; }
    /// A form by its number; the reference is valid as long as the table is held.
    [[nodiscard]] static const stored_form& form(const run_contents& of, std::uint32_t number) noexcept {
        return (*of.forms_)[number];
    }
    [[nodiscard]] static std::shared_ptr<const std::deque<stored_form>> forms(const run_contents& of) noexcept {
        return of.forms_;
    }
    static void forget_found(run_contents& of) noexcept;
};

/// A catalog_source of any type, for one trial.
class any_catalog_source : public abstract {
public:
    [[nodiscard]] virtual bool update(run_contents& contents) = 0;
    [[nodiscard]] virtual bool own_steps() const noexcept = 0;
};

/// Makes a source for each trial on a storage.
class source_maker : public abstract {
public:
    [[nodiscard]] virtual std::unique_ptr<any_catalog_source> make() const = 0;
};

template <catalog_source Source>
class copied_source final : public source_maker {
public:
    explicit copied_source(Source source) : source_(std::move(source)) {}
    [[nodiscard]] std::unique_ptr<any_catalog_source> make() const override { return std::make_unique<one>(source_); }

private:
    class one final : public any_catalog_source {
    public:
        explicit one(Source source) : source_(std::move(source)) {}
        [[nodiscard]] bool update(run_contents& contents) override { return source_.update(contents); }
        [[nodiscard]] bool own_steps() const noexcept override {
            if constexpr (requires { Source::own_steps; }) {
                return Source::own_steps;
            } else {
                return true;
            }
        }

    private:
        Source source_;
    };

    Source source_;
};

}  // namespace detail

/// Returns the same storage; a trial on it shows what the source finds, read from the objects that the source names.  A
/// trial follows the data as they grow.  Until the source finds something, there is no run.
/// Cost: none; each trial calls its own copy of the source.
template <catalog_source Source>
[[nodiscard]] any_storage as_run(const any_storage& store, Source source) {
    return store.with_source(std::make_shared<const detail::copied_source<Source>>(std::move(source)));
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/run_contents.ipp>
#endif
