#include <smdebug/learn/facts/facts_json.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::learn;

namespace {

std::string json_of(const all_facts& facts) {
    std::string text;
    write_json(facts, [&](std::string_view piece) { text.append(piece); });
    return text;
}

// As `smdebug learn` writes it: two runs, one tensor with every fact.
const std::string_view example = R"({
 "format": "smdebug learned",
 "modes": {
  "TRAIN": {"last": 1960, "runs": 2}
 },
 "reductions": ["abs_max", "l2", "zeros"],
 "runs": [
  "runs/a",
  "runs/b"
 ],
 "suspects": ["runs/b"],
 "tensors": {
  "fc1.weight": {
   "TRAIN": {
    "changing": 98,
    "constant": 0,
    "dtype": ["bfloat16", "float32"],
    "every": {"saves": 1, "steps": 40},
    "finite": 100,
    "nonnegative": 2,
    "nonpositive": 0,
    "numbers": {
     "l2": {
      "down": 0.8,
      "runs": 2,
      "up": 0.4,
      "widen": 3,
      "windows": [
       {"from": 0, "high": [[7.9,0],[7.2,1]], "low": [[7.2,1],[7.9,0]], "runs": 2},
       {"from": 10, "high": [[7.5,0]], "low": [[7.5,0]], "runs": 1}
      ]
     }
    },
    "replicas": 0,
    "runs": 2,
    "shape": [64, null]
   }
  }
 },
 "tied": [
  {
   "saves": 100,
   "tensors": ["embedding.weight", "lm_head.weight"]
  }
 ],
 "version": 1
}
)";

/// The example with one text in place of another.
std::string with(std::string_view from, std::string_view to) {
    std::string text{example};
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string refusal_of(const std::string& text) {
    return smdebug_test::message_of<value_error>([&] { return facts_from_json(text, "normal.json"); }, "taken");
}

}  // namespace

TEST_CASE("learned file: what is written is read back, and written again alike") {
    const all_facts facts = facts_from_json(example, "normal.json");
    CHECK(facts.runs.size() == 2);
    CHECK(facts.suspects == std::vector<std::string>{"runs/b"});
    const entry_facts* const entry = facts.find("fc1.weight", mode::train);
    REQUIRE(entry != nullptr);
    CHECK(entry->changing == 98U);
    CHECK(entry->every.steps == 40);
    const number_series& series = entry->numbers.at(number::l2);
    CHECK(series.widen == 3);
    CHECK(series.windows[1].window == window_of(10));
    CHECK(series.windows[0].low[0].run == 1);
    CHECK(json_of(facts) == example);
}

TEST_CASE("learned file: every double reads back to the bit") {
    for (const double number : {0.1, -0.0, 0.0, 1e300, 5e-324, 98765432109876540000.0, 18446744073709551616.0,
                                123456789012345680.0, -1e22, 3.0, std::numeric_limits<double>::max()}) {
        all_facts facts{.runs = {"a"}};
        facts.modes[mode::train] = {1, 0};
        number_series& series = facts.tensors["w"].by_mode[mode::train].numbers[number::mean];
        window_facts window{.window = 0, .runs = 1};
        window.low.push_back({number, 0});
        window.high.push_back({number, 0});
        series.windows.push_back(window);
        const all_facts again = facts_from_json(json_of(facts), "x");
        const double read = again.find("w", mode::train)->numbers.at(number::mean).windows[0].low[0].number;
        CHECK(read == number);
        CHECK(std::signbit(read) == std::signbit(number));
    }
}

TEST_CASE("learned file: every mode step reads back") {
    for (const step_number step : {(step_number{1} << 53) + 1, (step_number{1} << 60) + 5, step_number{1} << 62,
                                   std::numeric_limits<step_number>::max()}) {
        all_facts facts{.runs = {"a"}};
        facts.modes[mode::train] = {1, step};
        entry_facts& entry = facts.tensors["w"].by_mode[mode::train];
        entry.every.steps = step;
        number_series& series = entry.numbers[number::mean];
        window_facts window{.window = window_of(step), .runs = 1};
        window.low.push_back({1, 0});
        window.high.push_back({1, 0});
        series.windows.push_back(window);
        const all_facts again = facts_from_json(json_of(facts), "x");
        CHECK(again.modes.at(mode::train).last == step);
        CHECK(again.find("w", mode::train)->every.steps == step);
        CHECK(again.find("w", mode::train)->numbers.at(number::mean).windows[0].window == window_of(step));
    }
}

