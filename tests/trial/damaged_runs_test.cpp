// Whole runs, damaged at random places: every answer is a value or an error of the library, and what was not touched
// stays readable.  Deterministic; under the sanitizers this is the search for reads out of bounds.
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/smdebug.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <sys/stat.h>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

std::map<std::string, std::string> recorded(const std::string& run) {
    const std::filesystem::path root = std::string{SMDEBUG_TEST_DATA} + "/golden/" + run;
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
        if (entry.is_regular_file()) {
            files.emplace(std::filesystem::relative(entry.path(), root).string(), file_content(entry.path()));
        }
    }
    return files;
}

// One random damage to a text.
void damage(std::string& text, std::mt19937& random) {
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random);
    };
    if (text.empty()) {
        text = "x";
        return;
    }
    const std::size_t at = below(text.size());
    switch (below(7)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << below(8)));
            break;
        case 1:
            text[at] = static_cast<char>(below(256));
            break;
        case 2:
            text.resize(at);
            break;
        case 3:
            text.insert(at, text.substr(below(text.size()), 40));
            break;
        case 4:
            text.erase(at, 1 + below(20));
            break;
        case 5: {  // a number becomes a large one
            const std::size_t digit = text.find_first_of("0123456789", at);
            if (digit != std::string::npos) {
                text.replace(digit, 1, "9223372036854775807");
            }
            break;
        }
        default:
            for (std::size_t i = at; i < std::min(text.size(), at + 8); ++i) {
                text[i] = '\xFF';
            }
    }
}

// Asks everything; counts values that could be read.
template <class Trial>
std::size_t ask_everything(const Trial& run) {
    std::size_t read = 0;
    for (const std::string& name : run.tensor_names()) {
        const auto tensor = run.tensor(name);
        for (const step_number step : tensor.steps({.show_incomplete_steps = true})) {
            for (const std::string& worker : tensor.workers(step)) {
                const auto value = tensor.find_value(step, {.worker = worker});
                read += value ? 1U : 0U;
                if (value && is_numeric(value->type())) {
                    CHECK(value->bytes().size() == value->size() * size_of(value->type()));
                }
                static_cast<void>(tensor.find_shape(step, {.worker = worker}));
                static_cast<void>(tensor.find_reduction(step, reduction::l2, {.worker = worker}));
                static_cast<void>(tensor.find_reduction(step, reduction::mean, {.worker = worker, .abs = true}));
            }
        }
    }
    for (const mode in : {mode::global, mode::train, mode::eval, mode::predict}) {
        for (const step_number step : run.steps({.mode = in})) {
            static_cast<void>(run.tensor_names({.step = step, .mode = in}));
        }
    }
    static_cast<void>(invoke_rule(rules::exploding_tensor{}, run, {.timeout = 0ms}));
    return read;
}

}  // namespace

TEST_CASE("damaged runs: any damage to any file ends in values or in errors of the library") {
    for (const std::string& name :
         std::vector<std::string>{"torch_mlp", "shapes_raw", "reductions_tf", "tf_workers", "xgboost_like"}) {
        CAPTURE(name);
        const auto files = recorded(name);
        REQUIRE(files.size() > 3);
        std::mt19937 random{static_cast<unsigned>(name.size())};
        std::size_t opened = 0;
        for (int round = 0; round < 150; ++round) {
            auto damaged = files;
            for (std::size_t times = 1 + random() % 3; times > 0; --times) {
                auto chosen = damaged.begin();
                std::advance(chosen, static_cast<std::ptrdiff_t>(random() % damaged.size()));
                if (random() % 20 == 0) {
                    damaged.erase(chosen);
                } else {
                    damage(chosen->second, random);
                }
            }
            memory_storage store;
            for (const auto& [key, content] : damaged) {
                store.write(key, as_bytes(content));
            }
            for (const damage_policy policy : {damage_policy::fail, damage_policy::skip}) {
                CAPTURE(round);
                try {
                    const memory_trial run{
                        store, {.poll_interval = 1ms, .missing_event_file_retry_limit = 0, .damaged_index = policy}};
                    static_cast<void>(ask_everything(run));
                    ++opened;
                } catch (const error& told) {
                    CHECK_FALSE(std::string_view{told.what()}.empty());
                }
            }
        }
        CHECK(opened > 100);
    }
}

