// The errors that the library throws, in one tree ordered by what the caller can do about them.
// The leaves carry the Python package's names, which what() prints first; the fields say where the error happened.
#pragma once

#if !defined(__cpp_exceptions)
#error "smdebug throws: compile it with exceptions (headers of record, wire, tensor and reduce alone do without them)."
#elif !defined(__cpp_rtti)
#error "smdebug distinguishes errors by dynamic_cast: compile it without -fno-rtti."
#endif

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// What would avoid an error. The advice in an error names the library's option; a program uses its own wording.
enum class error_remedy : std::uint8_t {
    none,
    skip_damaged,  ///< trial_options::damaged_index
    wait_longer,   ///< trial_options::open_timeout
    raise_limit,   ///< one of trial_options::limits
    skip_large,    ///< either of skip_damaged and raise_limit
};

/// Where something went wrong, as far as it is known.
struct error_context {
    std::string where = {};                       ///< file, key, folder or URI
    std::optional<std::uint64_t> offset = {};     ///< byte in it
    std::string tensor = {};                      ///< tensor's name
    std::optional<step_number> step = {};         ///< in `step_mode`
    std::optional<smdebug::mode> step_mode = {};  ///< the mode that `step` counts in
    std::string worker = {};
    error_remedy remedy = error_remedy::none;
    std::string advice = {};  ///< how to apply the remedy in C++; appended to the message
};

namespace detail {

/// The name that what() begins with.  A type of its own, so that it is never taken for the message.
struct error_name {
    std::string_view text;  ///< a literal: it lives as long as the program
};

}  // namespace detail

/// The root. what() reads "<python name>: <sentence>". Characters of names and foreign texts that are not printable are
/// escaped in it, so it is safe to show, and a NUL byte does not cut it. The fields hold the texts unchanged.
class error : public std::runtime_error {
public:
    error(detail::error_name name, const std::string& message, error_context context = {});

    /// The Python package's name of this error, or the closest word if Python has none. Lives as long as the program.
    [[nodiscard]] std::string_view python_name() const noexcept { return name_; }
    /// what() without the name, and without the advice that may stand at its end.
    [[nodiscard]] std::string_view message() const noexcept {
        return std::string_view{what()}.substr(name_.size() + 2, message_size_);
    }
    /// What would avoid it, and how to do that in C++.
    [[nodiscard]] error_remedy remedy() const noexcept { return context_.remedy; }
    [[nodiscard]] const std::string& advice() const noexcept { return context_.advice; }

    [[nodiscard]] const std::string& where() const noexcept { return context_.where; }
    [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return context_.offset; }
    [[nodiscard]] const std::string& tensor() const noexcept { return context_.tensor; }
    [[nodiscard]] std::optional<step_number> step() const noexcept { return context_.step; }
    [[nodiscard]] std::optional<smdebug::mode> step_mode() const noexcept { return context_.step_mode; }
    [[nodiscard]] const std::string& worker() const noexcept { return context_.worker; }

private:
    std::string_view name_;
    error_context context_;
    std::size_t message_size_;
};

// What the caller can do -----------------------------------------------------------------------------------------

/// It is not there and will not appear: request something else.
class not_found : public error {
public:
    explicit not_found(const std::string& message, error_context context = {})
        : error(detail::error_name{"NotFound"}, message, std::move(context)) {}

protected:
    using error::error;
};

/// It is not there yet, or is not available now: try again later.
class unavailable : public error {
public:
    explicit unavailable(const std::string& message, error_context context = {})
        : error(detail::error_name{"Unavailable"}, message, std::move(context)) {}

protected:
    using error::error;
};

/// The bytes are damaged: this piece is lost, the rest can be read.
class corrupt_data : public error {
public:
    explicit corrupt_data(const std::string& message, error_context context = {})
        : error(detail::error_name{"CorruptData"}, message, std::move(context)) {}

protected:
    using error::error;
};

/// Access is denied.
class access_denied : public error {
public:
    explicit access_denied(const std::string& message, error_context context = {})
        : error(detail::error_name{"AccessDenied"}, message, std::move(context)) {}
};

/// Well formed, but not supported by this library or by this type.
class unsupported : public error {
public:
    explicit unsupported(const std::string& message, error_context context = {})
        : error(detail::error_name{"Unsupported"}, message, std::move(context)) {}

protected:
    using error::error;
};

/// An argument has a value that can never be right.
class invalid_argument : public error {
protected:
    using error::error;
};

// not_found ------------------------------------------------------------------------------------------------------

/// No step has this tensor.
class tensor_unavailable : public not_found {
public:
    /// `hint` is appended to the message and begins with a space.
    explicit tensor_unavailable(const std::string& tensor, const std::string& hint = {})
        : not_found(detail::error_name{"TensorUnavailable"}, "Tensor " + tensor + " was not saved." + hint,
                    {.tensor = tensor}) {}
};

/// The step is there, this tensor's value is not.
class tensor_unavailable_for_step : public not_found {
public:
    tensor_unavailable_for_step(const std::string& tensor, step_number step, smdebug::mode in,
                                bool has_reductions = false, const std::string& why = "as it was not saved.",
                                const std::string& where = {});

    [[nodiscard]] bool has_reductions() const noexcept { return has_reductions_; }

private:
    bool has_reductions_;
};

/// Neither a shape nor a value was saved.
class shape_unavailable_for_step : public not_found {
public:
    shape_unavailable_for_step(const std::string& tensor, step_number step, smdebug::mode in);
};

