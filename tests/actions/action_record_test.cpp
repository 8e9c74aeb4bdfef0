#include <smdebug/actions/status_file.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::actions;
using records = std::vector<action_record>;
using problems = std::vector<std::string>;

TEST_CASE("parse_actions: an object is one action, a list several") {
    const auto one = parse_actions(R"({"name": "stoptraining", "training_job_prefix": "job-1"})");
    CHECK(one.actions == records{stop_training{"job-1"}});
    CHECK(one.problems.empty());
    const auto all = parse_actions(R"([{"name": "email", "endpoint": "a@b.cd"}, {"name": "sms", "endpoint": "+1234"},
                                       {"name": "stoptraining", "training_job_prefix": "x"}])");
    CHECK(all.actions == records{email{"a@b.cd"}, sms{"+1234"}, stop_training{"x"}});
    CHECK(all.problems.empty());
    CHECK(name_of(all.actions[0]) == "email");
    CHECK(name_of(all.actions[1]) == "sms");
    CHECK(name_of(all.actions[2]) == "stoptraining");
    CHECK(parse_actions("[]").actions.empty());
}

TEST_CASE("parse_actions: values keep the case of their letters, which does not matter in names and keys") {
    CHECK(parse_actions(R"({"Name": "StopTraining", "Training_Job_Prefix": "MyJob"})").actions ==
          records{stop_training{"MyJob"}});
    CHECK(parse_actions(R"({"name": "EMAIL", "endpoint": "Who@Example.com"})").actions ==
          records{email{"Who@Example.com"}});
}

TEST_CASE("parse_actions: quotes may be escaped, as the service's builder does, and all may be a string of JSON") {
    CHECK(parse_actions(R"({\"name\": \"sms\", \"endpoint\": \"+12\"})").actions == records{sms{"+12"}});
    CHECK(parse_actions(R"([{\"name\": \"sms\", \"endpoint\": \"a\\\"b\"}])").actions == records{sms{"a\"b"}});
    CHECK(parse_actions(R"("{\"name\": \"sms\", \"endpoint\": \"+12\"}")").actions == records{sms{"+12"}});
}

TEST_CASE("parse_actions: nothing, blanks and None are no actions") {
    for (const char* text : {"", "  \n", "None", " None "}) {
        const auto none = parse_actions(text);
        CHECK(none.actions.empty());
        CHECK(none.problems.empty());
    }
}

TEST_CASE("parse_actions: an entry that cannot be is left out, and the others stay") {
    const auto found = parse_actions(R"([{"name": "fax", "endpoint": "1"}, {"name": "email"}, 7, {"endpoint": "x"},
                                         {"name": "stoptraining", "training_job_prefix": null},
                                         {"name": "sms", "endpoint": ""}, {"name": "sms", "endpoint": 12},
                                         {"name": 3}, {"name": "sms", "endpoint": "+1"}])");
    CHECK(found.actions == records{sms{"+1"}});
    CHECK(found.problems ==
          problems{"Action 1 is left out: there is no action \"fax\"; there are: stoptraining, email, sms.",
                   "Action 2 is left out: email needs a text as its \"endpoint\".",
                   "Action 3 is left out: it is not an object.", "Action 4 is left out: it has no \"name\".",
                   "Action 5 is left out: stoptraining needs a text as its \"training_job_prefix\".",
                   "Action 6 is left out: sms needs a text as its \"endpoint\".",
                   "Action 7 is left out: sms needs a text as its \"endpoint\".",
                   "Action 8 is left out: it has no \"name\"."});
}

TEST_CASE("parse_actions: what is neither an object nor a list is a problem; what is not JSON an error") {
    for (const char* text : {"7", "null", "true", "\"sms\"", "\"7\""}) {
        const auto found = parse_actions(text);
        CHECK(found.actions.empty());
        CHECK(found.problems == problems{"The actions are neither an object nor a list: there are none."});
    }
    for (const char* text : {"{", "{name: sms}", "[{}", "{\"name\": \"sms\"} x", "\\", "\xFF"}) {
        CHECK_THROWS_AS(static_cast<void>(parse_actions(text)), value_error);
    }
    const std::string long_text = "{" + std::string(1000, 'x');
    const value_error refused = smdebug_test::caught<value_error>([&] { return parse_actions(long_text); });
    CHECK(refused.message() == "The actions are not valid JSON: " + long_text.substr(0, 200) + "...");
}
