// Hooks, runs and rules for C99, and for every language that calls C: smdebug::c in CMake, smdebug-c in pkg-config.
// docs/how-to/c.md shows it, from C, Fortran and Python.
// Calls:    return a status: 0, or why they did nothing.  smd_message() has the words.
// Handles:  smd_hook_open() and smd_run_open() make one even when they fail, so that the words can be read; each is
//           freed by smd_free().  It is null only if there is no memory for it.
// Texts:    UTF-8, ending in NUL.  A text that a call returns belongs to the handle; how long it lives is said there.
// Results:  are stored where the last arguments point, if the status is SMD_OK.
// Buffers:  belong to the caller, with a capacity in elements.  If it is too small, the count that is needed is stored,
//           and nothing else; a null buffer: the same, successfully.
// Threads:  one call on a handle at a time; calls on different handles do not disturb each other.  No state is global.
// Forks:    a child cannot use its parent's hooks.
// Errors:   no C++ exception leaves a call, and none ends the program.
#ifndef SMDEBUG_SMDEBUG_H
#define SMDEBUG_SMDEBUG_H

#include <stddef.h>
#include <stdint.h>

/// The version of this interface, and part of the shared library's name: it changes when programs must be rebuilt.
#define SMDEBUG_C_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/// What became of a call.  The hundreds say what the caller can do; names and numbers are those of the C++ library's
/// error_code.
typedef int smd_status;
enum {
    SMD_OK = 0, SMD_ERROR = 1 /* none of the others */, SMD_OUT_OF_MEMORY = 2,
    /* It is not there and will not appear: request something else. */
    SMD_NOT_FOUND = 100, SMD_TENSOR_UNAVAILABLE = 101, SMD_TENSOR_UNAVAILABLE_FOR_STEP = 102,
    SMD_SHAPE_UNAVAILABLE_FOR_STEP = 103, SMD_STEP_UNAVAILABLE = 104, SMD_NO_MORE_DATA = 105, SMD_INVALID_WORKER = 106,
    SMD_COLLECTION_UNAVAILABLE = 107, SMD_NO_TRAINING_RUN = 108, SMD_MISSING_COLLECTION_FILES = 109,
    /* It is not there yet, or not now: try again later.  The last: another process writes as this worker. */
    SMD_UNAVAILABLE = 200, SMD_STEP_NOT_YET_AVAILABLE = 201, SMD_TIMED_OUT = 202, SMD_STALLED = 203, SMD_STOPPED = 204,
    SMD_IN_USE = 205,
    /* The bytes are damaged: this piece is lost, the rest can be read. */
    SMD_CORRUPT_DATA = 300, SMD_CORRUPT_RECORD = 301, SMD_CORRUPT_INDEX = 302, SMD_CORRUPT_COLLECTIONS_FILE = 303,
    SMD_ACCESS_DENIED = 400,
    /* Well formed, but not supported, as every call after smd_hook_close(); the dtype does not allow it. */
    SMD_UNSUPPORTED = 500, SMD_WRONG_DTYPE = 501,
    /* The arguments are wrong.  The last: the count that is needed is stored. */
    SMD_VALUE_ERROR = 600, SMD_INSUFFICIENT_INFORMATION = 601, SMD_INVALID_COLLECTION_CONFIGURATION = 602,
    SMD_BUFFER_TOO_SMALL = 603,
    /* The place where something new should be written is taken: choose another. */
    SMD_RUN_EXISTS = 700
};

/// Types of elements: TensorFlow's numbers, as they stand in the files.  A complex number is its real and its imaginary
/// part, a boolean a byte, 0 or 1.  Texts have a number, but are neither saved nor read by C.
typedef int smd_dtype;
enum {
    SMD_FLOAT32 = 1, SMD_FLOAT64 = 2, SMD_INT32 = 3, SMD_UINT8 = 4, SMD_INT16 = 5, SMD_INT8 = 6, SMD_STRING = 7,
    SMD_COMPLEX64 = 8, SMD_INT64 = 9, SMD_BOOLEAN = 10, SMD_BFLOAT16 = 14, SMD_UINT16 = 17, SMD_COMPLEX128 = 18,
    SMD_FLOAT16 = 19, SMD_UINT32 = 22, SMD_UINT64 = 23, SMD_FLOAT8_E5M2 = 24, SMD_FLOAT8_E4M3FN = 25
};

