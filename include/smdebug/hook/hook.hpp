// hook_base: what a training loop calls; basic_hook<Storage, Kernel, Clock>; hook, whose storage is chosen at run time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

class hook_door;
struct hook_state;

}  // namespace detail

/// Saves tensors, reductions, shapes and scalars of a training loop, step by step, as the Python package's hook does;
/// options, names and defaults are the package's.
///
/// What happens to a tensor, in this order:
///   1. checked: the process, the thread, the name, the elements against the shape, and whether the hook is open.
///   2. decided: the first call in a step begins it, when observers say whether they want it, and it is determined which
///      collections are due; then to which of these the tensor belongs, and what they want of it.
///   3. counted, stamped with the time, and written, if anything is due.  First its reductions and its digest, from one
///      pass over the elements, then its shape, then the elements.  Small records gather in a buffer; large elements go
///      from the caller's memory to the step's event file, or, with a background thread, are copied into its pool.
///   4. shown to TensorBoard, if it was due, and then to the observers that want it.
/// At the step's end the collections file is written, if it has changed; then the event file appears; then the index
/// file, which makes it a step; then TensorBoard's files, if they are due; then the count advances, and observers are
/// notified.  A process that dies loses the current step and nothing else (with a background thread also pending writes
/// in the pool, unless the process ends by exit() or from main, which wait for them).
///
/// Errors:   an error of the storage loses the current step as a whole, and no other.  It is counted at once
///           (counters().lost_steps, step_is_lost()), the step's other tensors are not taken (should_save() and
///           save_tensor() return false), and end_step() throws it after advancing to the next step: so a loop keeps
///           its numbers, whether it catches around a save, around end_step(), or around the whole iteration.  If an
///           exception of the loop itself, or a wrong argument, keeps an iteration from its end_step(), the next
///           iteration would be saved into the same step: call abandon_step() in the handler.
///           With failure_policy::drop none of this is thrown: losses are counted and reported to on_drop.  A wrong
///           argument throws value_error in any case and has no other effect.
/// Threads:  one call at a time, on any thread; with hook_options::threads many, calls wait for each other.  Else a
///           call that is made while another thread is in one throws value_error, whatever the failure policy, and
///           changes nothing; observers may call the hook back on their own thread.  noexcept functions are not checked.
///           In a forked child every call throws unsupported and touches nothing of the parent; the child must make its
///           own hook.
/// Lifetime: neither copied nor moved.  The destructor closes the hook and ignores errors: call close().  If an
///           exception destroys it, or exit() ends the program without destroying it, the current step is abandoned,
///           and the run can be resumed.
class hook_base {
public:
    hook_base(const hook_base&) = delete;
    hook_base& operator=(const hook_base&) = delete;

    // --- steps -------------------------------------------------------------------------------------------------

    /// The mode that the training is in; GLOBAL at first.  Steps are counted for each mode.
    void set_mode(mode which);
    [[nodiscard]] mode current_mode() const noexcept;
    [[nodiscard]] step_number step() const noexcept;       ///< the global one
    [[nodiscard]] step_number mode_step() const noexcept;  ///< in the current mode

    /// Sets the numbers of the beginning step, for a training that counts its own steps or resumes from a checkpoint:
    /// the global one, and that in the current mode (if omitted: the same in GLOBAL, else the count continues).  Modes
    /// share the global numbers.  A step that is written again replaces the older one.
    /// Errors: value_error for negative numbers, for the number that was written last, for another global number when
    /// the current step already has tensors, and for a number in the mode that an earlier step was written with: a
    /// mode's step is written once.
    void set_step(step_number global, std::optional<step_number> in_mode = {});

    /// Ends the step: its files appear, then the count advances, even if they could not be written.
    /// Errors: why this step is lost; with a background thread, why an older one is; what TensorBoard's files and
    /// observers throw, which costs no step.
    void end_step();
    /// Abandons the current step, of which nothing is written or shown to rules, and continues with the next one: for
    /// the handler of an exception that kept an iteration from its end_step().
    /// ```
    /// for (...) {
    ///     try { train(); hook.save_tensor(...); hook.end_step(); }
    ///     catch (const std::exception& failed) { log(failed); hook.abandon_step(); }
    /// }
    /// ```
    /// Does nothing if the last call was an end_step() that threw: that step is over.  A step that already has saved
    /// tensors counts as lost; the reason of an earlier loss is in counters().last_loss, and is no longer thrown.
    void abandon_step();
    /// Whether the current step is already lost.
    [[nodiscard]] bool step_is_lost() const noexcept;

    // --- saving ------------------------------------------------------------------------------------------------

    /// Whether a tensor is wanted at this step: if not, there is no need to fetch or compute it.
    /// Cost: some nanoseconds if nothing is due at this step, else one look-up of the name.
    [[nodiscard]] bool should_save(std::string_view name);
    /// Whether a tensor is wanted that will be saved into these collections.
    [[nodiscard]] bool should_save(std::string_view name, const collection_names& into);

