// Calls every public function that <smdebug/smdebug.hpp> and the doors beside it have, with nothing else included:
// tests/check_forms.sh builds it in both forms, links and runs it; tests/headers.py says what is missing here.  What
// the calls do, the unit tests ask.
#include "arguments.hpp"

#include <smdebug/smdebug.hpp>

#include <smdebug/actions/run_command.hpp>
#include <smdebug/actions/status_file.hpp>
#include <smdebug/exporting/csv.hpp>
#include <smdebug/exporting/npz.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/run.hpp>
#include <smdebug/exporting/safetensors.hpp>
#include <smdebug/exporting/tensorboard.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>
#include <smdebug/trial/run_contents.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/watch/watch.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd = smdebug;

namespace {

using namespace every_name;

int failures = 0;

void expect(bool met, std::string_view what) {
    if (!met) {
        std::fprintf(stderr, "not as expected: %.*s\n", static_cast<int>(what.size()), what.data());
        ++failures;
    }
}

// For what is called only to be linked.
template <class... T>
void use(const T&... /*values*/) {}

void call_core() {
    const smd::byte_buffer buffer = smd::byte_buffer::take(std::string{"four"});
    expect(smd::as_text(buffer.view()) == "four" && !buffer.empty() && buffer.size() == 4, "byte_buffer");
    use(buffer.data(), buffer.owner(), buffer.slice({.offset = 1, .length = 2}), smd::as_bytes("x"));
    std::array<std::byte, 4> raw{};
    smd::store_le(raw.data(), 7);
    expect(smd::load_le<int>(raw.data()) == 7, "load_le");

    expect(smd::dtype_from_code(1) == smd::dtype::float32 && smd::name_of(smd::dtype::float32) == "float32", "dtype");
    use(smd::size_of(smd::dtype::float32), smd::is_complex(smd::dtype::float32), smd::is_floating(smd::dtype::float32));
    expect(smd::element_count(std::array<std::size_t, 2>{2, 3}) == 6, "element_count");
    use(smd::shape_text(std::array<std::size_t, 2>{2, 3}));
    expect(smd::mode_named("TRAIN") == smd::mode::train, "mode_named");
    use(smd::step_range{1, 2}.contains(1), smd::step_range{1, 2}.valid());
    std::string text;
    smd::append_printable(text, smd::printable("a\n"));
    use(smd::is_printable('a'), smd::is_utf8("text"), smd::first_utf8_character("text").length,
        smd::continues_utf8_character('a'));
    const std::vector<std::string> names{"weight", "bias"};
    expect(smd::edit_distance("bias", "bais") == 2 && smd::near_matches("bais", names).size() == 1, "near names");
    use(smd::did_you_mean(names), smd::near_or_all("bais", names), smd::stays_inside("a/b"),
        smd::is_resource_fork("._b"));

    const smd::value_error error{"a sentence", {.where = "there"}};
    use(error.message(), error.advice(), error.remedy(), error.where(), error.offset(), error.python_name(),
        error.step(), error.step_mode(), error.tensor(), error.worker(), smd::python_name_of(error.code()));
    const smd::no_more_data no_more{7, smd::mode::global, 5};
    use(no_more.last_step(), &smd::tensor_unavailable_for_step::has_reductions,
        &smd::rule_evaluation_condition_met::rule);
    const smd::text_list list{"a", "b"};
    use(list.empty(), list.given(), list.texts(), smd::size_limits::untrusted().within(4096));
}

void call_tensors() {
    const std::vector<float> numbers{1, 2, 3, 4};
    const smd::tensor_value value = smd::tensor_value::copy_of<float>({2, 2}, numbers);
    const smd::tensor_view view = value.view();
    expect(smd::as_xtensor<float>(value)(1, 0) == 3, "as_xtensor");
    expect(value.elements<float>().size() == value.size(), "elements");
    use(value.bytes(), value.copied(), value.owner(), value.shape(), value.type());
    const std::array<std::string_view, 1> words{"a"};
    expect(smd::converted<double>(value) && smd::reals_of(value).size() == 4 && smd::has_reals(value.type()), "reals");
    expect(smd::visit_reals(value, [](const auto& /*elements*/) {}), "visit_reals");
    expect(smd::for_each_real_block(value.view(), [](const auto& /*block*/) { return true; }), "for_each_real_block");
    std::vector<std::byte> room;
    use(smd::aligned_elements<float>(value.view(), 0, 1, room), smd::to_double(1.0F));
    const smd::tensor_value strings = smd::tensor_value::of_strings({1}, words);
    expect(strings.strings()[0] == "a", "strings");
    use(smd::visit(value, [](const auto& array) { return array.size(); }));
    use(smd::visit(
        strings, [](const auto& array) { return array.size(); }, [](const auto& several) { return several.size(); }));

    const smd::event_decoder<> decoder;
    smd::decoded_tensor decoded;
    expect(decoder.decode({}, "w", decoded) != smd::status::ok, "decode");
    std::optional<std::uint32_t> checksum;
    smd::detail::record_parts parts;
    use(decoder.name(), decoder.ends_well({}, checksum), decoder.plan({}, 0, "w", parts), decoder.record_size({}));

    const smd::scalar_kernel kernel;
    expect(kernel.reduce(view, smd::reduction_set::all()).ok(), "reduce");
    use(kernel.name(), smd::has_digest(view.type), smd::digest_of(view), smd::digest_of(view, kernel));
    expect(smd::histogram_of(view).ok(), "histogram_of");
    expect(smd::histogram_of(view, smd::equal_bins{}).ok(), "histogram_of with equal bins");
    expect(smd::histogram_of(view, smd::edge_bins{std::array<double, 2>{0, 9}}).ok(), "histogram_of with edges");
    expect(smd::quantiles(view, std::array<double, 1>{0.5}).ok(), "quantiles");
    use(smd::tensorboard_histogram(view));
    smd::tensorboard_writer writer{[](const std::string&, smd::byte_view) {}, "worker_0"};
    writer.add_scalar({}, "loss", 1);
    writer.add_histogram({}, "w", view);
    use(writer.held_bytes());
    writer.end_step(0);
    writer.close();

    constexpr smd::reduction_key key = smd::reduction_key::from_index(0);
    use(key.index(), key.name(), smd::name_of(smd::reduction::mean), smd::reduction_named("mean"),
        smd::reduction_key_named("abs_mean"));
    use(smd::reduction_set::absolute(), smd::reduction_set::plain(), smd::reduction_set::counts());
    use(smd::reduction_set{key}.contains(key), smd::reduction_set{}.empty(), smd::reduction_set{}.has_counts());
    std::string name;
    smd::append_reduction_tensor_name(name, "w", key);
    use(smd::digest_of_tensor("w"), smd::is_digest("digest/w"), smd::tensor_of_digest("digest/w"));
    use(smd::reduction_tensor_name("w", key), smd::table_of_histogram("w"), smd::is_histogram_table("w"),
        smd::histogram_of_table("w"));
}

// A storage's operations.
void call_storage(smd::any_storage store) {
    const std::string written = "folder/written";
    store.write(written, smd::as_bytes("bytes"));
    const auto output = store.create("folder/created");
    output->append(std::array{smd::as_bytes("more")});
    output->commit(smd::durability::cached);
    {
        const auto claim = store.claim("folder/claim");
        expect(store.claimed("folder/claim") && claim->holds(), "claimed");
        claim->release();
    }
    expect(smd::as_text(store.read(written).view()) == "bytes", "read");
    use(store.read(written, smd::byte_range{.offset = 1, .length = 2}), store.name(), store.size(written),
        store.view(written), store.modified(written), store.abilities(), store.place(), store.hold(), store.problems(),
        store.entries("", "", 9), store.read_ahead(written), store.read_versioned(written));
    expect(store.list("folder/", "").size() >= 2, "list");
    const auto follower = store.follow("folder/");
    use(follower->next());
    follower->forget();
    const std::array keys{written};
    const std::array ranges{smd::object_range{.key = written, .where = {.offset = 0, .length = 1}}};
    store.read_each(keys, [](auto&&...) {});
    store.read_ranges(ranges, [](auto&&...) { return false; });
    expect(smd::read_each_past_errors(
               store, keys, [](auto&&...) {}, [](auto&&...) {}),
           "read_each_past_errors");
    expect(smd::read_ranges_past_errors(
               store, ranges, [](auto&&...) {}, [](auto&&...) {}),
           "read_ranges_past_errors");
    if (const auto signal = store.watch(keys)) {
        signal->interrupt();
        use(signal->wait_until(smd::change_signal::clock::now()), signal->changed_keys());
    }
    if (const auto opened = store.open(written)) {
        use(opened->size(), opened->read_at(0, {}), opened->part(0, 1), opened->notes());
    }
    smd::object_version version{.tag = "a"};
    use(version.differs_from({}), version.merge({}));
    use(store.remove_unfinished("", [](std::string_view) { return false; }));
    expect(store.remove(written), "remove");
    use(store.remove(written, smd::durability::on_disk));
}

void call_storages(const std::string& folder) {
    call_storage(smd::memory_storage{});
    call_storage(smd::local_storage{folder + "/local"});
    call_storage(smd::any_storage{std::make_shared<smd::local_storage>(folder + "/any")});
    const smd::any_storage held = smd::any_storage{smd::memory_storage{}}.with_problems({});
    expect(held.target<smd::memory_storage>() != nullptr, "target");
    expect(held.with_source(held.source()).source() == nullptr, "a source");
    call_storage(smd::open_storage(folder + "/opened"));
    call_storage(smd::cached_storage{smd::memory_storage{}});
    const smd::cached_storage cache{smd::local_storage{folder + "/cached"}, {.folder = folder + "/cache"}};
    call_storage(cache);
    cache.forget("key");
    cache.forget();
    use(cache.inner());
    if (const auto pinned = cache.hold()) {
        pinned->prefetch({});
        pinned->release("key");
    }
}

// What a source of one's own may add.
void call_contents() {
    use(smd::as_run(smd::any_storage{smd::memory_storage{}}, no_source{}).source());
    smd::run_contents found;
    const std::uint32_t object = found.object("object");
    const smd::run_contents::place where{.step = 1, .mode_step = 1};
    const smd::run_contents::tensor_form form{.type = smd::dtype::float32};
    found.add_record(where, "r", object, {0, 10});
    found.add_elements(where, "e", form, object, {0, 4});
    found.add_made(where, "m", form, [] { return std::vector<std::byte>(4); });
    found.add_number(where, "n", 2.5);
    found.add_number(where, found.name("o"), 2.5, smd::dtype::float64, object);
    found.add_number_beside(found.name("o"), 2.5, 0, smd::dtype::float64);
    found.add_shape(where, "s", {});
    found.add_collection({.name = "c"});
    found.add_to_collection("c", "e");
    found.set_num_workers(1);
    found.set_outdated(found.outdated());
    found.set_ended(true);
    found.note_problem("object", "it is cut");
    found.withdraw_problem("object");
    expect(found.ended() && found.has_found() && found.key_of(object) == "object", "an object");
    expect(found.problems().empty() && found.collections().size() == 1 && found.num_workers() == 1, "no problem");
}

template <class Hook>
void call_hook(Hook hook) {
    smd::hook_base& base = hook;
    base.add_observer(std::make_shared<observer>());
    auto found = smd::watch(
        hook, [](const auto& /*one*/) {}, smd::rules::exploding_tensor{});
    auto with_options = smd::watch(
        hook, {}, [](const auto& /*one*/) {}, smd::rules::exploding_tensor{});
    use(found->counters(), found->is_stopped());
    with_options->stop();
    hook.set_mode(smd::mode::train);
    for (smd::step_number step = 0; step < 3; ++step) {
        hook.set_step(step);
        use(hook.should_save("w"), hook.should_save("w", "mine"), hook.step(), hook.mode_step(), hook.current_mode());
        const std::vector<float> numbers{1, 2, 3, static_cast<float>(step)};
        expect(hook.save_tensor("w", numbers, {2, 2}), "save_tensor of a vector");
        expect(hook.save_tensor("x", smd::as_xtensor<float>(smd::tensor_value::copy_of<float>({2, 2}, numbers))),
               "save_tensor of an xtensor");
        expect(hook.save_tensor("number", 3.0), "save_tensor of a number");
        expect(hook.save_tensor("bits", std::vector<bool>{true, false}), "save_tensor of bits");
        expect(hook.save_tensor("bits in a column", std::vector<bool>{true, false}, {2, 1}), "save_tensor of bits");
        expect(hook.save_tensor("matrix", matrix{}), "save_tensor of a matrix");
        expect(hook.save_tensor("texts", std::vector<std::string>{"a", "b"}, {"mine"}), "save_tensor of texts");
        expect(hook.save_tensor("views", std::array<std::string_view, 2>{"a", "b"}), "save_tensor of views of texts");
        hook.save_scalar("loss", 1.0F / static_cast<float>(step + 1));
        if (step == 1) {
            hook.save_everything_next_step();
        }
        hook.end_step();
    }
    hook.abandon_step();
    hook.flush();
    const smd::hook_base& whichever = hook;
    use(whichever.step_is_lost(), whichever.options(), hook.counters(), hook.unmatched_collections(),
        hook.unsaved_tensors());
    hook.close();
}

void call_hooks(const std::string& folder) {
    const smd::hook_options options{.out_dir = folder + "/run",
                                    .save_config = {.save_interval = 1},
                                    .save_all = true,
                                    .on_note = [](const std::string& /*note*/) {}};
    call_hook(smd::hook{options});
    call_hook(smd::basic_hook<smd::memory_storage>{smd::memory_storage{}, options});
    smd::hook_options local = options;
    local.out_dir = folder + "/local_run";
    call_hook(smd::basic_hook<smd::local_storage>{local});

    const std::string json = R"({"LocalPath": ")" + folder + R"(/from_json"})";
    use(smd::hook_options_from_json(smd::as_bytes(json), "here"));
    smd::local_storage{folder}.write("hook.json", smd::as_bytes(json));
    use(smd::hook_options_from_json_file(folder + "/hook.json"));
    smd::hook::from_json_file(folder + "/hook.json").close();
}

template <class Trial>
void call_trial(const Trial& run) {
    use(run.name(), run.path(), run.store(), run.workers(), run.workers(0), run.num_workers(), run.modes(),
        run.steps_are_synthetic(), run.problems(), run.job_state(), run.loaded_all_steps(), run.last_complete_step(),
        run.dynamic_refresh(), run.quiet_time(), verify_run(run));
    expect(run.steps().size() == 3, "steps");
    run.refresh();
    run.read_ahead(0);
    run.wait_for_steps({0, 1});
    use(run.set_refresh(true), run.shown_step(0), run.mode(0), run.mode_step(0), run.global_step(smd::mode::train, 0),
        run.has_passed_step(1), run.collections(), run.collection("all"));
    use(run.inputs(0), run.labels(0), run.predictions(0));
    const smd::no_refresh guard{run};
    const smd::with_refresh again{run};
    expect(run.names_among({"w", "v"}, {.regex = "w"}).size() == 1, "names_among");
    expect(run.has_tensor("w") && !run.tensor_names({.collection = "all"}).empty(), "tensor_names");

    const auto tensor = run.tensor("w");
    use(tensor.name(), tensor.original_name(), tensor.saved_reductions(0), tensor.record_offset(0), tensor.steps(),
        tensor.prev_steps(2, {.n = 2}), tensor.workers(0), tensor.step_words(0), tensor.has_only_shape(0));
    expect(tensor.template value<float>(2)(1, 1) == 2 && tensor.value(0).size() == 4, "value");
    expect(tensor.find_value(0).has_value(), "find_value");
    expect(tensor.find_digest(0).has_value() && tensor.digest(0) == *tensor.find_digest(0), "find_digest");
    const auto missing = tensor.find_value(9);
    use(missing.error(), tensor.values(), tensor.shape(0), tensor.shapes(), tensor.find_shape(0));
    expect(tensor.reduction_value(0, smd::reduction::max) == 3, "reduction_value");
    expect(tensor.reduction_value(0, "max") == 3, "reduction_value by name");
    use(tensor.saved_reduction_values(0), tensor.find_reduction(0, smd::reduction::max),
        tensor.find_reduction(0, "max"));
    use(tensor.find_computed(0, smd::reduction_set::all()));
    expect(tensor.measured(0, measure{}) == 4 && tensor.compared(0, 1, comparison{}), "measured");
    use(tensor.find_measured(0, measure{}), tensor.find_compared(0, 1, comparison{}));
    const smd::tensor_value texts = run.tensor("texts").value(0);
    expect(texts.strings()[1] == "b", "strings of a trial");
    expect(run.tensor("matrix").template value<float>(0)(0, 1) == 3, "a matrix of a trial");

    std::size_t tensors = 0;
    smd::step_stream steps{run, smd::step_question{.values_up_to = 64, .how = {.threads = 2}}};
    while (const smd::step_stream::visited_step* const step = steps.next()) {
        for (const smd::reduced_tensor& one : step->tensors) {
            tensors += one ? 1 : 0;
            use(one.measured, one.value);
        }
    }
    expect(tensors > 0 && steps.is_complete(), "step_stream");
    smd::for_each_tensor(run, {}, smd::reduction_set::all(),
                         [](const smd::reduced_tensor& one) { use(one.shown_mode()); });
    expect(smd::diff_runs(run, run, {}, [](const smd::run_difference& one) { use(smd::name_of(one.kind)); }).same(),
           "diff_runs");
}

template <class Trial>
void call_rules(const Trial& run, const std::string& folder) {
    expect(smd::invoke_rule(smd::rules::exploding_tensor{}, run).met_at.empty(), "invoke_rule");
    const auto own = [](const smd::readable_trial auto& seen, smd::step_number step) {
        return smd::finding{.met = seen.has_tensor("w") && step == 1, .tensor = "w"};
    };
    const auto results = smd::invoke_rules(run, {}, smd::rules::exploding_tensor{}, own);
    expect(results.size() == 2 && !results[1].outcome.findings.empty(), "invoke_rules");

    auto registry = smd::rule_registry<Trial>::built_in();
    registry.check("exploding_tensor", {});
    use(registry.compares_runs("exploding_tensor"), registry.info("exploding_tensor"), registry.infos());
    smd::any_rule<Trial> made = registry.make("exploding_tensor");
    use(smd::applicable_rules(registry, run));
    made.rename("zeros");
    made.limit({0, 9});
    made.check();
    made.start();
    use(made.name(), made.range(), made.poll_interval(), &smd::any_rule<Trial>::call,
        &smd::any_rule<Trial>::while_waiting);
    smd::rules::exploding_tensor lent;
    const auto borrowed = smd::any_rule<Trial>::borrowing(lent);
    const std::vector<smd::any_rule<Trial>> rules{made, borrowed};
    use(smd::invoke_rules(run, rules), made.result({}));
    smd::rule_session<Trial> session{run, rules};
    session.visit(0);
    session.idle(1);
    use(session.poll_interval(), session.over());
    session.go();
    session.end(smd::invoke_end::end_of_run, 3);
    use(session.results());

    smd::required_tensors<Trial> required{run};
    required.add("w", {0});
    required.add("w", {0}, run);
    required.add_matching({"^w$"}, 0);
    required.fetch();
    use(required.names());

    const smd::rule_result result = smd::result_of(smd::rules::exploding_tensor{}, results[0].outcome);
    expect(smd::rule_status_named(smd::service_name_of(smd::rule_status::in_progress)) == smd::rule_status::in_progress,
           "rule_status_named");
    double setting = 0;
    smd::parse_setting(std::string_view{"2.5"}, setting);
    expect(smd::text_of(setting) == "2.5" && smd::type_name_of<double>() == "float", "settings");
    std::string text = smd::result_json(result) + smd::finding_json("run", results[1].outcome.findings[0]);
    smd::append_result_json(text, result);
    smd::append_finding_json(text, "run", {});
    use(smd::parameters_of(smd::rules::exploding_tensor{}), smd::name_of_rule(smd::rules::exploding_tensor{}),
        smd::status_of(results[0].outcome), smd::unread_text(results[0].outcome), smd::workers_text(results[0].outcome),
        smd::first_bad_value(results), smd::first_bad_value_text({}), smd::finding::note("text"),
        smd::plain_rule_name("AllZero"));
    smd::for_each_setting<smd::rules::exploding_tensor>([](const auto& one) { use(one.name); });
    smd::for_each_built_in_rule([]<class Rule>() {});
    use(smd::parse_rules_json(
        R"([{"RuleConfigurationName": "zeros", "RuleParameters": {"rule_to_invoke": "AllZero"}}])", "here"));

    use(smd::actions::fill_in("{rule}", "run", {}));
    expect(static_cast<bool>(smd::actions::run_command({"true"})), "run_command");
    smd::actions::status_file file{folder + "/status.json"};
    use(file.set("mine", smd::rule_status::in_progress), file.set(result), file.flush());
    const std::array statuses{smd::actions::evaluation_status{}};
    smd::actions::append_status_json(text, statuses[0]);
    use(smd::actions::status_json(statuses[0]), smd::actions::status_json(statuses), smd::actions::iso_time_text({}),
        smd::actions::write_status_file(folder + "/one.json", statuses[0]),
        smd::actions::write_status_file(folder + "/all.json", statuses));
    for (const auto& one : smd::actions::parse_actions(R"([{"name": "stoptraining"}])").actions) {
        use(smd::actions::name_of(one));
    }
}

template <class Trial>
void call_exports(const Trial& run, const std::string& folder) {
    use(smd::export_csv(run, folder + "/csv"), smd::export_npz(run, folder + "/npz"),
        smd::export_run(run, folder + "/copy"), smd::export_safetensors(run, folder + "/safetensors"),
        smd::export_tensorboard(run, folder + "/tensorboard"));
}

}  // namespace

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "every_name.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
        return 2;
    }
    call_core();
    call_tensors();
    call_storages(folder);
    call_contents();
    call_hooks(folder);
    const smd::trial any =
        smd::create_trial(folder + "/run", {}, {.archive = {.in_passing = smd::reduce_in_passing()}});
    const smd::local_trial local{folder + "/local_run"};
    call_trial(any);
    call_trial(local);
    call_rules(any, folder);
    call_rules(local, folder);
    call_exports(any, folder + "/any_exports");
    call_exports(local, folder + "/local_exports");
    std::filesystem::remove_all(folder);
    return failures == 0 ? 0 : 1;
}
