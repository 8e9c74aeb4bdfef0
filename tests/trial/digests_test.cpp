// Digests in a run: reading them, diffs and verification by them, and that nothing takes them for values of a model.
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/tensor_handle.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/trial/verify.hpp>

#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"
#include "trial/diff_runs_fixture.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::int64_t digest_of(const written_tensor& tensor) {
    return smdebug::digest_of({tensor.type, tensor.shape, tensor.content, {}});
}
written_tensor digest_tensor(const std::string& of, std::int64_t digest) {
    return tensor_of<std::int64_t>("digest/" + of, {digest}, {});
}
written_tensor digest_tensor(const written_tensor& of) { return digest_tensor(of.name, digest_of(of)); }

const std::map<std::string, std::vector<std::string>> groups{{"digests", {"digest/w"}}, {"weights", {"w"}}};

memory_storage run_with(std::vector<written_tensor> tensors,
                        const std::map<std::string, std::vector<std::string>>& with = groups) {
    return run_of({{.step = 3, .tensors = std::move(tensors)}}, with);
}

const written_tensor w = tensor_of<float>("w", {1, 2, 3});
const written_tensor other = tensor_of<float>("w", {1, 2, 4});
const written_tensor text{.name = "w", .type = dtype::string, .shape = {2}, .content = {}, .strings = {"a", "b"}};

diff_answer diff_with(std::vector<written_tensor> first, std::vector<written_tensor> second,
                      const diff_options& options = {}) {
    return diff(memory_trial{run_with(std::move(first))}, memory_trial{run_with(std::move(second))}, options);
}

}  // namespace

TEST_CASE("digests: a tensor's digest is the saved one, else that of its values") {
    struct row {
        std::string what;
        std::vector<written_tensor> tensors;
        std::int64_t digest;
    };
    for (const row& each :
         {row{"saved alone", {digest_tensor("w", 7)}, 7}, row{"saved beside values", {w, digest_tensor("w", 7)}, 7},
          row{"of the values", {w}, digest_of(w)},
          row{"beside one that is no digest", {w, tensor_of<float>("digest/w", {1}, {})}, digest_of(w)}}) {
        CAPTURE(each.what);
        const memory_trial run{run_with(each.tensors)};
        CHECK(run.tensor("w").digest(3) == each.digest);
        CHECK(run.tensor("w").digest(3, {.mode = mode::train, .worker = "worker_0"}) == each.digest);
    }
    const memory_trial plain{run_with({w, digest_tensor("w", 7)}, {{"weights", {"w"}}})};
    CHECK(plain.tensor("w").digest(3) == digest_of(w));  // without their collection a name is only a name
}

TEST_CASE("digests: without one and without values the look-up fails as one of values does") {
    const memory_trial run{run_with({tensor_of<double>("smdebug/reductions/max/w", {3}, {})})};
    const auto missing = run.tensor("w").find_digest(3);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().why == lookup_failure_kind::tensor_not_saved);
    CHECK(missing.error().has_reductions);
    CHECK(missing.error().message() == failure_of(run.tensor("w").find_value(3)).message());
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").digest(4)), step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").digest(3, {.worker = "worker_9"})), invalid_worker);
    CHECK_THROWS_AS(static_cast<void>(run.tensor("v")), tensor_unavailable);
    CHECK_THROWS_WITH_AS(static_cast<void>(memory_trial{run_with({text})}.tensor("w").digest(3)),
                         doctest::Contains("holds text, which has no digest"), unsupported);
}

TEST_CASE("digests: a damaged one is an error, whatever values there are") {
    memory_storage store = run_with({w, digest_tensor("w", 7)});
    const std::string key = smdebug::detail::locations::event_key(3, "worker_0");
    const byte_buffer read = store.read(key);
    std::vector<std::byte> bytes{read.view().begin(), read.view().end()};
    const auto place = smdebug::detail::catalog_of(memory_trial{store});
    const auto entry = place->values_of(*place->files_in({}).front(), *place->find_digest_of("w"));
    REQUIRE(entry);
    bytes[static_cast<std::size_t>(entry->record.offset)] ^= std::byte{1};  // the record's length
    store.write(key, bytes);
    CHECK(thrown_code([&] { static_cast<void>(memory_trial{store}.tensor("w").digest(3)); }) ==
          error_code::corrupt_record);
}