TEST_CASE("learned file: facts, windows, sides, numbers, tensors and classes may be deleted") {
    for (const auto& [from, to] : {std::pair{R"("changing": 98,)", ""},
                                   {R"("constant": 0,)", ""},
                                   {R"("dtype": ["bfloat16", "float32"],)", ""},
                                   {R"("finite": 100,)", ""},
                                   {R"("nonnegative": 2,)", ""},
                                   {R"("nonpositive": 0,)", ""},
                                   {R"("replicas": 0,)", ""},
                                   {R"("runs": 2,
    "shape": [64, null])",
                                    R"("runs": 2)"},
                                   {R"("down": 0.8,)", ""},
                                   {R"("up": 0.4,)", ""},
                                   {R"("widen": 3,)", ""}}) {
        CHECK(refusal_of(with(from, to)) == "taken");
    }
    CHECK(refusal_of(with("[64, null]", "null")) == "taken");
    CHECK(refusal_of(with("[64, null]", "[]")) == "taken");
    CHECK(refusal_of(with("\"changing\": 98", "\"changing\": 98.0")) == "taken");
    const all_facts fewer = facts_from_json(with(R"("changing": 98,)", ""), "x");
    CHECK_FALSE(fewer.find("fc1.weight", mode::train)->changing.has_value());
    CHECK(json_of(fewer) == with("    \"changing\": 98,\n", ""));
}

TEST_CASE("learned file: runs that were put in another order keep their windows") {
    const all_facts facts = facts_from_json(with("\"runs/a\",\n  \"runs/b\"", "\"runs/b\",\n  \"runs/a\""), "x");
    CHECK(facts.runs == std::vector<std::string>{"runs/a", "runs/b"});
    CHECK(facts.find("fc1.weight", mode::train)->numbers.at(number::l2).windows[0].low[0].run == 0);
}

TEST_CASE("learned file: what is refused, and how") {
    CHECK(refusal_of("") == "normal.json: it is not JSON");
    CHECK(refusal_of("{") == "normal.json: it is not JSON");
    CHECK(refusal_of("[]").find("must be an object") != std::string::npos);
    struct wrong {
        std::string_view from;
        std::string_view to;
        std::string_view says;
    };
    for (const auto& [from, to, says] : {
             wrong{"smdebug learned", "other", "its \"format\" must be \"smdebug learned\""},
             wrong{"\"format\": \"smdebug learned\",", "", "its \"format\" must be"},
             wrong{"\"version\": 1", "\"version\": 2", "its \"version\" must be 1"},
             wrong{"\"version\": 1", "\"version\": \"1\"", "its \"version\" must be 1"},
             wrong{"\"suspects\": [\"runs/b\"],", "", "the key \"suspects\" is missing"},
             wrong{"\"suspects\"", "\"suspicious\"", "the key \"suspicious\" is not known"},
             wrong{"\"finite\"", "\"finit\"",
                   "tensors.fc1.weight.TRAIN: the key \"finit\" is not known. Did you mean finite?"},
             wrong{"\"every\": {\"saves\": 1, \"steps\": 40},", "", "the key \"every\" is missing"},
             wrong{", \"steps\": 40", "", "every: the key \"steps\" is missing"},
             wrong{"\"finite\": 100", "\"finite\": -1", "TRAIN.finite: it must be a whole number"},
             wrong{"\"finite\": 100", "\"finite\": 1.5", "whole number"},
             wrong{"\"steps\": 40", "\"steps\": 9223372036854775808", "whole number"},
             wrong{"\"finite\": 100", "\"finite\": \"100\"", "whole number"},
             wrong{"\"down\": 0.8", "\"down\": -0.8", "numbers.l2.down: it must not be negative"},
             wrong{"\"down\": 0.8", "\"down\": \"0.8\"", "it must be a number"},
             wrong{"\"down\": 0.8", "\"down\": null", "it must be a number"},
             wrong{"\"widen\": 3", "\"widen\": -1", "must not be negative"},
             wrong{"\"widen\": 3", "\"widen\": NaN", "it is not JSON"},
             wrong{"[[7.2,1],", "[[7.2,2],", "a run's place in \"runs\", which has 2"},
             wrong{"[[7.2,1],", "[[7.2,-1],", "whole number"},
             wrong{"[[7.2,1],", "[[7.2],", "a number and a run's place"},
             wrong{"[[7.2,1],", "[[\"7.2\",1],", "it must be a number"},
             wrong{"\"low\": [[7.5,0]]", "\"low\": []", "it must not be empty"},
             wrong{"\"high\": [[7.5,0]]", "\"high\": []", "it must not be empty"},
             wrong{"\"from\": 10", "\"from\": 9", "windows[1].from: no window begins there"},
             wrong{"\"from\": 10", "\"from\": 0", "windows must be ascending"},
             wrong{"\"TRAIN\": {\"last\"", "\"EVAL\": {\"last\"", "the mode TRAIN is not in \"modes\""},
             wrong{"\"TRAIN\": {\"last\"", "\"LEARN\": {\"last\"", "a mode is TRAIN"},
             wrong{"\"l2\": {", "\"l3\": {", "the number \"l3\" is not known"},
             wrong{"\"zeros\"]", "\"variance\"]", "the number \"variance\" is not known"},
             wrong{"\"runs/b\"\n", "\"runs/a\"\n", "the run runs/a is there twice"},
             wrong{"\"changing\": 98", "\"constant\": 98", "\"constant\" stands twice"},
             wrong{"[64, null]", "[64, -1]", "whole number"},
             wrong{"[64, null]", "64", "it must be a list"},
             wrong{"\"saves\": 100", "\"saves\": true", "whole number"},
         }) {
        const std::string refusal = refusal_of(with(from, to));
        CAPTURE(to);
        CAPTURE(refusal);
        CHECK(refusal.find(says) != std::string::npos);
        CHECK(refusal.starts_with("normal.json: "));
    }
}

