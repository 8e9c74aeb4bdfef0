#include <smdebug/report/page_text.hpp>

#include <smdebug/core/json_document.hpp>
#include <smdebug/report/page/bundle.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace report::detail;

namespace {

std::string text_of(const page& what) {
    std::string text;
    for (const std::string& piece : page_text(what)) {
        text += piece;
    }
    return text;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

/// A run with a finding about a tensor of that name.
reported_run run_named(const std::string& name) {
    reported_run run;
    run.name = name;
    run.path = "runs/" + name;
    run.axes = step_axes{{{.step = 0, .mode = mode::train}, {.step = 5, .mode = mode::train}}, 10};
    series_row row;
    row.fill(2);
    for (const std::uint32_t bucket : {0U, 1U}) {
        run.series.add(name, "worker_0", {.axis = 0, .bucket = bucket}, row, 4);
    }
    run.facts.resize(1);
    run.damage = {name};
    run.damaged = 1;
    run.collections = {{name, {name}}};
    run.verdicts.push_back({.name = name});
    run.verdicts.back().status = rule_status::issues_found;
    for (const step_number step : {0, 5, 5}) {
        run.verdicts.back().outcome.findings.push_back(
            {.met = true, .tensor = name, .worker = "worker_0", .step = step, .message = name});
    }
    run.not_evaluated = {{name, name}};
    return run;
}

/// The text between two others.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from) + from.size();
    return text.substr(begin, text.find(to, begin) - begin);
}

}  // namespace

TEST_CASE("page_text: whatever a run is called, its page has the same elements") {
    page plain;
    plain.title = "plain";
    plain.runs.push_back(run_named("plain"));
    const std::string usual = text_of(plain);
    for (const std::string name :
         {"</script><script>alert(1)</script>", "<!--<script>", "]]>--!><img src=x onerror=alert(1)>",
          "</title></style>&lt;", "\xE2\x80\xA8\xE2\x80\xA9", "\"'`\\", "\xFF\xFE\x80", ""}) {
        page hostile;
        hostile.title = name;
        hostile.runs.push_back(run_named(name));
        hostile.comparison = reported_comparison{.sentence = name, .differences = {{.tensor = name, .what = name}}};
        hostile.batch = {{.path = name, .error = name, .link = name}};
        hostile.is_batch = true;
        const std::string text = text_of(hostile);
        for (const std::string_view part :
             {"<script", "</script", "<style", "</style", "<title", "</title", "<!--", "<img"}) {
            CHECK_MESSAGE(count_of(text, part) == count_of(usual, part), name, " ", part);
        }
        // The data is ASCII, and valid JSON.
        const std::string facts = between(text, "id=\"facts\">", "</script>");
        CHECK(std::all_of(facts.begin(), facts.end(), [](char each) { return each >= ' ' && each <= '~'; }));
    }
}

TEST_CASE("page_text: names and messages are escaped where they are not printable; an address is not") {
    page what;
    what.title =
        "a\xE2\x80\xAE"
        "b";
    what.runs.push_back(
        run_named("new\nline\xE2\x80\xAE"
                  "evil"));
    what.batch = {{.path = "a\nb", .link = "a\tb"}};
    what.is_batch = true;
    const std::string text = text_of(what);
    CHECK(count_of(text, "new\\\\nline\\\\u202eevil") > 5);
    CHECK(count_of(text, "new\\nline") == 0);
    CHECK(count_of(text, "\\u202eevil") == count_of(text, "\\\\u202eevil"));
    CHECK(count_of(text, "<title>a\\u202eb</title>") == 1);
    CHECK(count_of(text, "\"link\":\"a\\tb\"") == 1);
}

TEST_CASE("page_text: the trial's problems stand among the damaged places, first") {
    page what;
    what.runs.push_back(run_named("one"));
    what.runs.back().problems = {"a.tfevents, byte 3: it is damaged", "b: it is left out"};
    const std::string text = text_of(what);
    CHECK(count_of(text, R"("damage":["a.tfevents, byte 3: it is damaged","b: it is left out","one"],"damaged":3)") ==
          1);
}