TEST_CASE("digests: neither rules nor selections take them for values") {
    const memory_storage store = run_of({{.step = 3, .tensors = {w, digest_tensor("fc.weight", -1), digest_tensor(w)}}},
                                        {{"digests", {"digest/fc.weight", "digest/w"}}, {"weights", {"w"}}});
    const memory_trial run{store};
    const auto from = smdebug::detail::catalog_of(run);
    const auto chosen = [&](const tensor_selection& which) {
        const detail::selected_tensors selected{which, *from};
        texts names;
        for (const std::string& name : run.tensor_names()) {
            if (selected.contains(*from->find_tensor(name))) {
                names.push_back(name);
            }
        }
        return names;
    };
    CHECK(chosen({}) == texts{"w"});
    CHECK(chosen({.digests = true}) == texts{"digest/fc.weight", "digest/w", "w"});
    CHECK(chosen({.regex = "w"}) == texts{"w"});
    CHECK(chosen({.regex = "^fc", .digests = true}) == texts{"digest/fc.weight"});
    CHECK(chosen({.names = texts{"w"}, .digests = true}) == texts{"digest/w", "w"});
    CHECK(chosen({.names = texts{"digest/w"}}) == texts{"digest/w"});
    CHECK(chosen({.regex = "^digest/"}) == texts{"digest/fc.weight", "digest/w"});  // named: it matches no tensor
    CHECK(chosen({.regex = std::vector<std::string>{"w", "^digest/fc"}}) == texts{"digest/fc.weight", "w"});
    CHECK(chosen({.collection = "weights", .digests = true}) == texts{"digest/w", "w"});
    CHECK(chosen({.collection = "digests"}) == texts{"digest/fc.weight", "digest/w"});
    CHECK(rules::tensors_to_check(run, 3, {}) == texts{"w"});
    CHECK(rules::tensors_to_check(run, 3, {.tensor_regex = "w"}) == texts{"w"});
    CHECK(rules::tensors_to_check(run, 3, {.collection_names = {"weights"}}) == texts{"w"});
    CHECK(rules::tensors_to_check(run, 3, {.tensor_regex = "^digest/w"}) == texts{"digest/w"});
    CHECK(rules::tensors_to_check(run, 3, {.collection_names = {"digests"}, .tensor_regex = "w"}) ==
          texts{"digest/fc.weight", "digest/w", "w"});
    CHECK(run.tensor_names({.regex = "weight"}) == texts{"digest/fc.weight"});  // as in the package: by their names
}

TEST_CASE("digests: a diff compares them where a run has no values") {
    struct row {
        std::string what;
        std::vector<written_tensor> first;
        std::vector<written_tensor> second;
        texts lines;
        std::size_t by_digest;
    };
    const written_tensor max = tensor_of<double>("smdebug/reductions/max/w", {3}, {});
    const std::string part = "3 worker_0 w values: its digest is " + std::to_string(digest_of(w)) +
                             " in the first run, " + std::to_string(digest_of(other)) + " in the second";
    const std::string swapped = "3 worker_0 w values: its digest is " + std::to_string(digest_of(other)) +
                                " in the first run, " + std::to_string(digest_of(w)) + " in the second";
    const texts none{};
    for (const row& each : {row{"digests", {digest_tensor(w)}, {digest_tensor(w)}, none, 1},
                            row{"values and a digest", {w}, {digest_tensor(w)}, none, 1},
                            row{"a digest and values", {digest_tensor(w)}, {w}, none, 1},
                            row{"values and both", {w}, {w, digest_tensor(w)}, none, 0},
                            row{"reductions beside", {max, digest_tensor(w)}, {max, w}, none, 1},
                            row{"reductions beside both", {max, digest_tensor(w)}, {max, digest_tensor(w)}, none, 1},
                            row{"other digests", {digest_tensor(w)}, {digest_tensor(other)}, {part}, 1},
                            row{"other values", {w}, {digest_tensor(other)}, {part}, 1},
                            row{"values of the other", {digest_tensor(other)}, {w}, {swapped}, 1},
                            row{"beside reductions", {max, w}, {max, digest_tensor(other)}, {part}, 1},
                            row{"a digest alone",
                                {digest_tensor(w)},
                                {tensor_of<float>("v", {1})},
                                {"3 worker_0 w tensor 1: only the first run has it, as a digest",
                                 "3 worker_0 v tensor 2: only the second run has it"},
                                0},
                            row{"a digest that one has",
                                {max},
                                {max, digest_tensor(w)},
                                {"3 worker_0 w tensor 2: only the second run has its digest"},
                                0},
                            row{"text",
                                {text},
                                {digest_tensor(w)},
                                {"3 worker_0 w tensor 1: the first run has text, the other one only a digest"},
                                0}}) {
        CAPTURE(each.what);
        const diff_answer got = diff_with(each.first, each.second);
        CHECK(got.lines == each.lines);
        CHECK(got.summary.by_digest == each.by_digest);
        CHECK(got.summary.same() == each.lines.empty());
    }
}

