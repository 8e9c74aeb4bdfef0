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
                      shape_unavailable_for_step("w", 1, mode::train), step_unavailable(1, mode::train),
                      no_more_data(1, mode::train, 0), invalid_worker("w"), collection_unavailable("c"),
                      no_training_run("m", here), missing_collection_files("m", here)) ==
          "tensor_unavailable tensor_unavailable_for_step shape_unavailable_for_step step_unavailable no_more_data "
          "invalid_worker collection_unavailable no_training_run missing_collection_files ");
    CHECK(statuses_of(unavailable("m"), step_not_yet_available(1, mode::train), timed_out("m"), stalled_error("m"),
                      stopped_error("m"), in_use("m", here), corrupt_data("m"), corrupt_record("m", here),
                      index_reader_exception("m", here), collections_file_exception("m", here)) ==
          "unavailable step_not_yet_available timed_out stalled stopped in_use corrupt_data corrupt_record "
          "index_reader_exception collections_file_exception ");
    CHECK(statuses_of(access_denied("m"), unsupported("m"), type_error("m"), value_error("m"),
                      insufficient_information_for_rule_invocation("r", "m"), invalid_collection_configuration("m"),
                      buffer_too_small("m"), run_exists("m", here), error(smdebug::detail::error_name{"E"}, "m")) ==
          "access_denied unsupported type_error value_error insufficient_information_for_rule_invocation "
          "invalid_collection_configuration buffer_too_small run_exists error ");
}

TEST_CASE("smd_status_name, smd_version: also of what is no status") {
    CHECK(smd_status_name(SMD_OK) + std::string{" "} + smd_status_name(-1) + smd_version() == "ok unknown0.1.0");
}
