#include <c/handle.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>

namespace smdebug::inline v1::c {

namespace {

struct status_name {
    smd_status status;
    const char* name;
};

// The numbers of error_code are statuses, but for what a rule throws on request.
constexpr std::array<status_name, 31> statuses{{
    {SMD_ERROR, "error"},
    {SMD_NOT_FOUND, "not_found"},
    {SMD_TENSOR_UNAVAILABLE, "tensor_unavailable"},
    {SMD_TENSOR_UNAVAILABLE_FOR_STEP, "tensor_unavailable_for_step"},
    {SMD_SHAPE_UNAVAILABLE_FOR_STEP, "shape_unavailable_for_step"},
    {SMD_STEP_UNAVAILABLE, "step_unavailable"},
    {SMD_NO_MORE_DATA, "no_more_data"},
    {SMD_INVALID_WORKER, "invalid_worker"},
    {SMD_COLLECTION_UNAVAILABLE, "collection_unavailable"},
    {SMD_NO_TRAINING_RUN, "no_training_run"},
    {SMD_MISSING_COLLECTION_FILES, "missing_collection_files"},
    {SMD_UNAVAILABLE, "unavailable"},
    {SMD_STEP_NOT_YET_AVAILABLE, "step_not_yet_available"},
    {SMD_TIMED_OUT, "timed_out"},
    {SMD_STALLED, "stalled"},
    {SMD_STOPPED, "stopped"},
    {SMD_IN_USE, "in_use"},
    {SMD_CORRUPT_DATA, "corrupt_data"},
    {SMD_CORRUPT_RECORD, "corrupt_record"},
    {SMD_CORRUPT_INDEX, "corrupt_index"},
    {SMD_CORRUPT_COLLECTIONS_FILE, "corrupt_collections_file"},
    {SMD_ACCESS_DENIED, "access_denied"},
    {SMD_UNSUPPORTED, "unsupported"},
    {SMD_WRONG_DTYPE, "wrong_dtype"},
    {SMD_VALUE_ERROR, "value_error"},
    {SMD_INSUFFICIENT_INFORMATION, "insufficient_information"},
    {SMD_INVALID_COLLECTION_CONFIGURATION, "invalid_collection_configuration"},
    {SMD_RUN_EXISTS, "run_exists"},
    {SMD_BUFFER_TOO_SMALL, "buffer_too_small"},
    {SMD_OK, "ok"},
    {SMD_OUT_OF_MEMORY, "out_of_memory"},
}};

smd_status status_of(const error& thrown) noexcept {
    if (dynamic_cast<const buffer_too_small*>(&thrown) != nullptr) {
        return SMD_BUFFER_TOO_SMALL;
    }
    return thrown.code() == error_code::rule_evaluation_condition_met ? SMD_ERROR
                                                                      : static_cast<smd_status>(thrown.code());
}

}  // namespace

smd_status handle::fail(const char* function) noexcept {
    try {
        try {
            throw;
        } catch (const error& thrown) {  // without its advice, which names options of C++
            words_.assign(function).append(": ").append(thrown.message());
            message_ = words_.c_str();
            return status_of(thrown);
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& thrown) {
            words_.assign(function).append(": ").append(thrown.what());
        } catch (...) {
            words_.assign(function).append(": something was thrown that is no std::exception");
        }
        message_ = words_.c_str();
        return SMD_ERROR;
    } catch (...) {
        message_ = "there is not enough memory";
        return SMD_OUT_OF_MEMORY;
    }
}

std::string_view text(const char* given, const char* name) {
    if (given == nullptr) {
        throw value_error(std::string{name} + " is null: it must be a text");
    }
    return given;
}

mode mode_of(smd_mode given) {
    if (given < SMD_TRAIN || given > SMD_GLOBAL) {
        throw value_error("there is no mode " + std::to_string(given) +
                          ": it must be one of SMD_TRAIN (1) to SMD_GLOBAL (4)");
    }
    return static_cast<mode>(given);
}

dtype dtype_of(smd_dtype given) {
    const dtype type = given < 0 ? dtype::invalid : dtype_from_code(static_cast<unsigned>(given));
    if (type == dtype::invalid) {
        throw value_error("there is no dtype " + std::to_string(given) +
                          ": it must be one of smdebug.h, such as SMD_FLOAT32 (1) or SMD_FLOAT64 (2)");
    }
    if (type == dtype::string) {
        throw unsupported("texts are not passed to C, and not taken from it");
    }
    return type;
}

void refuse(handle_kind wanted) {
    throw value_error(wanted == handle_kind::hook ? "the handle is an smd_run*, and must be an smd_hook*"
                                                  : "the handle is an smd_hook*, and must be an smd_run*");
}

bool is_json(std::string_view given) noexcept {
    const std::size_t begin = given.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && (given[begin] == '{' || given[begin] == '[');
}

void refuse_unopened() {
    throw value_error("it is not open: the call that made this handle failed, see the status that it returned");
}

}  // namespace smdebug::inline v1::c

using namespace smdebug::c;

int smd_abi_version(void) { return SMDEBUG_C_ABI; }

const char* smd_version(void) { return SMDEBUG_VERSION_TEXT; }

const char* smd_status_name(smd_status status) {
    const auto row =
        std::find_if(statuses.begin(), statuses.end(), [&](const auto& each) { return each.status == status; });
    return row != statuses.end() ? row->name : "unknown";
}

const char* smd_message(const void* handle) {
    return handle == nullptr ? "the handle is null: it must be one that smd_hook_open() or smd_run_open() has made"
                             : static_cast<const smdebug::c::handle*>(handle)->message();
}

void smd_free(void* handle) { delete static_cast<smdebug::c::handle*>(handle); }