    /// Saves a tensor if one of its collections is due at this step: its values, reductions or shape, as the
    /// collections say.  A tensor belongs to the collections whose names or regexes match it, and to `into`, which are
    /// saved even if not included.
    ///
    /// Returns whether anything was saved, or shown to an observer; strings have no reductions, and a lost step saves
    /// nothing.
    ///
    /// Borrows: the elements, for the call.
    ///
    /// Errors: value_error (elements and shape do not fit, a name that is empty, not UTF-8, or contains
    /// "smdebug/reductions/", or in a hook that saves digests begins with "digest/"); unsupported (above 2 GiB, or the
    /// hook is closed).
    bool save_tensor(std::string_view name, const tensor_view& tensor, const collection_names& into = {});

    /// Saves contiguous elements (std::span, std::vector, std::array, ...) or strings (std::vector<std::string>).  A
    /// std::vector<bool>, or a matrix with rows(), cols() and (row, column) such as Eigen's, is copied when it is
    /// wanted.
    template <detail::unviewed Values>
    bool save_tensor(std::string_view name, const Values& values, const extents_view& shape,
                     const collection_names& into = {}) {
        return save_values(name, values, shape.get(), into);
    }

    /// The shape as a list of numbers: {64, 32}, {rows, columns}.  That of a 0-d tensor is smd::shape_type{}.
    template <detail::unviewed Values>
    bool save_tensor(std::string_view name, const Values& values, std::initializer_list<std::size_t> shape,
                     const collection_names& into = {}) {
        return save_values(name, values, {shape.begin(), shape.size()}, into);
    }
    template <detail::unviewed Values, extent_number Integer>
    bool save_tensor(std::string_view name, const Values& values, std::initializer_list<Integer> shape,
                     const collection_names& into = {}) {
        return save_values(name, values, extents_view{shape}.get(), into);
    }

    /// Saves elements with one dimension; a matrix keeps its two, and a single number has the shape {1}.
    template <class Values>
    bool save_tensor(std::string_view name, const Values& values, const collection_names& into = {}) {
        static_assert(
            !detail::shaped_array<Values>,
            "save_tensor: an array with a shape of its own: include <smdebug/xtensor.hpp> for an expression of "
            "xtensor, specialise smd::tensor_adapter for another type, or write save_tensor(name, values, shape)");
        if constexpr (copied_values<Values>) {
            return save_values(name, values, shape_of(values), into);
        } else if constexpr (saved_element<Values>) {
            return save_values(name, values, std::array{std::size_t{1}}, into);
        } else if constexpr (element_range<Values>) {
            return save_values(name, values, std::array{std::size_t{std::ranges::size(values)}}, into);
        } else {
            return save_values(name, values, {}, into);
        }
    }

    /// Saves elements in braces: {1.5F, 2.5F}.
    template <class Value>
    bool save_tensor(std::string_view name, std::initializer_list<Value> values, const collection_names& into = {}) {
        return save_tensor(name, std::span<const Value>{values.begin(), values.size()}, into);
    }
    template <class Value>
    bool save_tensor(std::string_view name, std::initializer_list<Value> values, const extents_view& shape,
                     const collection_names& into = {}) {
        return save_tensor(name, std::span<const Value>{values.begin(), values.size()}, shape, into);
    }

    /// Saves a tensor of another library with its own shape: an mdspan, or any type that has a tensor_adapter, as an
    /// xtensor expression has with <smdebug/xtensor.hpp>.
    template <adapted_tensor Value>
    bool save_tensor(std::string_view name, const Value& tensor, const collection_names& into = {}) {
        if (!is_due(name, into)) {
            return false;
        }
        const tensor_adapter<Value> adapter{tensor, name};
        if constexpr (detail::computing_adapter<tensor_adapter<Value>>) {
            if (const auto due = numbers_alone(name, into)) {
                const std::optional<tensor_numbers> numbers = adapter.compute(*due);
                if (numbers && (numbers->digest || !due->digest)) {
                    return save_numbers(name, adapter.shape(), *numbers, into);
                }
            }
        }
        return save_tensor(name, adapter.view(), into);
    }

    /// Saves a number under "scalar/<name>" at every call, whatever the configuration says, as the Python package does;
    /// call should_save first to save less.
    template <saved_element Value>
    void save_scalar(std::string_view name, Value value) {
        save_number(name, saved_dtype_v<Value>, std::as_bytes(std::span<const Value, 1>{&value, 1}));
    }

    /// The next step that begins saves every tensor with its values, whatever the configuration says.
    void save_everything_next_step();

    // --- the end -----------------------------------------------------------------------------------------------

    /// Ends the current step if it has saved tensors, waits until everything is written, writes the collections file,
    /// releases the worker's claim, and, if this is the last worker, marks the end of the job; each even if others
    /// fail.  Nothing can be saved afterwards.  on_note receives what was probably meant to be saved and was not.
    /// A second call does nothing.
    void close();