TEST_CASE(
    "damaged runs: a sparse file that claims terabytes costs an error, not the memory, and only its own tensors") {
    const temporary_folder place;
    local_storage store{place.path()};
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 1}) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1, 2, 3})}});
    }
    build.end();
    // Twelve real bytes claim 2 TiB, the file looks as if they were there, and the index says yet more.
    const std::string hurt = smdebug::detail::locations::event_key(1, "worker_0");
    std::string head(record::header_size, '\0');
    record::store_header(reinterpret_cast<std::byte*>(head.data()),
                         record::detail::header::of(std::uint64_t{1} << 41U));
    place.write(hurt, head);
    std::filesystem::resize_file(place.path() + "/" + hurt, (std::uint64_t{1} << 41U) + 16);
    build.put(smdebug::detail::locations::index_key(1, "worker_0"),
              index_text({.step = 1, .tensors = {tensor_of<float>("w", {1})}}, {{0, std::uint64_t{1} << 62U}}, hurt));

    const local_trial run{place.path()};
    CHECK(run.tensor("w").value(0).size() == 3);
    const auto lost = run.tensor("w").find_value(1);
    REQUIRE_FALSE(lost.has_value());
    CHECK(lost.error().why == lookup_failure_kind::damaged);
    CHECK(lost.error().where == hurt);
    CHECK(lost.error().note.find("2199023255568 bytes") != std::string::npos);
    for (const bool in_place : {false, true}) {
        std::vector<std::string> seen;
        smdebug::detail::scan(
            state_of(run), {.reading = {.in_place = in_place}}, [&](const smdebug::detail::scanned_tensor& tensor) {
                seen.push_back(tensor.failure() != nullptr ? tensor.failure()->note : "read");
                CHECK((tensor.failure() == nullptr || tensor.failure()->why == lookup_failure_kind::damaged));
            });
        REQUIRE(seen.size() == 2);
        CHECK(seen[0] == "read");
        CHECK(seen[1] == lost.error().note);
    }
    const local_trial careful{place.path(), {.limits = {.record = 20}}};
    CHECK(thrown_code([&] { static_cast<void>(careful.tensor("w").value(0)); }) == error_code::corrupt_record);
}

TEST_CASE("damaged runs: index and collections files above their limits are refused before they are read") {
    const temporary_folder place;
    local_storage store{place.path()};
    run_builder build{store};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}});
    build.step({.step = 1, .tensors = {tensor_of<float>("w", {1})}}).end();
    const std::string index = smdebug::detail::locations::index_key(1, "worker_0");
    const std::uint64_t huge = std::uint64_t{1} << 40U;  // sparse
    std::filesystem::resize_file(place.path() + "/" + index, huge);
    const corrupt_data told = caught<corrupt_data>([&] { const local_trial run{place.path()}; });
    CHECK(told.code() == error_code::corrupt_index);
    CHECK(told.where() == index);
    CHECK(std::string_view{told.what()}.find("limits.index_file") != std::string_view::npos);
    const local_trial rest{place.path(), {.damaged_index = damage_policy::skip}};
    CHECK(rest.steps() == std::vector<step_number>{0});
    REQUIRE(rest.problems().size() == 1);
    CHECK(rest.problems().front().what.find(std::to_string(huge)) != std::string::npos);
    CHECK(thrown_code([&] {
              static_cast<void>(local_trial{place.path(), {.limits = {.index_file = 10}}});
          }) == error_code::corrupt_index);

    const std::string collections = smdebug::detail::locations::collections_key("worker_0");
    std::filesystem::resize_file(place.path() + "/" + collections, huge);
    const corrupt_data refused = caught<corrupt_data>([&] { const local_trial run{place.path()}; });
    CHECK(refused.code() == error_code::corrupt_collections_file);
    CHECK(refused.where() == collections);
    CHECK(std::string_view{refused.what()}.find("limits.collections_file") != std::string_view::npos);
}

