// The errors that the library throws: one root, a class for each thing that a caller can do about them, and the Python
// package's exceptions that have fields. What exactly happened is a code; the fields say where.
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

/// What exactly went wrong, for callers that treat one error of a class differently from the others. The hundreds are
/// the classes below; the numbers are those of the C library's smd_status. Comments of the library name an error by the
/// most exact of class and code.
enum class error_code : std::uint16_t {
    other = 1,  ///< of class error itself

    not_found = 100,
    tensor_unavailable = 101,
    tensor_unavailable_for_step = 102,
    shape_unavailable_for_step = 103,  ///< neither a shape nor a value was saved
    step_unavailable = 104,
    no_more_data = 105,
    invalid_worker = 106,
    collection_unavailable = 107,    ///< the run has no collection of that name
    no_training_run = 108,           ///< a folder, or a prefix in another storage, that exists but contains no run
    missing_collection_files = 109,  ///< the job has ended, and not every worker's collections file is there

    unavailable = 200,
    step_not_yet_available = 201,
    timed_out = 202,  ///< a wait ended before the awaited step or file appeared
    stalled = 203,    ///< a wait was abandoned: the job has written nothing for long, and has not ended either
    stopped = 204,    ///< ended by its stop token
    in_use = 205,     ///< another writer holds what this one needs exclusively

    corrupt_data = 300,
    corrupt_record = 301,            ///< a record of an event file is damaged, or is not the one that the index names
    corrupt_index = 302,             ///< an index file is damaged
    corrupt_collections_file = 303,  ///< a collections file is damaged

    access_denied = 400,

    unsupported = 500,
    wrong_dtype = 501,  ///< the dtype does not allow it: the mean of strings, a complex sum, an int read as a float

    value_error = 600,                       ///< an unknown reduction, an empty range, a bad regex
    insufficient_information = 601,          ///< a required parameter of a rule is missing
    invalid_collection_configuration = 602,  ///< a collection is to be saved to which no tensor can belong

    run_exists = 700,

    rule_evaluation_condition_met = 800,
};

/// The Python package's name of an error, or the closest word if Python has none: what() begins with it.
[[nodiscard]] std::string_view python_name_of(error_code code) noexcept;

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

/// The root. what() reads "<python name>: <sentence>". Characters of names and foreign texts that are not printable are
/// escaped in it, so it is safe to show, and a NUL byte does not cut it. The fields hold the texts unchanged.
class error : public std::runtime_error {
public:
    error(error_code code, const std::string& message, error_context context = {});

    [[nodiscard]] error_code code() const noexcept { return code_; }
    /// As python_name_of(code()). Lives as long as the program.
    [[nodiscard]] std::string_view python_name() const noexcept { return python_name_of(code_); }
    /// what() without the name, and without the advice that may stand at its end.
    [[nodiscard]] std::string_view message() const noexcept {
        return std::string_view{what()}.substr(python_name().size() + 2, message_size_);
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
    error_code code_;
    error_context context_;
    std::size_t message_size_;
};

// What the caller can do. A constructor with a code takes one of the hundred of its class. -------------------------

/// It is not there and will not appear: request something else.
class not_found : public error {
public:
    using error::error;
    explicit not_found(const std::string& message, error_context context = {})
        : error(error_code::not_found, message, std::move(context)) {}
};

/// It is not there yet, or is not available now: try again later.
class unavailable : public error {
public:
    using error::error;
    explicit unavailable(const std::string& message, error_context context = {})
        : error(error_code::unavailable, message, std::move(context)) {}
};

/// The bytes are damaged: this piece is lost, the rest can be read.
class corrupt_data : public error {
public:
    using error::error;
    explicit corrupt_data(const std::string& message, error_context context = {})
        : error(error_code::corrupt_data, message, std::move(context)) {}
};

/// Access is denied: it needs other rights or keys.
class access_denied : public error {
public:
    using error::error;
    explicit access_denied(const std::string& message, error_context context = {})
        : error(error_code::access_denied, message, std::move(context)) {}
};

/// Well formed, but not supported by this library or by this type.
class unsupported : public error {
public:
    using error::error;
    explicit unsupported(const std::string& message, error_context context = {})
        : error(error_code::unsupported, message, std::move(context)) {}
};

/// An argument has a value that can never be right: change the call.
class value_error : public error {
public:
    using error::error;
    explicit value_error(const std::string& message, error_context context = {})
        : error(error_code::value_error, message, std::move(context)) {}
};

/// The place where something new should be written is taken: choose another, or have it replaced.
class run_exists : public error {
public:
    using error::error;
    explicit run_exists(const std::string& message, error_context context = {})
        : error(error_code::run_exists, message, std::move(context)) {}
};

/// A wait, or a longer job, was ended by its stop token: the caller's own wish, which most catch apart.
class stopped_error : public unavailable {
public:
    explicit stopped_error(const std::string& message, error_context context = {})
        : unavailable(error_code::stopped, message, std::move(context)) {}
};

// The Python package's exceptions with fields ----------------------------------------------------------------------

/// No step has this tensor.
class tensor_unavailable : public not_found {
public:
    /// `hint` is appended to the message and begins with a space.
    explicit tensor_unavailable(const std::string& tensor, const std::string& hint = {})
        : not_found(error_code::tensor_unavailable, "Tensor " + tensor + " was not saved." + hint, {.tensor = tensor}) {
    }
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
        : not_found(error_code::invalid_worker, "Invalid Worker: " + worker, std::move(context)) {}
};

/// The step may still come.
class step_not_yet_available : public unavailable {
public:
    step_not_yet_available(step_number step, smdebug::mode in);
};

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