TEST_CASE("page_text: a policy lets nothing but the page's own script and style") {
    const std::string text = text_of(page{.title = "policy"});
    const std::string policy = between(text, "Content-Security-Policy\" content=\"", "\">");
    CHECK(policy == "default-src 'none'; script-src '" + std::string{page_script_hash()} + "'; style-src '" +
                        std::string{page_style_hash()} + "'; img-src data:; base-uri 'none'; form-action 'none'");
    CHECK(policy.find("unsafe") == std::string::npos);
    std::string script;
    for (const std::string_view piece : page_script()) {
        script += piece;
    }
    CHECK(text.find("<script>" + script + "</script>") != std::string::npos);  // byte by byte, as hashed
    CHECK(count_of(text, "http://") + count_of(text, "https://") ==
          count_of(script, "http://") + count_of(script, "https://"));
}

TEST_CASE("page_text: facts as JSON, findings by tensor") {
    page what;
    what.title = "one";
    what.runs.push_back(run_named("one"));
    const std::string facts = between(text_of(what), "id=\"facts\">", "</script>");
    CHECK(
        facts.find(R"("findings":[{"rule":0,"tensor":0,"tensorName":"one","worker":"worker_0","count":3,"first":0,)") !=
        std::string::npos);
    CHECK(facts.find(R"("last":5)") != std::string::npos);
    CHECK(facts.find(R"("status":"IssuesFound")") != std::string::npos);
    CHECK(facts.find(R"("lookAgain":0)") != std::string::npos);
    CHECK(facts.find(R"("value":"NaN")") != std::string::npos);
    CHECK(facts.find("firstBadValue") == std::string::npos);
    what.runs[0].verdicts[0].outcome.findings[0].rule = "nan_origin";
    CHECK(between(text_of(what), R"("firstBadValue":")", "\"") ==
          "the first value that was not finite: step 0, one of worker_0, one");
}

TEST_CASE("page_text: a long message is cut to 600 bytes, between two characters") {
    const auto shown = [](const std::string& message) {
        page what;
        what.runs.push_back({.failed = message});
        return between(between(text_of(what), "id=\"facts\">", "</script>"), "\"failed\":\"", "\"");
    };
    const auto letters = [](std::size_t count) { return std::string(count, 'x'); };
    CHECK(shown(letters(600)) == letters(600));
    CHECK(shown(letters(601)) == letters(600));
    CHECK(shown(letters(598) + "\xC3\xA9 and more") == letters(598) + R"(\u00e9)");
    CHECK(shown(letters(599) + "\xC3\xA9 and more") == letters(599));
    CHECK(shown(letters(598) + "\xE2\x82\xAC and more") == letters(598));
    CHECK(shown(letters(597) + "\xF0\x9F\x98\x80 and more") == letters(597));
    CHECK(shown(letters(596) + "\xF0\x9F\x98\x80 and more") == letters(596) + R"(\ud83d\ude00)");
    // Text that is not UTF-8 is cut, too.
    const std::string damaged = shown(letters(590) + std::string(1000, '\x80'));
    CHECK(damaged.starts_with(letters(590)));
    CHECK(damaged.size() < 700);
}

TEST_CASE("text_for_html, json_for_html") {
    CHECK(text_for_html("<a href=\"x\">&'") == "&#60;a href=&#34;x&#34;&#62;&#38;&#39;");
    CHECK(text_for_html("\xC3\xA9\n\xFF") == "\xC3\xA9&#65533;&#65533;");
    CHECK(json_for_html(R"({"a":"<b>&"})") == R"({"a":"\u003cb\u003e\u0026"})");
}

TEST_CASE("page_text: what is not known is left out, and is not 0 or an empty text") {
    page what;
    what.runs.push_back(run_named("a"));
    what.comparison = reported_comparison{.differences = {{.kind = "collection"}}};
    what.batch = {{.path = "a", .verdicts = {{.rule = "r"}}}};
    what.is_batch = true;
    const std::string unknown = between(text_of(what), R"(id="facts">)", "</script>");
    for (const char* const name : {"lastComplete", "dtype", "shape", "lossLost"}) {
        CHECK(count_of(unknown, '"' + std::string{name} + "\":") == 0);
    }
    CHECK(count_of(unknown, "-1") == count_of(unknown, R"("modeStep":-1)"));
    what.runs[0].last_complete = -1;
    what.runs[0].facts[0] = {.type = dtype::float32, .shape = shape_type{}};
    what.batch[0].loss_lost = 0;
    const std::string known = between(text_of(what), R"(id="facts">)", "</script>");
    for (const char* const part :
         {R"("lastComplete":-1)", R"("dtype":"float32")", R"("shape":"")", R"("lossLost":0)"}) {
        CHECK(count_of(known, part) == 1);
    }
}