TEST_CASE(
    "damaged runs: a run of more index files than it may have is refused, whatever the policy, and stays as it was") {
    memory_storage store;
    run_builder build{store};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}});
    build.step({.step = 1, .tensors = {tensor_of<float>("w", {1})}});
    const std::uint64_t bytes = store.read(locations::index_key(0, "worker_0")).view().size() +
                                store.read(locations::index_key(1, "worker_0")).view().size();
    const auto refusal = [&](const size_limits& limits) -> std::string {
        for (const damage_policy policy : {damage_policy::fail, damage_policy::skip}) {
            CHECK(thrown_code([&] {
                      static_cast<void>(memory_trial{store, {.damaged_index = policy, .limits = limits}});
                  }) == error_code::corrupt_index);
        }
        try {
            const memory_trial run{store, {.limits = limits}};
        } catch (const corrupt_data& told) {
            CHECK(told.code() == error_code::corrupt_index);
            return told.what();
        }
        return {};
    };
    CHECK(refusal({.index_files = 1}).find("more index files than the 1 allowed (trial_options::limits.index_files)") !=
          std::string::npos);
    CHECK(refusal({.all_index_files = bytes - 1}).find("limits.all_index_files") != std::string::npos);

    const memory_trial run{store, {.limits = {.index_files = 2, .all_index_files = bytes}}};
    CHECK(run.steps() == std::vector<step_number>{0, 1});
    build.step({.step = 2, .tensors = {tensor_of<float>("w", {1})}});
    for (int times = 0; times < 3; ++times) {  // again and again the same: what failed is not counted
        CHECK(thrown_code([&] { static_cast<void>(run.refresh()); }) == error_code::corrupt_index);
    }
    const memory_trial wide{store, {.limits = {.index_files = 3}}};
    CHECK(wide.steps() == std::vector<step_number>{0, 1, 2});
    build.end();
    wide.refresh();  // lists everything once more, and counts nothing twice
    wide.refresh();
    CHECK(wide.steps() == std::vector<step_number>{0, 1, 2});
}

TEST_CASE("damaged runs: a pipe in place of an index file, or a link to a pipe or device, is reported") {
    const std::string pipe = smdebug::detail::locations::index_key(1, "worker_0");
    for (const std::string target : {"", "../../a_pipe", "/dev/null"}) {
        CAPTURE(target);
        const temporary_folder place;
        local_storage store{place.path()};
        run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}}).end();
        const std::string odd = place.path() + "/" + pipe;
        REQUIRE(::mkfifo(target.empty() ? odd.c_str() : (place.path() + "/a_pipe").c_str(), 0600) == 0);
        if (!target.empty()) {
            std::filesystem::create_symlink(target, odd);
        }
        const corrupt_data told = caught<corrupt_data>([&] { const local_trial run{place.path()}; });
        CHECK(told.code() == error_code::corrupt_index);
        CHECK(told.where() == pipe);
        CHECK(std::string_view{told.what()}.find("not a regular file") != std::string_view::npos);
        const local_trial rest{place.path(), {.damaged_index = damage_policy::skip}};
        CHECK(rest.steps() == std::vector<step_number>{0});
        REQUIRE(rest.problems().size() == 1);
        CHECK(rest.problems().front().where == pipe);
    }
}

