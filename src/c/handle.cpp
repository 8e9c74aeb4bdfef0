#include <c/handle.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>

namespace smdebug::inline v1::c {

namespace {

struct status_row {
    smd_status status;
    const char* name;
    bool (*matches)(const error&);
};

template <class E>
bool is(const error& thrown) {
    return dynamic_cast<const E*>(&thrown) != nullptr;
}

// What derives from another stands above it; the one without a test is any error.
constexpr std::array<status_row, 32> statuses{{
    {SMD_TENSOR_UNAVAILABLE, "tensor_unavailable", is<tensor_unavailable>},
    {SMD_TENSOR_UNAVAILABLE_FOR_STEP, "tensor_unavailable_for_step", is<tensor_unavailable_for_step>},
    {SMD_SHAPE_UNAVAILABLE_FOR_STEP, "shape_unavailable_for_step", is<shape_unavailable_for_step>},
    {SMD_STEP_UNAVAILABLE, "step_unavailable", is<step_unavailable>},
    {SMD_NO_MORE_DATA, "no_more_data", is<no_more_data>},
    {SMD_INVALID_WORKER, "invalid_worker", is<invalid_worker>},
    {SMD_COLLECTION_UNAVAILABLE, "collection_unavailable", is<collection_unavailable>},
    {SMD_NO_TRAINING_RUN, "no_training_run", is<no_training_run>},
    {SMD_MISSING_COLLECTION_FILES, "missing_collection_files", is<missing_collection_files>},
    {SMD_NOT_FOUND, "not_found", is<not_found>},
    {SMD_STEP_NOT_YET_AVAILABLE, "step_not_yet_available", is<step_not_yet_available>},
    {SMD_STALLED, "stalled", is<stalled_error>},
    {SMD_TIMED_OUT, "timed_out", is<timed_out>},
    {SMD_STOPPED, "stopped", is<stopped_error>},
    {SMD_IN_USE, "in_use", is<in_use>},
    {SMD_UNAVAILABLE, "unavailable", is<unavailable>},
    {SMD_CORRUPT_RECORD, "corrupt_record", is<corrupt_record>},
    {SMD_INDEX_READER_EXCEPTION, "index_reader_exception", is<index_reader_exception>},
    {SMD_COLLECTIONS_FILE_EXCEPTION, "collections_file_exception", is<collections_file_exception>},
    {SMD_CORRUPT_DATA, "corrupt_data", is<corrupt_data>},
    {SMD_ACCESS_DENIED, "access_denied", is<access_denied>},
    {SMD_TYPE_ERROR, "type_error", is<type_error>},
    {SMD_UNSUPPORTED, "unsupported", is<unsupported>},
    {SMD_VALUE_ERROR, "value_error", is<value_error>},
    {SMD_INSUFFICIENT_INFORMATION_FOR_RULE_INVOCATION, "insufficient_information_for_rule_invocation",
     is<insufficient_information_for_rule_invocation>},
    {SMD_INVALID_COLLECTION_CONFIGURATION, "invalid_collection_configuration", is<invalid_collection_configuration>},
    {SMD_BUFFER_TOO_SMALL, "buffer_too_small", is<buffer_too_small>},
    {SMD_INVALID_ARGUMENT, "invalid_argument", is<invalid_argument>},
    {SMD_RUN_EXISTS, "run_exists", is<run_exists>},
    {SMD_ERROR, "error", nullptr},
    {SMD_OK, "ok", nullptr},
    {SMD_OUT_OF_MEMORY, "out_of_memory", nullptr},
}};

smd_status status_of(const error& thrown) noexcept {
    return std::find_if(statuses.begin(), statuses.end(),
                        [&](const auto& row) { return row.matches == nullptr || row.matches(thrown); })
        ->status;
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