TEST_CASE("learned file: brackets, quotes and commas in names are no others") {
    const std::string name = R"(a\"}],{[:\\)";
    const std::string text = with("fc1.weight", name);
    REQUIRE(refusal_of(text) == "taken");
    const all_facts facts = facts_from_json(text, "x");
    CHECK(facts.tensors.begin()->first == R"(a"}],{[:\)");
    CHECK(json_of(facts) == text);
    std::string dense{example};
    std::erase(dense, '\n');
    std::erase(dense, ' ');
    dense = dense.replace(dense.find("smdebuglearned"), 14, "smdebug learned");
    CHECK(json_of(facts_from_json(dense, "x")) == example);
    CHECK(json_of(facts_from_json(" " + std::string{example} + "\t\r\n ", "x")) == example);
    CHECK(json_of(facts_from_json("\xEF\xBB\xBF" + std::string{example}, "x")) == example);
    CHECK(facts_from_json(with("\"fc1.weight\": {", "\"no.mode\": {}, \"fc1.weight\": {"), "x").tensors.size() == 2);
}

TEST_CASE("learned file: what is wrong between tensors is refused") {
    const std::string not_json = "normal.json: it is not JSON";
    CHECK(refusal_of(with("  }\n },\n \"tied\"", "  },\n },\n \"tied\"")) == not_json);
    CHECK(refusal_of(with("  }\n },\n \"tied\"", "  }\n }\n \"tied\"")) == not_json);
    CHECK(refusal_of(with("\"float32\"]", "\"float32\"}")) == not_json);
    CHECK(refusal_of(with("\"fc1.weight\": {", "\"fc1.weight\" {")) == not_json);
    CHECK(refusal_of(with("\"fc1.weight\": {", "fc1.weight: {")) == not_json);
    CHECK(refusal_of(with("\"fc1.weight\": {", "\"fc1.weight\": , \"x\": {")) == not_json);
    CHECK(refusal_of(with("\"fc1.weight\": {", "\"fc1\xFF\": {")) == not_json);
    CHECK(refusal_of(std::string{example} + "{}") == not_json);
    CHECK(refusal_of(std::string{example}.substr(0, example.size() - 3)) == not_json);
    for (std::size_t cut = 1; cut < example.size() - 2; cut += 7) {
        CHECK(refusal_of(std::string{example.substr(0, cut)}) == not_json);
    }
    CHECK(refusal_of(with("\"tied\": [", "\"tensors\": {},\n \"tied\": [")).find("\"tensors\" stands twice") !=
          std::string::npos);
    CHECK(refusal_of(with("\"fc1.weight\": {", "\"fc1.weight\": {}, \"fc1.weight\": {"))
              .find("\"fc1.weight\" stands twice") != std::string::npos);
    CHECK(refusal_of(with("\"fc1.weight\": {", "\"x\": 1, \"fc1.weight\": {")) ==
          "normal.json: tensors.x: it must be an object, {...}");
}
