// What a training loop calls of a hook, whatever its policies are: steps, saving, the end.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/hook/tensor_source.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/posix/process.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/tensor/view_of_xtensor.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

class hook_core;

}  // namespace detail

/// Saves tensors, reductions, shapes and scalars of a training loop, step by step, as the Python package's hook does;
/// options, names and defaults are the package's.
///
/// A step's tensors are written as they are saved; its files appear when it ends: first the event file, then the index
/// file that makes it a step.  A process that dies loses the step at hand and nothing else (with a background: also
/// what waits in the pool, unless it ends by exit() or from main, which wait for that).
///
/// Errors:   what the storage throws costs the step at hand, as a whole, and no other.  It is counted at once
///           (counters().lost_steps, step_is_lost()), the step's other tensors are not taken (should_save() and
///           save_tensor() say false), and end_step() throws it when it has gone on to the next step: so a loop keeps
///           its numbers, whether it catches around a save, around end_step(), or around the whole iteration.  Where
///           an exception of the loop's own, or a wrong argument, keeps an iteration from its end_step(), the next
///           iteration would be saved into the same step: call abandon_step() in the handler.
///           With failure_policy::drop nothing of this is thrown: losses are counted and told to on_drop.  A wrong
///           argument throws value_error in any case, and costs nothing but itself.
/// Threads:  one call at a time, on any thread.  A call that comes while another thread is in one throws value_error,
///           whatever the failure policy, and changes nothing; observers may call the hook back on their own thread.
///           What is noexcept is not checked.  In a forked child every call throws unsupported, and nothing of the
///           parent's is touched; the child makes a hook of its own.
/// Lifetime: neither copied nor moved.  The destructor closes it, and ignores errors: call close().  Where an
///           exception destroys it, the step at hand is given up, and the run is left as one that can be resumed; so it
///           is where exit() ends the program and nothing destroys it.
class hook_base {
public:
    hook_base(const hook_base&) = delete;
    hook_base& operator=(const hook_base&) = delete;

    // --- steps -------------------------------------------------------------------------------------------------

    /// Which mode the training is in; GLOBAL at first.  Steps are counted for each.
    void set_mode(mode which);
    [[nodiscard]] mode current_mode() const noexcept;
    [[nodiscard]] step_number step() const noexcept;       ///< the global one
    [[nodiscard]] step_number mode_step() const noexcept;  ///< in the current mode

    /// Sets the numbers of the step that begins, for a training that counts itself or goes on behind a checkpoint: the
    /// global one, and that in the current mode (none: in GLOBAL the same, else it goes on counting).  Modes share the
    /// global numbers.  Going back, a step that is written again replaces the older one.
    /// Errors: value_error for negative ones, for the number that was written last, for another global one when the
    /// step at hand has tensors already, and for a number in the mode that an earlier step was written with: a mode's
    /// step is written once.
    void set_step(step_number global, std::optional<step_number> in_mode = {});

    /// Ends the step: its files appear, then counting goes on, also where they could not be written.
    /// Errors: why this step is lost; with a background, an older one.
    void end_step();
    /// Gives up the step at hand, of which nothing is written or shown to rules, and goes on with the next one: for the
    /// handler of an exception that kept an iteration from its end_step().
    /// ```
    /// for (...) {
    ///     try { train(); hook.save_tensor(...); hook.end_step(); }
    ///     catch (const std::exception& failed) { log(failed); hook.abandon_step(); }
    /// }
    /// ```
    /// Does nothing where the last call was an end_step() that threw: that step is over.  A step of which anything was
    /// saved counts as lost; why it was lost before, if it was, is in counters().last_loss, and not thrown any more.
    void abandon_step();
    /// Whether the step at hand is lost already.
    [[nodiscard]] bool step_is_lost() const noexcept;

    // --- saving ------------------------------------------------------------------------------------------------

    /// Whether a tensor is wanted at this step: where not, there is no need to fetch or compute it.
    /// Cost: some nanoseconds where nothing is due at this step, else one look-up of the name.
    [[nodiscard]] bool should_save(std::string_view name);
    /// The same for a tensor that will be saved into these collections.
    [[nodiscard]] bool should_save(std::string_view name, const collection_names& into);

    /// Saves a tensor, if one of the collections that it belongs to is due at this step: its values, reductions or
    /// shape, as these say.  It belongs to those whose names or regexes match it, and to `into`, which are saved even
    /// if they were not included.
    ///
    /// Returns whether anything of it was taken; of texts there are no reductions, and of a step that is lost nothing.
    ///
    /// Borrows: the elements, for the call.
    ///
    /// Errors: value_error (elements and shape do not fit, a name that is empty, no UTF-8, or has
    /// "smdebug/reductions/" in it); unsupported (above 2 GiB, or the hook is closed).
    bool save_tensor(std::string_view name, const tensor_view& tensor, const collection_names& into = {});

    /// The same of contiguous elements: std::span, std::vector, std::array, ...; of texts, as std::vector<std::string>;
    /// and, a copy of them where they are wanted, of a std::vector<bool> and of a matrix that has rows(), cols() and
    /// (row, column), as Eigen's.
    template <detail::unviewed Values>
    bool save_tensor(std::string_view name, const Values& values, const extents_view& shape,
                     const collection_names& into = {}) {
        return save_values(name, values, shape.get(), into.get());
    }

    /// The shape as a list of numbers: {64, 32}, {rows, columns}.  That of a 0-d tensor is smd::shape_type{}.
    template <detail::unviewed Values>
    bool save_tensor(std::string_view name, const Values& values, std::initializer_list<std::size_t> shape,
                     const collection_names& into = {}) {
        return save_values(name, values, {shape.begin(), shape.size()}, into.get());
    }
    template <detail::unviewed Values, extent_number I>
    bool save_tensor(std::string_view name, const Values& values, std::initializer_list<I> shape,
                     const collection_names& into = {}) {
        return save_values(name, values, extents_view{shape}.get(), into.get());
    }