/// The step was not saved, and later ones were.
class step_unavailable : public not_found {
public:
    step_unavailable(step_number step, smdebug::mode in);
};

/// The job has ended before this step.
class no_more_data : public not_found {
public:
    no_more_data(step_number step, smdebug::mode in, step_number last_step);

    [[nodiscard]] step_number last_step() const noexcept { return last_step_; }

private:
    step_number last_step_;
};

/// No such worker wrote this tensor at this step.
class invalid_worker : public not_found {
public:
    explicit invalid_worker(const std::string& worker) : invalid_worker(worker, {.worker = worker}) {}
    invalid_worker(const std::string& worker, error_context context)
        : not_found(detail::error_name{"InvalidWorker"}, "Invalid Worker: " + worker, std::move(context)) {}
};

/// No collection of that name.
class collection_unavailable : public not_found {
public:
    /// `hint` is appended to the message and begins with a space.
    explicit collection_unavailable(const std::string& collection, const std::string& hint = {})
        : not_found(detail::error_name{"CollectionUnavailable"}, "Collection " + collection + " was not saved." + hint,
                    {}) {}
};

/// A folder, or a prefix in another storage, that exists but contains no run.
class no_training_run : public not_found {
public:
    no_training_run(const std::string& message, error_context context)
        : not_found(detail::error_name{"NotFound"}, message, std::move(context)) {}
};

/// The job has ended, and not every worker's collections file is there.
class missing_collection_files : public not_found {
public:
    missing_collection_files(const std::string& message, error_context context)
        : not_found(detail::error_name{"MissingCollectionFiles"}, message, std::move(context)) {}
};

// unavailable ----------------------------------------------------------------------------------------------------

/// The step may still come.
class step_not_yet_available : public unavailable {
public:
    step_not_yet_available(step_number step, smdebug::mode in);
};

/// A wait ended before the awaited step or file appeared.
class timed_out : public unavailable {
public:
    explicit timed_out(const std::string& message, error_context context = {})
        : unavailable(detail::error_name{"TimedOut"}, message, std::move(context)) {}

protected:
    timed_out(detail::error_name name, const std::string& message, error_context context)
        : unavailable(name, message, std::move(context)) {}
};

/// A wait was abandoned because the job has written nothing for a long time and has not ended either.
class stalled_error : public timed_out {
public:
    explicit stalled_error(const std::string& message, error_context context = {})
        : timed_out(detail::error_name{"Stalled"}, message, std::move(context)) {}
};

/// A wait was ended by its stop token.
class stopped_error : public unavailable {
public:
    explicit stopped_error(const std::string& message, error_context context = {})
        : unavailable(detail::error_name{"Stopped"}, message, std::move(context)) {}
};

/// Another writer holds what this one needs exclusively.
class in_use : public unavailable {
public:
    in_use(const std::string& message, error_context context)
        : unavailable(detail::error_name{"InUse"}, message, std::move(context)) {}
};

// corrupt_data ---------------------------------------------------------------------------------------------------

/// A record of an event file is damaged, or is not the one that the index names.
class corrupt_record : public corrupt_data {
public:
    corrupt_record(const std::string& message, error_context context)
        : corrupt_data(detail::error_name{"CorruptRecord"}, message, std::move(context)) {}
};

/// An index file is damaged.
class index_reader_exception : public corrupt_data {
public:
    index_reader_exception(const std::string& message, error_context context)
        : corrupt_data(detail::error_name{"IndexReaderException"}, message, std::move(context)) {}
};

/// A collections file is damaged.
class collections_file_exception : public corrupt_data {
public:
    collections_file_exception(const std::string& message, error_context context)
        : corrupt_data(detail::error_name{"CollectionsFileException"}, message, std::move(context)) {}
};

// unsupported, invalid_argument ----------------------------------------------------------------------------------

/// The dtype does not support the request: the mean of strings, the sum of complex numbers, a value<float> of ints.
class type_error : public unsupported {
public:
    explicit type_error(const std::string& message, error_context context = {})
        : unsupported(detail::error_name{"SMDebugTypeError"}, message, std::move(context)) {}
};

/// An argument that can never be right: an unknown reduction, an empty range, a bad regex.
class value_error : public invalid_argument {
public:
    explicit value_error(const std::string& message, error_context context = {})
        : invalid_argument(detail::error_name{"SMDebugValueError"}, message, std::move(context)) {}
};

/// A required parameter of a rule is missing.
class insufficient_information_for_rule_invocation : public invalid_argument {
public:
    insufficient_information_for_rule_invocation(const std::string& rule, const std::string& message);
};

/// A collection is to be saved to which no tensor can belong.
class invalid_collection_configuration : public invalid_argument {
public:
    explicit invalid_collection_configuration(const std::string& message, error_context context = {})
        : invalid_argument(detail::error_name{"InvalidCollectionConfiguration"}, message, std::move(context)) {}
};

// error ----------------------------------------------------------------------------------------------------------

/// The place where a new run should be written already contains one.
class run_exists : public error {
public:
    run_exists(const std::string& message, error_context context)
        : error(detail::error_name{"SMDebugError"}, message, std::move(context)) {}
};

// Not an error of the library; thrown only if the caller requested it ----------------------------------------------

/// A rule's condition was met, and the caller requested an exception instead of an outcome.
class rule_evaluation_condition_met : public error {
public:
    rule_evaluation_condition_met(const std::string& rule, step_number step, const std::string& details = {});

    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }

private:
    std::string rule_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/error.ipp>
#endif
