#include <smdebug/report/page_text.hpp>

#include <smdebug/core/json_document.hpp>
#include <smdebug/report/page/bundle.hpp>

#include "support/test.hpp"

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

namespace {

using windows_list = std::vector<rule_outcome::band::window>;
constexpr double no_bound = std::numeric_limits<double>::infinity();

std::vector<std::uint8_t> decoded(std::string_view base64) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char each : base64.substr(0, base64.find('='))) {
        bits = (bits << 6U) | static_cast<std::uint32_t>(digits.find(each));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<std::uint8_t>(bits >> static_cast<unsigned>(count)));
        }
    }
    return bytes;
}

/// Reads windows of bands as a page does.
class band_reader {
public:
    explicit band_reader(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

    [[nodiscard]] windows_list next() {
        windows_list all(whole());
        step_number at = 0;
        for (rule_outcome::band::window& each : all) {
            each.first = at += signed_whole();
            each.last = at += signed_whole();
            each.runs = whole();
            const std::uint8_t sides = bytes_[at_++];
            const bool is_wide = bytes_[at_++] == 1;
            each.least = number(is_wide);
            each.greatest = number(is_wide);
            each.lower = (sides & 1U) != 0 ? number(is_wide) : -no_bound;
            each.upper = (sides & 2U) != 0 ? number(is_wide) : no_bound;
        }
        return all;
    }
    [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }

private:
    std::uint64_t whole() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            value |= std::uint64_t{bytes_[at_] & 127U} << shift;
            if (bytes_[at_++] < 128) {
                return value;
            }
        }
    }
    step_number signed_whole() {
        const auto value = static_cast<step_number>(whole());
        return value % 2 == 0 ? value / 2 : -(value + 1) / 2;
    }
    double number(bool is_wide) {
        double wide = 0;
        float narrow = 0;
        const std::size_t size = is_wide ? sizeof wide : sizeof narrow;
        std::memcpy(is_wide ? static_cast<void*>(&wide) : &narrow, bytes_.data() + at_, size);
        at_ += size;
        return is_wide ? wide : static_cast<double>(narrow);
    }

    std::vector<std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

/// The part of a run's data that its bands add, which is the last.
band_reader bands_in(reported_run run) {
    std::vector<std::uint8_t> with = decoded(data_text(run));
    for (rule_result& each : run.verdicts) {
        each.outcome.bands.clear();
    }
    const std::vector<std::uint8_t> without = decoded(data_text(run));
    REQUIRE(with.size() >= without.size());
    CHECK(std::equal(without.begin(), without.end(), with.begin()));
    return band_reader{{with.begin() + static_cast<std::ptrdiff_t>(without.size()), with.end()}};
}

bool are_equal(const windows_list& one, const windows_list& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
        return a.first == b.first && a.last == b.last && a.runs == b.runs && a.least == b.least &&
               a.greatest == b.greatest && a.lower == b.lower && a.upper == b.upper;
    });
}

/// A run of tensors a and b by two workers at TRAIN steps 0 and 5, and EVAL step 7; no finding.
reported_run run_with_modes() {
    reported_run run;
    run.axes = step_axes{{{.step = 0, .mode = mode::train},
                          {.step = 5, .mode_step = 5, .mode = mode::train},
                          {.step = 7, .mode_step = 0, .mode = mode::eval}},
                         10};
    series_row row;
    row.fill(2);
    for (const char* const tensor : {"a", "b"}) {
        for (const char* const worker : {"worker_0", "worker_1"}) {
            run.series.add(tensor, worker, {.axis = 0, .bucket = 0}, row, 4);
            run.series.add(tensor, worker, {.axis = 0, .bucket = 1}, row, 4);
            run.series.add(tensor, worker, {.axis = 1, .bucket = 0}, row, 4);
        }
    }
    run.facts.resize(2);
    run.verdicts.resize(2);
    run.verdicts[0].name = "other";
    run.verdicts[1].name = "banded";
    return run;
}

std::string facts_of(const reported_run& run) {
    page what;
    what.runs.push_back(run);
    return between(text_of(what), "id=\"facts\">", "</script>");
}

}  // namespace

TEST_CASE("page_text: bands as they are, with open sides and gaps, by tensor, mode and number") {
    reported_run run = run_with_modes();
    const windows_list some{
        {.first = 0, .last = 3, .runs = 8, .least = 0.5, .greatest = 1.5, .lower = 0.25, .upper = 3},
        {.first = 4, .last = 4, .runs = 300, .least = -1, .greatest = 1e300, .upper = 2e300},
        {.first = 64, .last = 1'000'000, .runs = 2, .least = 1, .greatest = 1, .lower = -7},
        {.first = 1'000'010, .last = 1'000'010, .runs = 4, .least = 0, .greatest = 0}};
    const windows_list other{{.first = 0, .last = 9, .runs = 8, .least = 1, .greatest = 2, .lower = 1, .upper = 1}};
    run.verdicts[1].outcome.bands = {
        {.tensor = "b", .mode = mode::train, .number = "l2", .windows = some},
        {.tensor = "b", .mode = mode::eval, .number = "zeros", .windows = other},
        {.tensor = "not shown", .mode = mode::train, .number = "l2", .windows = other},
        {.tensor = "a", .mode = mode::predict, .number = "l2", .windows = other},  // the run has no such step
        {.tensor = "a", .mode = mode::train, .number = "abs_max", .windows = other},
    };
    CHECK(between(facts_of(run), R"("bands":)", "]}]}") ==
          R"([{"rule":1,"tensor":1,"axis":0,"number":"l2","found":[]},)"
          R"({"rule":1,"tensor":1,"axis":1,"number":"zeros","found":[]},)"
          R"({"rule":1,"tensor":0,"axis":0,"number":"abs_max","found":[)");
    band_reader bands = bands_in(run);
    CHECK(are_equal(bands.next(), some));
    CHECK(are_equal(bands.next(), other));
    CHECK(are_equal(bands.next(), other));
    CHECK(bands.is_at_end());
}

