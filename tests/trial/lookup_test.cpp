#include <smdebug/trial/lookup.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <string>

using namespace smdebug;

TEST_CASE("lookup: a value, or why there is none") {
    const lookup<int> there{3};
    REQUIRE(there.has_value());
    CHECK(*there == 3);
    const lookup<int> missing{absence::step_not_saved};
    CHECK_FALSE(missing);
    CHECK(missing.failure().why == absence::step_not_saved);
}

TEST_CASE("lookup: each absence is thrown as the error that the Python package has for it") {
    const auto thrown = [](const smdebug::lookup_error& failure) {
        try {
            throw_failure(failure, "t", 4, mode::train);
        } catch (const error& what) {
            return std::string{what.python_name()};
        }
    };
    CHECK(thrown({.why = absence::tensor_not_saved}) == "TensorUnavailableForStep");
    CHECK(thrown({.why = absence::event_file_missing, .where = "e"}) == "TensorUnavailableForStep");
    CHECK(thrown({.why = absence::step_not_saved}) == "StepUnavailable");
    CHECK(thrown({.why = absence::step_not_yet_available}) == "StepNotYetAvailable");
    CHECK(thrown({.why = absence::no_such_worker, .where = "w"}) == "InvalidWorker");
    CHECK(thrown({.why = absence::shape_not_saved}) == "ShapeUnavailableForStep");
    CHECK(thrown({.why = absence::damaged, .where = "e"}) == "CorruptRecord");
    CHECK(thrown({.why = absence::unreadable, .note = "n"}) == "Unavailable");
    CHECK(thrown({.why = absence::wrong_dtype, .note = "n"}) == "SMDebugTypeError");
    CHECK(thrown({.why = absence::not_computed, .note = "n"}) == "Unsupported");
}

TEST_CASE("lookup: a failure's message is that of the thrown error") {
    const auto cause = std::make_exception_ptr(access_denied("no key", {.where = "bucket"}));
    for (const smdebug::lookup_error& failure :
         {smdebug::lookup_error{.why = absence::tensor_not_saved, .has_reductions = true},
          {.why = absence::event_file_missing, .where = "e"},
          {.why = absence::step_not_saved},
          {.why = absence::step_not_yet_available},
          {.why = absence::no_such_worker, .where = "w"},
          {.why = absence::shape_not_saved},
          {.why = absence::damaged, .damage = status::truncated, .offset = 3, .where = "e"},
          {.why = absence::unreadable, .note = "n"},
          {.why = absence::unreadable, .cause = cause},
          {.why = absence::wrong_dtype, .note = "n"},
          {.why = absence::not_computed, .note = "n"}}) {
        try {
            throw_failure(failure, "t", 4, mode::train);
        } catch (const error& thrown) {
            CHECK(smdebug::detail::to_message(failure, "t", 4, mode::train) == thrown.what());
        }
    }
}

TEST_CASE("lookup_error: message() is the message of the error that is thrown") {
    const auto cause = std::make_exception_ptr(access_denied("no key", {.where = "bucket"}));
    for (const absence why : {absence::tensor_not_saved, absence::event_file_missing, absence::step_not_saved,
                              absence::step_not_yet_available, absence::no_such_worker, absence::shape_not_saved,
                              absence::damaged, absence::unreadable, absence::wrong_dtype, absence::not_computed}) {
        for (const std::exception_ptr& of_storage : {std::exception_ptr{}, cause}) {
            const lookup_error failure{.why = why,
                                       .where = "w",
                                       .note = "n",
                                       .cause = of_storage,
                                       .tensor = "t",
                                       .step = 4,
                                       .step_mode = mode::train};
            try {
                throw_failure(failure);
            } catch (const error& thrown) {
                CHECK(failure.message() == thrown.message());
            }
        }
    }
}

TEST_CASE("lookup: a damaged record names file, byte, tensor, step, the defect, and what is not lost") {
    try {
        throw_failure({.why = absence::damaged,
                       .damage = status::bad_length_checksum,
                       .offset = 8192,
                       .where = "events/000000000004/000000000004_worker_0.tfevents"},
                      "loss", 4, mode::global);
    } catch (const corrupt_record& thrown) {
        CHECK(thrown.offset() == 8192);
        CHECK(thrown.where() == "events/000000000004/000000000004_worker_0.tfevents");
        CHECK(thrown.tensor() == "loss");
        CHECK(thrown.step() == 4);
        CHECK(
            std::string{thrown.what()} ==
            "CorruptRecord: events/000000000004/000000000004_worker_0.tfevents, record at byte 8192: the checksum of "
            "the "
            "record's length does not match. Tensor loss of step 4 (GLOBAL) cannot be read; everything else of the run "
            "still can.");
    }
}

TEST_CASE("lookup: unreadable data that the index promises are lost; data that were not saved are not") {
    const auto agree = [](const smdebug::lookup_error& failure) {
        try {
            throw_failure(failure, "t", 4, mode::train);
        } catch (const error& what) {
            CHECK(is_lost(what) == is_lost(failure));
        }
        return is_lost(failure);
    };
    CHECK(agree({.why = absence::event_file_missing, .where = "e"}));
    CHECK(agree({.why = absence::unreadable, .note = "no"}));
    CHECK(agree({.why = absence::damaged, .where = "e"}));
    CHECK(is_lost(smdebug::lookup_error{.why = absence::shape_not_saved, .where = "e"}));
    for (const absence why :
         {absence::tensor_not_saved, absence::step_not_saved, absence::step_not_yet_available, absence::no_such_worker,
          absence::shape_not_saved, absence::wrong_dtype, absence::not_computed}) {
        CHECK_FALSE(agree({.why = why}));
    }
    CHECK(is_lost(access_denied("no")));
    CHECK_FALSE(is_lost(timed_out("no")));
    CHECK_FALSE(is_lost(stopped("no")));
}