/// What the training is doing.  Steps are counted in each mode, and over the whole job: SMD_GLOBAL.
typedef int smd_mode;
enum { SMD_TRAIN = 1, SMD_EVAL = 2, SMD_PREDICT = 3, SMD_GLOBAL = 4 };
typedef struct smd_hook smd_hook;
typedef struct smd_run smd_run;

/// SMDEBUG_C_ABI of the library that the program runs with.
int smd_abi_version(void);
const char* smd_version(void); /* "0.1.0" */
/// The name of a status in the C++ library: "value_error". Of any other number "unknown". Lives as long as the program.
const char* smd_status_name(smd_status status);
/// The words for the last call on a handle, an smd_hook* or smd_run*: what, where, what to do; "" if it was successful.
/// Lives until the next call on the handle.  Of a null handle: a text that says that it is null.
const char* smd_message(const void* handle);
/// Frees an smd_hook* or smd_run*; null is ignored.  A hook that was not closed abandons its step, and its run can be
/// resumed, like that of a program that died.
void smd_free(void* handle);

// --- saving --------------------------------------------------------------------------------------------------------
/// Makes a hook.  `options` is its configuration in JSON (docs/how-to/write.md), or the path of a file with it; null
/// means the file that SMDEBUG_CONFIG_FILE_PATH names.  Its LocalPath says where the run goes.
smd_status smd_hook_open(const char* options, smd_hook** hook);
/// Makes a hook with what JSON lacks. `out_dir` replaces LocalPath. `worker` is this process's name, one of
/// `num_workers`, all of which write if "include_workers" is "all". `resume` says whether an existing run is continued.
/// `init_step` is the first step; if it is negative, that is 0, or where the run of a single worker continues. Texts
/// may be null.
smd_status smd_hook_open_worker(const char* options, const char* out_dir, const char* worker, int64_t num_workers,
                                int resume, int64_t init_step, smd_hook** hook);

/// The mode that the training is in; SMD_GLOBAL at first.
smd_status smd_hook_set_mode(smd_hook* hook, smd_mode mode);
/// The number of the current step in the job and in its mode; either pointer may be null.
smd_status smd_hook_step(smd_hook* hook, int64_t* step, int64_t* mode_step);
/// Sets these numbers at the beginning of a step; a negative `mode_step`: the count in the mode continues.
smd_status smd_hook_set_step(smd_hook* hook, int64_t step, int64_t mode_step);

/// Whether a tensor is wanted at this step: 1 or 0.  Cost: some nanoseconds where nothing is due.
smd_status smd_hook_should_save(smd_hook* hook, const char* name, int* wanted);
/// Saves a tensor if it is due: its values, reductions, shape or digest, as the options say.
/// `shape`: `rank` extents, outermost first; null if the rank is 0. `strides`: in elements, none of them negative, 0
/// where elements repeat; null if the elements lie in C order. `data` is the first element; null only if there are
/// none. `saved`: whether anything was saved; may be null.
smd_status smd_hook_save(smd_hook* hook, const char* name, smd_dtype dtype, int rank, const int64_t* shape,
                         const int64_t* strides, const void* data, int* saved);
/// Saves a number as "scalar/<name>" at every call, whatever the options say, as the Python package does.
smd_status smd_hook_save_scalar(smd_hook* hook, const char* name, double value);
/// Saves the digest of a tensor that is not in memory (docs/guarantees.md defines it), if one is due.  `saved` may be
/// null.  SMD_UNSUPPORTED if values or reductions of the tensor are due, too.
smd_status smd_hook_save_digest(smd_hook* hook, const char* name, int rank, const int64_t* shape, int64_t digest,
                                int* saved);
/// Ends the step, which appears as a whole.  The count advances even if the step is lost, as the status says then.
smd_status smd_hook_end_step(smd_hook* hook);
/// Abandons the step, of which nothing is written: where an iteration does not reach smd_hook_end_step().
smd_status smd_hook_abandon_step(smd_hook* hook);
/// Ends the current step if it has tensors, then the job.  Notes on what was probably meant to be saved go to standard
/// error.  A second call does nothing.
smd_status smd_hook_close(smd_hook* hook);