namespace {

/// The run after a bit of the values of "w" was flipped in it.
memory_storage with_flipped_bit(memory_storage store) {
    const std::string key = smdebug::detail::locations::event_key(3, "worker_0");
    const byte_buffer read = store.read(key);
    std::vector<std::byte> bytes{read.view().begin(), read.view().end()};
    const auto content = std::search(bytes.begin(), bytes.end(), w.content.begin(), w.content.end());
    REQUIRE(content != bytes.end());
    *content ^= std::byte{1};
    store.write(key, bytes);
    return store;
}

std::string contradiction(std::string_view run, const written_tensor& values, const written_tensor& saved) {
    return "3 worker_0 w digest " + std::string{run == "first" ? "1" : "2"} + ": its values in the " +
           std::string{run} + " run are not what the hook saw: their digest is " + std::to_string(digest_of(values)) +
           ", the saved one " + std::to_string(digest_of(saved));
}

}  // namespace

TEST_CASE("digests: a diff believes values, and names a digest that contradicts those of its own run") {
    const written_tensor shorter = tensor_of<float>("w", {1, 2});
    const std::string elements = "3 worker_0 w values: 1 of 3 elements differ";
    struct row {
        std::string what;
        std::vector<written_tensor> first;
        std::vector<written_tensor> second;
        texts lines;
    };
    for (const row& each :
         {row{"digests alone",
              {other, digest_tensor(w)},
              {digest_tensor(w)},
              {contradiction("first", other, w), "3 worker_0 w values: its digest is " +
                                                     std::to_string(digest_of(other)) + " in the first run, " +
                                                     std::to_string(digest_of(w)) + " in the second"}},
          row{"of the other run",
              {digest_tensor(w)},
              {digest_tensor(w), other},
              {contradiction("second", other, w), "3 worker_0 w values: its digest is " + std::to_string(digest_of(w)) +
                                                      " in the first run, " + std::to_string(digest_of(other)) +
                                                      " in the second"}},
          row{"values", {digest_tensor(w), other}, {w}, {elements, contradiction("first", other, w)}},
          row{"both", {other, digest_tensor(w)}, {w, digest_tensor(w)}, {elements, contradiction("first", other, w)}},
          row{"the same values",
              {w, digest_tensor(other)},
              {w, digest_tensor(other)},
              {contradiction("first", w, other), contradiction("second", w, other)}},
          row{"another shape",
              {w, digest_tensor(other)},
              {shorter},
              {"3 worker_0 w shape: its shape is (3) in the first run, (2) in the second",
               contradiction("first", w, other)}},
          row{"no digest",
              {w, tensor_of<float>("digest/w", {1}, {})},
              {w},
              {"3 worker_0 w digest 1: its digest in the first run is not an int64 scalar"}},
          row{"text", {text, digest_tensor(w)}, {text}, {}}}) {
        CAPTURE(each.what);
        const diff_answer got = diff_with(each.first, each.second);
        CHECK(got.lines == each.lines);
        CHECK(got.summary.differences == each.lines.size());
        CHECK_FALSE((diff_with(each.first, each.second, {.rtol = 1}).summary.same() && !each.lines.empty()));
    }
    // Values that are left in their files.
    std::vector<float> many(std::size_t{3} << 20U, 1.5F);
    const auto large = [&](float last) {
        many.back() = last;
        return tensor_of<float>("w", many);
    };
    const written_tensor right = large(2);
    const written_tensor wrong = large(3);
    CHECK(diff_with({digest_tensor(right), right}, {digest_tensor(right), right}).summary.same());
    CHECK(diff_with({digest_tensor(right), wrong}, {wrong}).lines == texts{contradiction("first", wrong, right)});
    CHECK(diff_with({wrong}, {digest_tensor(right), wrong}).lines == texts{contradiction("second", wrong, right)});
    CHECK(diff_with({digest_tensor(right), wrong}, {digest_tensor(wrong)}).lines ==
          texts{contradiction("first", wrong, right)});
}

TEST_CASE("digests: values that are damaged, or another digest than the hook's, are never the same by a digest") {
    const memory_storage changed = with_flipped_bit(run_with({w, digest_tensor(w)}));
    for (const auto& others : {run_with({digest_tensor(w)}), run_with({w}), run_with({w, digest_tensor(w)})}) {
        CHECK_FALSE(diff(memory_trial{changed}, memory_trial{others}).summary.same());
        CHECK_FALSE(diff(memory_trial{others}, memory_trial{changed}).summary.same());
    }
    const memory_storage damaged = with_flipped_bit(
        run_of({{.step = 3, .tensors = {w, digest_tensor(w)}, .footers = record::footer_kind::checksum}}, groups));
    for (const auto& others : {run_with({digest_tensor(w)}), run_with({w}), run_with({w, digest_tensor(w)})}) {
        const diff_answer got = diff(memory_trial{damaged}, memory_trial{others});
        REQUIRE(got.lines.size() == 1);
        CHECK(got.lines[0].starts_with("3 worker_0 w unreadable 1: in the first run: "));
        CHECK(got.lines[0].find("checksum of the record's payload") != std::string::npos);
        CHECK(got.summary.by_digest == 0);
    }
}