TEST_CASE("damaged runs: a link to a pipe that later leads to an index file is read as that file") {
    const temporary_folder place;
    local_storage store{place.path()};
    run_builder build{store};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}});
    build.step({.step = 1, .tensors = {tensor_of<float>("w", {2})}});
    const std::filesystem::path index = place.path() + "/" + smdebug::detail::locations::index_key(1, "worker_0");
    const std::filesystem::path elsewhere = place.path() + "/elsewhere";
    const std::filesystem::path pipe = place.path() + "/target";
    std::filesystem::rename(index, elsewhere);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::filesystem::create_symlink(pipe, index);
    const local_trial run{place.path(), {.damaged_index = damage_policy::skip}};
    CHECK(run.steps() == std::vector<step_number>{0});
    CHECK(run.problems().size() == 1);
    std::filesystem::rename(elsewhere, pipe);  // the folder of the link stays as it is
    CHECK(run.steps() == std::vector<step_number>{0, 1});
    CHECK(run.problems().empty());
}

TEST_CASE("damaged runs: a record under another name is reported, whatever the names look like") {
    for (const auto& [name, other] :
         std::map<std::string, std::string>{{"a/smdebug/reductions/mean/w", "b/smdebug/reductions/mean/w"},
                                            {"", "w"},
                                            {"w", ""},
                                            {"smdebug/reductions/mean/w", "smdebug/reductions/max/w"}}) {
        CAPTURE(name);
        memory_storage store;
        run_builder build{store};
        const written_step wrong{.step = 0, .tensors = {tensor_of<float>(name, {5}), tensor_of<float>(other, {99})}};
        const event_bytes events = encode_events(wrong);
        build.collections().step(wrong).end();
        build.put(smdebug::detail::locations::index_key(0, "worker_0"),
                  index_text(wrong, {events.places[1], events.places[1]},
                             smdebug::detail::locations::event_key(0, "worker_0")));
        const memory_trial run{store};
        const recorded_name parsed = parse_recorded_name(name);
        const auto tensor = run.tensor(parsed.tensor);
        if (parsed.reduction) {
            const auto found = tensor.find_reduction(0, parsed.reduction->what);
            REQUIRE_FALSE(found.has_value());
            CHECK(found.error().damage == status::wrong_tensor);
        } else {
            const auto found = tensor.find_value(0);
            REQUIRE_FALSE(found.has_value());
            CHECK(found.error().damage == status::wrong_tensor);
        }
        std::size_t told = 0;
        smdebug::detail::scan(state_of(run), {.saved = reduction_set::all()},
                              [&](const smdebug::detail::scanned_tensor& seen) {
                                  told += (seen.failure() != nullptr ? 1U : 0U) + seen.saved_failures.size();
                              });
        CHECK(told == 1);
    }
}

TEST_CASE("damaged runs: a tensor whose own name holds that of saved reductions keeps its name") {
    memory_storage store;
    const std::string name = "block/smdebug/reductions/mean/w";
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>(name, {1, 2, 3})}}).end();
    const memory_trial run{store};
    CHECK(run.tensor_names() == std::vector<std::string>{name});
    CHECK(run.tensor(name).value(0).size() == 3);
    CHECK(run.tensor(name).reduction_value(0, reduction::mean) == 2);
}

TEST_CASE("damaged runs: a damaged event file affects only the tensors in it") {
    const auto files = recorded("torch_mlp");
    const std::string hurt = smdebug::detail::locations::event_key(2, "worker_0");
    memory_storage whole;
    for (const auto& [key, content] : files) {
        whole.write(key, as_bytes(content));
    }
    const memory_trial healthy{whole};
    const auto names = healthy.tensor_names({.step = 2});
    const std::size_t all = ask_everything(healthy);
    std::mt19937 random{3};
    for (int round = 0; round < 50; ++round) {
        memory_storage store;
        for (auto [key, content] : files) {
            if (key == hurt) {
                damage(content, random);
            }
            store.write(key, as_bytes(content));
        }
        const memory_trial run{store};
        const std::size_t read = ask_everything(run);
        CHECK(read + names.size() >= all);
        CHECK(run.steps() == healthy.steps());
    }
}
