#include <smdebug/trial/lookup.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("lookup: a value, or why there is none") {
    const lookup<int> there{3};
    REQUIRE(there.has_value());
    CHECK(*there == 3);
    const lookup<int> missing{lookup_failure_kind::step_not_saved};
    CHECK_FALSE(missing);
    CHECK(missing.error().why == lookup_failure_kind::step_not_saved);
}

TEST_CASE("lookup: value() and value_or(), of variables and of temporaries") {
    lookup<std::string> there{std::string{"a"}};
    const lookup<std::string>& seen = there;
    CHECK(seen.value() == "a");
    there.value() += "b";
    there->push_back('c');
    CHECK(seen.value_or("other") == "abc");
    CHECK(std::move(there).value() == "abc");
    CHECK(lookup<std::string>{std::string{"d"}}.value_or("other") == "d");

    const lookup<std::string> missing{lookup_error{.why = lookup_failure_kind::step_not_saved, .step = 7}};
    CHECK(missing.value_or("other") == "other");
    CHECK(lookup<double>{lookup_failure_kind::step_not_saved}.value_or(1) == 1.0);
    CHECK_THROWS_AS(static_cast<void>(missing.value()), step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(lookup<int>{lookup_failure_kind::no_such_worker}.value()), invalid_worker);
}

TEST_CASE("lookup: each absence is thrown as the error that the Python package has for it") {
    const auto thrown = [](const smdebug::lookup_error& failure) {
        try {
            throw_failure(failure, "t", 4, mode::train);
        } catch (const error& what) {
            return std::string{what.python_name()};
        }
    };
    CHECK(thrown({.why = lookup_failure_kind::tensor_not_saved}) == "TensorUnavailableForStep");
    CHECK(thrown({.why = lookup_failure_kind::event_file_missing, .where = "e"}) == "TensorUnavailableForStep");
    CHECK(thrown({.why = lookup_failure_kind::step_not_saved}) == "StepUnavailable");
    CHECK(thrown({.why = lookup_failure_kind::step_not_yet_available}) == "StepNotYetAvailable");
    CHECK(thrown({.why = lookup_failure_kind::no_such_worker, .where = "w"}) == "InvalidWorker");
    CHECK(thrown({.why = lookup_failure_kind::shape_not_saved}) == "ShapeUnavailableForStep");
    CHECK(thrown({.why = lookup_failure_kind::damaged, .where = "e"}) == "CorruptRecord");
    CHECK(thrown({.why = lookup_failure_kind::unreadable, .note = "n"}) == "Unavailable");
    CHECK(thrown({.why = lookup_failure_kind::wrong_dtype, .note = "n"}) == "SMDebugTypeError");
    CHECK(thrown({.why = lookup_failure_kind::not_computed, .note = "n"}) == "Unsupported");
}

TEST_CASE("lookup: a failure's message is that of the thrown error") {
    const auto cause = std::make_exception_ptr(access_denied("no key", {.where = "bucket"}));
    for (const smdebug::lookup_error& failure :
         {smdebug::lookup_error{.why = lookup_failure_kind::tensor_not_saved, .has_reductions = true},
          {.why = lookup_failure_kind::event_file_missing, .where = "e"},
          {.why = lookup_failure_kind::step_not_saved},
          {.why = lookup_failure_kind::step_not_yet_available},
          {.why = lookup_failure_kind::no_such_worker, .where = "w"},
          {.why = lookup_failure_kind::shape_not_saved},
          {.why = lookup_failure_kind::damaged, .damage = status::truncated, .offset = 3, .where = "e"},
          {.why = lookup_failure_kind::unreadable, .note = "n"},
          {.why = lookup_failure_kind::unreadable, .cause = cause},
          {.why = lookup_failure_kind::wrong_dtype, .note = "n"},
          {.why = lookup_failure_kind::not_computed, .note = "n"}}) {
        const error thrown = smdebug_test::caught<error>([&] { throw_failure(failure, "t", 4, mode::train); });
        CHECK(smdebug::detail::what_of(failure, "t", 4, mode::train) == thrown.what());
    }
}

TEST_CASE("lookup_error: message() is the message of the error that is thrown") {
    const auto cause = std::make_exception_ptr(access_denied("no key", {.where = "bucket"}));
    for (const lookup_failure_kind why :
         {lookup_failure_kind::tensor_not_saved, lookup_failure_kind::event_file_missing,
          lookup_failure_kind::step_not_saved, lookup_failure_kind::step_not_yet_available,
          lookup_failure_kind::no_such_worker, lookup_failure_kind::shape_not_saved, lookup_failure_kind::damaged,
          lookup_failure_kind::unreadable, lookup_failure_kind::wrong_dtype, lookup_failure_kind::not_computed}) {
        for (const std::exception_ptr& of_storage : {std::exception_ptr{}, cause}) {
            const lookup_error failure{.why = why,
                                       .where = "w",
                                       .note = "n",
                                       .cause = of_storage,
                                       .tensor = "t",
                                       .step = 4,
                                       .step_mode = mode::train};
            const error thrown = smdebug_test::caught<error>([&] { throw_failure(failure); });
            CHECK(failure.message() == thrown.message());
        }
    }
}

TEST_CASE("lookup: a damaged record names file, byte, tensor, step, the defect, and what is not lost") {
    const corrupt_data thrown = smdebug_test::caught<corrupt_data>([&] {
        throw_failure({.why = lookup_failure_kind::damaged,
                       .damage = status::bad_length_checksum,
                       .offset = 8192,
                       .where = "events/000000000004/000000000004_worker_0.tfevents"},
                      "loss", 4, mode::global);
    });
    CHECK(thrown.code() == error_code::corrupt_record);
    CHECK(thrown.offset() == 8192);
    CHECK(thrown.where() == "events/000000000004/000000000004_worker_0.tfevents");
    CHECK(thrown.tensor() == "loss");
    CHECK(thrown.step() == 4);
    CHECK(std::string{thrown.what()} ==
          "CorruptRecord: events/000000000004/000000000004_worker_0.tfevents, record at byte 8192: the checksum of "
          "the "
          "record's length does not match. Tensor loss of step 4 (GLOBAL) cannot be read; everything else of the run "
          "still can.");
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
    CHECK(agree({.why = lookup_failure_kind::event_file_missing, .where = "e"}));
    CHECK(agree({.why = lookup_failure_kind::unreadable, .note = "no"}));
    CHECK(agree({.why = lookup_failure_kind::damaged, .where = "e"}));
    CHECK(is_lost(smdebug::lookup_error{.why = lookup_failure_kind::shape_not_saved, .where = "e"}));
    for (const lookup_failure_kind why :
         {lookup_failure_kind::tensor_not_saved, lookup_failure_kind::step_not_saved,
          lookup_failure_kind::step_not_yet_available, lookup_failure_kind::no_such_worker,
          lookup_failure_kind::shape_not_saved, lookup_failure_kind::wrong_dtype, lookup_failure_kind::not_computed}) {
        CHECK_FALSE(agree({.why = why}));
    }
    CHECK(is_lost(access_denied("no")));
    CHECK_FALSE(is_lost(unavailable(error_code::timed_out, "no")));
    CHECK_FALSE(is_lost(stopped_error("no")));
}