// --- reading -------------------------------------------------------------------------------------------------------
/// Opens the run in a folder, or a log of TensorBoard or checkpoints as a run; not in S3, and not in archives.
/// While its job is running, queries look for new steps.
smd_status smd_run_open(const char* path, smd_run** run);

/// Lists the names of tensors, sorted: those of a collection, or those that match a regex; all if both are null.
smd_status smd_run_names(smd_run* run, const char* collection, const char* regex, size_t* count);
/// A name of the last smd_run_names(); it lives until the next smd_run_names().
smd_status smd_run_name(smd_run* run, size_t index, const char** name);
/// The steps of a mode, ascending, numbered in it: those that have the tensor `name`; all complete ones if it is null.
smd_status smd_run_steps(smd_run* run, const char* name, smd_mode mode, int64_t* steps, size_t capacity, size_t* count);

// The following read a tensor at a step of a mode.  A null `worker`: the first by name that saved it.
/// The dtype of the saved values, and the shape.  A dtype of 0: there are no values, but reductions or a shape.
/// `dtype` may be null; `shape` and `rank` are a buffer and its count.  Cost: that of reading the values.
smd_status smd_run_tensor(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          smd_dtype* dtype, int64_t* shape, size_t capacity, size_t* rank);
/// The values in C order, as elements of `dtype`, converted if they have another.  SMD_WRONG_DTYPE if one does not fit.
smd_status smd_run_values(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          smd_dtype dtype, void* values, size_t capacity, size_t* count);
/// "min", "max", "mean", "std", "variance", "sum", "prod", "l1", "l2", of magnitudes "abs_mean", ...; counts: "nan",
/// "pos_inf", "neg_inf", "zeros".  As it was saved, else computed from the values.
smd_status smd_run_reduction(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                             const char* reduction, double* value);
/// The saved digest, else that of the values.
smd_status smd_run_digest(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          int64_t* digest);

// --- rules ---------------------------------------------------------------------------------------------------------
/// What a rule found.  SMD_INCOMPLETE: nothing, but a part could not be read; SMD_NOT_APPLICABLE: it judged nothing.
typedef int smd_verdict;
enum {
    SMD_IN_PROGRESS = 0, SMD_NO_ISSUES_FOUND = 1, SMD_ISSUES_FOUND = 2,
    SMD_RULE_ERROR = 3, SMD_RULE_STOPPED = 4, SMD_INCOMPLETE = 5, SMD_NOT_APPLICABLE = 6
};

/// A rule's result over the run.
typedef struct smd_result {
    const char* rule;
    const char* details; /* the first finding, why it ended, what it did not judge */
    smd_verdict verdict;
    size_t findings;
    size_t steps;   /* at which it was evaluated */
    size_t tensors; /* that it had to judge */
    size_t unread;  /* of these, that could not be read */
} smd_result;

/// A rule's condition was met.
typedef struct smd_finding {
    const char* tensor; /* "": none */
    const char* worker; /* "": none */
    const char* message;
    int64_t step; /* global */
    int64_t mode_step;
    smd_mode mode;
    double value;     /* what was compared; NaN: no number */
    double threshold; /* with what; NaN: no number */
} smd_finding;

/// Evaluates rules over the complete steps that there are; a running job is not waited for.
/// `rules`: the name of a built-in rule; or rules and their parameters as a JSON list,
/// [{"rule": "vanishing_gradient", "parameters": {"threshold": 1e-6}}]; null means every rule that has something to
/// judge. `count`: a result for each rule, in their order.
smd_status smd_run_check(smd_run* run, const char* rules, size_t* count);
/// A result of the last smd_run_check(); its texts live until the next smd_run_check().
smd_status smd_run_result(smd_run* run, size_t index, smd_result* result);
/// A finding of a result, in the order of the steps; its texts live as long.
smd_status smd_run_finding(smd_run* run, size_t result, size_t index, smd_finding* finding);

#ifdef __cplusplus
}
#endif
#endif