TEST_CASE("digests: a diff of digests alone compares them as they were saved") {
    for (const auto& which : {tensor_selection{.regex = "^digest/"}, tensor_selection{.collection = "digests"},
                              tensor_selection{.names = texts{"digest/w"}}}) {
        const auto got = diff_with({w, digest_tensor("w", 1)}, {other, digest_tensor("w", 2)}, {.which = which});
        CHECK(got.lines == texts{"3 worker_0 digest/w values: 1 of 1 element differs"});
        CHECK(diff_with({w, digest_tensor("w", 1)}, {digest_tensor("w", 1)}, {.which = which}).summary.same());
        CHECK(diff_with({digest_tensor("w", 1)}, {other, digest_tensor("w", 1)}, {.which = which}).summary.same());
    }
}

TEST_CASE("digests: a tolerance does not help where there are no values") {
    const diff_answer got = diff_with({w}, {digest_tensor(other)}, {.rtol = 10});
    REQUIRE(got.lines.size() == 1);
    CHECK(got.lines[0].ends_with("without values nothing says whether that is within the tolerance"));
}

TEST_CASE("digests: a diff of selected tensors compares their digests, and no others") {
    const written_tensor b = tensor_of<float>("b", {1});
    for (const auto& which : {tensor_selection{.names = texts{"b"}}, tensor_selection{.regex = "^b"},
                              tensor_selection{.collection = "biases"}}) {
        const std::map<std::string, std::vector<std::string>> with{{"digests", {}}, {"biases", {"b"}}};
        const auto got = diff(memory_trial{run_with({digest_tensor(w), digest_tensor(b)}, with)},
                              memory_trial{run_with({digest_tensor(other), digest_tensor(b)}, with)}, {.which = which});
        CHECK(got.lines.empty());
        CHECK(got.summary.by_digest == 1);
    }
}

TEST_CASE("digests: values that are read in pieces, or repeat their last element, have the digest of the whole") {
    std::vector<float> values(std::size_t{3} << 20U, 1.5F);
    values[7] = 2;
    const written_tensor large = tensor_of<float>("w", values);
    CHECK(diff_with({large}, {digest_tensor(large)}).summary.same());
    // One value for all: as the package writes a constant tensor.
    const written_tensor constant = tensor_of<float>("w", std::vector<float>(5000, 4.0F));
    CHECK(diff_with({constant}, {digest_tensor(constant)}).summary.same());
}

TEST_CASE("digests: verification compares them with the values") {
    const auto found = [](const memory_storage& store) {
        texts lines;
        for (const inconsistency& each : verify_run(store)) {
            lines.push_back(std::string{name_of(each.kind)} + " " + each.tensor + ": " + each.what);
        }
        return lines;
    };
    CHECK(found(run_with({w, digest_tensor(w)})).empty());
    CHECK(found(run_with({digest_tensor(w)})).empty());
    CHECK(found(run_with({w, digest_tensor("w", 7)})) ==
          texts{"digest w: its values are not what the hook saw: their digest is " + std::to_string(digest_of(w)) +
                ", the saved one 7"});
    CHECK(found(run_with({w, tensor_of<float>("digest/w", {1}, {})})) ==
          texts{"digest w: its digest is not an int64 scalar"});
    CHECK(found(run_with({w, digest_tensor("w", 7)}, {{"weights", {"w"}}})).empty());  // only a name

    // A tensor that is saved several times in a step: each save has its digest, and the last one stands.
    CHECK(found(run_with({w, digest_tensor(w), other, digest_tensor(other)})).empty());
    CHECK(found(run_with({digest_tensor(w), w, digest_tensor(other), other})).empty());
    CHECK(found(run_with({digest_tensor(w), w, digest_tensor(other)})).empty());  // without room for the values
    CHECK(found(run_with({digest_tensor(w), digest_tensor(other), other})).empty());
    CHECK(found(run_with({digest_tensor(w), w, digest_tensor(w), text})).empty());
    for (const std::vector<written_tensor>& wrong :
         {std::vector{digest_tensor(w), w, digest_tensor(w), other}, std::vector{digest_tensor(w), w, other},
          std::vector{digest_tensor(w), other, digest_tensor(w), w}}) {
        CHECK(found(run_with(wrong)) ==
              texts{"digest w: its values are not what the hook saw: their digest is " +
                    std::to_string(digest_of(other)) + ", the saved one " + std::to_string(digest_of(w))});
    }

    // A bit of a value under the constant that stands in place of a checksum.
    const memory_storage store = with_flipped_bit(run_with({w, digest_tensor(w)}));
    CHECK(found(store).size() == 1);
    CHECK(found(store).front().starts_with("digest w: its values are not what the hook saw"));
}