    /// Waits until all finished steps are written.
    void flush();

    [[nodiscard]] const hook_counters& counters() const noexcept;
    [[nodiscard]] const hook_options& options() const noexcept;
    /// The collections named in the options to which no tensor seen so far belongs; only tensors offered at due steps
    /// count. At the end of a training, probably a misspelt name or regex.
    [[nodiscard]] std::vector<std::string> unmatched_collections() const;
    /// The names of tensors offered, by should_save() or a save, at due steps that no saved collection holds; in order
    /// of appearance.  close() reports them, see hook_options::on_note.
    [[nodiscard]] std::vector<std::string> unsaved_tensors() const;
    /// Adds an observer of everything the hook sees from now on.
    void add_observer(std::shared_ptr<hook_observer> observer);

protected:
    // `opener` opens the paths in the options; null if a path is not enough for storages of this kind.
    hook_base(any_storage store, hook_options options, detail::any_kernel kernel, detail::any_clock clock,
              detail::place_opener opener);
    // Writes to options.out_dir.
    hook_base(const hook_options& options, detail::any_kernel kernel, detail::any_clock clock,
              detail::place_opener opener);
    ~hook_base();

    [[nodiscard]] static hook_options options_of_json_file(std::optional<std::string> path);

private:
    friend class detail::hook_door;

    void save_number(std::string_view name, dtype type, byte_view value);
    // should_save(), for a save: throws if the hook is closed.
    [[nodiscard]] bool is_due(std::string_view name, const collection_names& into);
    // What is due of a tensor whose elements are not; unset if they are due, or nothing is.
    [[nodiscard]] std::optional<due_numbers> numbers_alone(std::string_view name, const collection_names& into);
    // Saves a tensor without its elements, where numbers_alone() says that they are not needed.
    bool save_numbers(std::string_view name, std::span<const std::size_t> shape, const tensor_numbers& numbers,
                      const collection_names& into);

    template <class Values>
    bool save_values(std::string_view name, const Values& values, std::span<const std::size_t> shape,
                     const collection_names& into) {
        if constexpr (element_range<Values>) {
            return save_tensor(name, view_of(values, shape, name), into);
        } else if constexpr (saved_element<Values>) {
            return save_values(name, std::span<const Values, 1>{&values, 1}, shape, into);
        } else if constexpr (copied_values<Values>) {
            return is_due(name, into) && save_tensor(name, detail::values_copy<Values>{values}.view(shape, name), into);
        } else {
            detail::refuse_values<Values>();
            return false;
        }
    }

    std::unique_ptr<detail::hook_state> state_;  // a pointer, so that this header does not need it
};

/// A hook composed of policies.  Its interface is its base hook_base: a function that takes a `hook_base&` accepts any
/// hook.
/// Cost: policies are called once a step, a file or a tensor; never once an element.
template <writable_storage Storage = local_storage, reduction_kernel Kernel = default_kernel,
          wall_clock Clock = system_wall_clock>
class basic_hook : public hook_base {
public:
    using storage_type = Storage;
    using kernel_type = Kernel;

    /// Writes into the storage that options.out_dir names.
    /// Errors: value_error (options); in_use (another living process writes as this worker, on a storage that can
    /// detect it); run_exists; what the storage throws.
    explicit basic_hook(const hook_options& options, Kernel kernel = Kernel{}, Clock clock = Clock{})
        requires detail::named_storage<Storage>;

    /// Writes into `store`; ignores options.out_dir.
    basic_hook(Storage store, hook_options options, Kernel kernel = Kernel{}, Clock clock = Clock{});

    /// Makes a hook from SageMaker's JSON file: `path`, or else the file that SMDEBUG_CONFIG_FILE_PATH names, or else
    /// /opt/ml/input/config/debughookconfig.json.      Errors: as hook_options_from_json_file, and those above.
    [[nodiscard]] static basic_hook from_json_file(std::optional<std::string> path = {})
        requires detail::named_storage<Storage>
    {
        return basic_hook(options_of_json_file(std::move(path)));
    }
};

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::basic_hook(const hook_options& options, Kernel kernel, Clock clock)
    requires detail::named_storage<Storage>
    : hook_base(options, detail::any_kernel{std::move(kernel)}, detail::any_clock{std::move(clock)},
                detail::opener_of<Storage>()) {}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::basic_hook(Storage store, hook_options options, Kernel kernel, Clock clock)
    : hook_base(any_storage{std::move(store)}, std::move(options), detail::any_kernel{std::move(kernel)},
                detail::any_clock{std::move(clock)}, detail::opener_of<Storage>()) {}

/// A hook whose destination is chosen at run time: by out_dir, or any storage in an any_storage.
using hook = basic_hook<any_storage>;

#ifdef SMDEBUG_COMPILED
extern template class basic_hook<any_storage>;
extern template class basic_hook<local_storage>;
#endif

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook.ipp>
#endif