    /// The same with one dimension; of a matrix with its two, and of a single number with the shape {1}.
    template <class Values>
    bool save_tensor(std::string_view name, const Values& values, const collection_names& into = {}) {
        if constexpr (copied_values<Values>) {
            return save_values(name, values, shape_of(values), into.get());
        } else if constexpr (saved_element<Values>) {
            return save_values(name, values, std::array{std::size_t{1}}, into.get());
        } else if constexpr (element_range<Values>) {
            return save_values(name, values, std::array{std::size_t{std::ranges::size(values)}}, into.get());
        } else {
            return save_values(name, values, {}, into.get());
        }
    }

    /// The same of elements in braces: {1.5F, 2.5F}.
    template <class T>
    bool save_tensor(std::string_view name, std::initializer_list<T> values, const collection_names& into = {}) {
        return save_tensor(name, std::span<const T>{values.begin(), values.size()}, into);
    }
    template <class T>
    bool save_tensor(std::string_view name, std::initializer_list<T> values, const extents_view& shape,
                     const collection_names& into = {}) {
        return save_tensor(name, std::span<const T>{values.begin(), values.size()}, shape, into);
    }

    /// The same of an xtensor expression, which has its shape.  Not evaluated where it is not wanted.
    template <tensor_expression Expression>
    bool save_tensor(std::string_view name, const Expression& expression, const collection_names& into = {}) {
        check_call(name);
        return should_be_taken(name, into.get()) &&
               take(name, detail::expression_view<Expression>{expression}.get(), into.get());
    }

    /// Saves a number under "scalar/<name>", at every step at which it is called, whatever the configuration says, as
    /// the Python package does; ask should_save first for less.
    template <saved_element T>
    void save_scalar(std::string_view name, T value) {
        const std::array<std::size_t, 1> shape{1};
        const std::string full = "scalar/" + std::string{name};
        check_call(full);
        take_scalar(full, view_of(std::span<const T, 1>{&value, 1}, shape, full));
    }

    /// At the next step to begin, every tensor is saved, with its values, whatever the configuration says.
    void save_everything_next_step();

    // --- the end -----------------------------------------------------------------------------------------------

    /// Ends the step at hand if anything was saved in it, waits until all is written, writes the collections file,
    /// gives up the worker's claim, and, if this is the last worker, marks the end of the job; each even where others
    /// fail.  After it nothing can be saved.  on_note gets what was likely meant to be saved, and was not.
    /// A second call does nothing.
    void close();

    /// Waits until all finished steps are written.
    void flush();

    [[nodiscard]] const hook_counters& counters() const noexcept;
    [[nodiscard]] const hook_options& options() const noexcept;
    /// The collections that the options name and that no tensor has belonged to so far, of those that came at steps at
    /// which anything was due: at the end of a training, likely a name or a regex that is misspelt.
    [[nodiscard]] std::vector<std::string> unmatched_collections() const;
    /// The names under which tensors were offered, by should_save() or a save, at steps at which anything was due, and
    /// that no saved collection holds; in the order in which they came.  close() tells of them, see
    /// hook_options::on_note.
    [[nodiscard]] std::vector<std::string> unsaved_tensors() const;
    /// Adds an observer of what the hook sees from now on.
    void add_observer(std::shared_ptr<hook_observer> observer);

protected:
    // `opener` opens what options name by paths; null where a path is not enough for storages of this kind.
    hook_base(any_storage store, hook_options options, detail::any_kernel kernel, detail::any_clock clock,
              detail::place_opener opener);
    // Into the place that options.out_dir names.
    hook_base(const hook_options& options, detail::any_kernel kernel, detail::any_clock clock,
              detail::place_opener opener);
    ~hook_base();

    [[nodiscard]] static hook_options options_of_json_file(std::optional<std::string> path);

private:
    // A child that was forked has a copy of this object, but neither its thread nor the right to write its run.
    void check_process() const;
    // The outermost call of a thread holds the hook; calls within it, by observers, pass.
    class one_call {
    public:
        // Errors: unsupported in a forked child; value_error where another thread holds the hook.
        explicit one_call(const hook_base& called);
        one_call(const one_call&) = delete;
        one_call& operator=(const one_call&) = delete;
        ~one_call();

    private:
        std::atomic<std::thread::id>* held_;  // null within another call
    };
    void check_call(std::string_view name) const;

    [[nodiscard]] bool should_be_taken(std::string_view name, std::span<const std::string_view> into);
    bool take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into);
    void take_scalar(std::string_view name, const tensor_view& value);

    template <class Values>
    bool save_values(std::string_view name, const Values& values, std::span<const std::size_t> shape,
                     std::span<const std::string_view> into) {
        if constexpr (element_range<Values>) {
            check_call(name);
            return take(name, view_of(values, shape, name), into);
        } else if constexpr (saved_element<Values>) {
            return save_values(name, std::span<const Values, 1>{&values, 1}, shape, into);
        } else if constexpr (copied_values<Values>) {
            check_call(name);
            return should_be_taken(name, into) &&
                   take(name, detail::values_copy<Values>{values}.view(shape, name), into);
        } else {
            detail::refuse_values<Values>();
            return false;
        }
    }

    std::unique_ptr<detail::hook_core> core_;  // a pointer, so that this header does not need it
    detail::posix::home_process home_;
    mutable std::atomic<std::thread::id> caller_{};  // the thread that is in a call
    int exceptions_ = std::uncaught_exceptions();    // in flight when the hook was made
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_base.ipp>
#endif