TEST_CASE("page_text: nothing of bands where no rule has any") {
    const reported_run run = run_with_modes();
    CHECK(facts_of(run).find("band") == facts_of(run).find("banded"));
    CHECK(bands_in(run).is_at_end());
}

TEST_CASE("page_text: a band has the findings that name its bound, by worker and shown step") {
    reported_run run = run_with_modes();
    run.steps_are_synthetic = true;
    const windows_list train{{.first = 0, .last = 3, .runs = 8, .least = 1, .greatest = 2, .lower = 0.5, .upper = 4},
                             {.first = 5, .last = 5, .runs = 8, .least = 1, .greatest = 2, .lower = 0.75, .upper = 3}};
    const windows_list eval{{.first = 0, .last = 9, .runs = 8, .least = 0, .greatest = 0, .upper = 3}};
    run.verdicts[1].outcome.bands = {{.tensor = "a", .mode = mode::train, .number = "zeros", .windows = eval},
                                     {.tensor = "a", .mode = mode::train, .number = "l2", .windows = train},
                                     {.tensor = "a", .mode = mode::eval, .number = "l2", .windows = eval}};
    const auto add = [&](std::size_t rule, mode in, step_number step, step_number mode_step, double value,
                         double threshold, const std::string& worker) {
        run.verdicts[rule].outcome.findings.push_back({.met = true,
                                                       .tensor = "a",
                                                       .worker = worker,
                                                       .step = step,
                                                       .mode_step = mode_step,
                                                       .mode = in,
                                                       .value = value,
                                                       .threshold = threshold});
    };
    add(1, mode::train, 0, 0, 5, 4, "worker_1");
    add(1, mode::train, 500, 5, 0.625, 0.75, "worker_0");
    add(1, mode::train, 500, 5, 3, 3, "worker_0");  // not beyond it
    add(1, mode::train, 400, 4, 5, 4, "worker_0");  // not judged there
    add(1, mode::train, 500, 5, 5, 4, "worker_0");  // the bound of another window
    add(1, mode::predict, 0, 0, 5, 4, "worker_0");  // another mode
    add(0, mode::train, 0, 0, 5, 4, "worker_0");    // another rule
    CHECK(between(facts_of(run), R"("bands":)", "]}]}") ==
          R"([{"rule":1,"tensor":0,"axis":0,"number":"l2","found":[{"step":0,"value":5,"worker":"worker_1"},)"
          R"({"step":5,"value":0.625,"worker":"worker_0"}]},)"
          R"({"rule":1,"tensor":0,"axis":0,"number":"zeros","found":[]},)"
          R"({"rule":1,"tensor":0,"axis":1,"number":"l2","found":[)");
}

TEST_CASE(
    "page_text: where there is no room for all bands, those with findings come first, then those of their tensors") {
    reported_run run = run_with_modes();
    const windows_list one{{.last = 9, .runs = 8, .least = 1, .greatest = 2, .lower = 0.5, .upper = 4}};
    run.verdicts[1].outcome.bands = {{.tensor = "a", .mode = mode::train, .number = "l2", .windows = one},
                                     {.tensor = "b", .mode = mode::train, .number = "l1", .windows = one},
                                     {.tensor = "b", .mode = mode::train, .number = "l2", .windows = one}};
    run.verdicts[1].outcome.bands[2].windows[0].upper = 5;
    run.verdicts[1].outcome.findings = {
        {.met = true, .tensor = "b", .step = 5, .mode_step = 5, .mode = mode::train, .value = 9, .threshold = 5}};
    CHECK(facts_of(run).find("bandsLeftOut") == std::string::npos);
    const auto numbers = [&](std::size_t most) {
        run.most_band_bytes = most;
        const std::string facts = facts_of(run);
        std::string found;
        for (std::size_t at = 0; (at = facts.find("\"number\":\"", at)) != std::string::npos;) {
            at += 10;
            found += facts.substr(at, 2) + " ";
        }
        return found + (facts.find("bandsLeftOut") != std::string::npos ? between(facts, "bandsLeftOut\":", ",") : "");
    };
    CHECK(numbers(100'000) == "l2 l1 l2 ");
    CHECK(numbers(250) == "l2 l1 1");
    CHECK(numbers(160) == "l2 2");
    CHECK(numbers(0).starts_with("3"));
    CHECK(bands_in(run).is_at_end());
    series_row row;
    row.fill(2);
    run.series.add("loss", "worker_0", {.axis = 0, .bucket = 0}, row, 1);
    run.facts.resize(3);
    run.verdicts[1].outcome.bands.push_back({.tensor = "loss", .mode = mode::train, .number = "value", .windows = one});
    CHECK(numbers(100'000) == "l2 l1 va l2 ");
}
