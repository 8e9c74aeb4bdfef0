// The border between C and C++: each error becomes its status, and nothing passes.
#include <c/handle.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::c;

namespace {

struct some_handle final : handle {
    static constexpr handle_kind own_kind = handle_kind::run;
    some_handle() noexcept : handle(own_kind) {}
};

// The status of what is thrown, and its words: "value_error: smd_call: ..."
template <class Thrown>
std::string outcome_of(const Thrown& thrown) {
    some_handle held;
    const smd_status status = handle::guard<some_handle>(&held, "smd_call", [&](some_handle&) { throw thrown; });
    return std::string{smd_status_name(status)} + ": " + held.message();
}

template <class... Thrown>
std::string statuses_of(const Thrown&... thrown) {
    std::string all;
    for (const std::string& each : {outcome_of(thrown)...}) {
        all += each.substr(0, each.find(": smd_call: ")) + " ";
    }
    return all;
}

}  // namespace

TEST_CASE(
    "handle::guard: every error of the library has its status, and nothing passes; no advice for C++ is in words") {
    const error_context here{.where = "file", .advice = "set trial_options::limits"};
    CHECK(outcome_of(not_found("gone", here)) == "not_found: smd_call: gone");
    CHECK(outcome_of(std::runtime_error("odd")) == "error: smd_call: odd");
    CHECK(outcome_of(7) == "error: smd_call: something was thrown that is no std::exception");
    CHECK(outcome_of(std::bad_alloc{}) == "out_of_memory: there is not enough memory");
    CHECK(statuses_of(tensor_unavailable("w"), tensor_unavailable_for_step("w", 1, mode::train),
                      step_unavailable(1, mode::train), no_more_data(1, mode::train, 0), invalid_worker("w"),
                      step_not_yet_available(1, mode::train), stopped_error("m"), buffer_too_small("m")) ==
          "tensor_unavailable tensor_unavailable_for_step step_unavailable no_more_data invalid_worker "
          "step_not_yet_available stopped buffer_too_small ");
    CHECK(statuses_of(not_found("m"), unavailable("m"), corrupt_data("m"), access_denied("m"), unsupported("m"),
                      value_error("m"), run_exists("m"), error(error_code::other, "m"),
                      rule_evaluation_condition_met("rule", 1)) ==
          "not_found unavailable corrupt_data access_denied unsupported value_error run_exists error error ");
    using enum error_code;
    const auto with_code = [&](error_code code) { return statuses_of(error(code, "m", here)); };
    CHECK(with_code(shape_unavailable_for_step) + with_code(collection_unavailable) + with_code(no_training_run) +
              with_code(missing_collection_files) ==
          "shape_unavailable_for_step collection_unavailable no_training_run missing_collection_files ");
    CHECK(with_code(timed_out) + with_code(stalled) + with_code(in_use) + with_code(corrupt_record) +
              with_code(corrupt_index) + with_code(corrupt_collections_file) ==
          "timed_out stalled in_use corrupt_record corrupt_index corrupt_collections_file ");
    CHECK(with_code(wrong_dtype) + with_code(insufficient_information) + with_code(invalid_collection_configuration) ==
          "wrong_dtype insufficient_information invalid_collection_configuration ");
}

TEST_CASE("smd_status_name, smd_version: also of what is no status") {
    CHECK(smd_status_name(SMD_OK) + std::string{" "} + smd_status_name(-1) + smd_version() == "ok unknown0.1.0");
}
