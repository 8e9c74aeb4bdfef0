#include <smdebug/hook/hook_door.hpp>

#include "hook/hook_fixture.hpp"

#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smd = smdebug;

namespace {

using smd::detail::hook_door;
using smdebug_test::hooks::memory_hook;

smd::hook_options every_second_step() { return {.save_config = {.save_interval = 2}, .include_regex = {"^x"}}; }

// Elements that arrive when they are waited for.
struct arriving {
    std::shared_ptr<std::vector<float>> place = std::make_shared<std::vector<float>>(2000, 0.0F);
    std::array<std::size_t, 1> extents{2000};
    std::shared_ptr<int> waited = std::make_shared<int>(0);

    [[nodiscard]] smd::tensor_view view() const {
        return {smd::dtype::float32, extents, std::as_bytes(std::span{*place}), {}};
    }
    [[nodiscard]] smd::detail::late_elements late(bool fails = false) const {
        return {place, [to = place, count = waited, fails] {
                    ++*count;
                    if (fails) {
                        throw std::runtime_error("the device is gone");
                    }
                    to->assign(to->size(), 3.0F);
                }};
    }
};

}  // namespace

TEST_CASE("hook_door: what is due is known without a name, and by a name's place") {
    memory_hook hook{smd::memory_storage{}, every_second_step()};
    const hook_door door{hook};
    CHECK(door.anything_due());
    const hook_door::place saved = door.place_of("x");
    const hook_door::place other = door.place_of("y");
    CHECK(saved.known());
    CHECK_FALSE(hook_door::place{}.known());
    CHECK(door.due(saved, "x"));
    CHECK_FALSE(door.due(other, "y"));
    hook.end_step();
    CHECK_FALSE(door.anything_due());
    CHECK_FALSE(door.due(saved, "x"));
    hook.save_everything_next_step();
    hook.end_step();
    CHECK(door.due(other, "y"));
    hook.close();
    CHECK_FALSE(door.anything_due());
}

TEST_CASE("hook_door: numbers that were computed elsewhere are written as the hook's own") {
    const std::vector<float> values{1, 2, 6};
    const auto run_of = [&](auto&& save) {
        smd::memory_storage store;
        smd::hook_options options = every_second_step();
        options.reduction_config =
            smd::reduction_config{.reductions = {"mean"}, .abs_norms = {"l2"}, .save_shape = true};
        options.digests = {"all"};
        memory_hook hook{smd::memory_storage{store}, options};
        CHECK(save(hook));
        hook.close();
        return smd::basic_trial{store};
    };
    const std::array<std::size_t, 1> extents{3};
    const smd::tensor_view view{smd::dtype::float32, extents, std::as_bytes(std::span{values}), {}};
    const auto own = run_of([&](memory_hook& hook) { return hook.save_tensor("x", values); });
    const auto given = run_of([&](memory_hook& hook) {
        const hook_door door{hook};
        const auto due = door.numbers_alone("x");
        REQUIRE(due.has_value());
        CHECK(due->digest);
        return door.save_numbers("x", extents, door.compute(view, *due));
    });
    CHECK(own.tensor("x").reduction_value(0, smd::reduction::mean) == 3);
    CHECK(given.tensor("x").reduction_value(0, smd::reduction::mean) == 3);
    CHECK(given.tensor("x").shape(0) == smd::shape_type{3});
    CHECK(own.tensor("x").digest(0) == smd::digest_of(view));
    CHECK(given.tensor("x").digest(0) == smd::digest_of(view));
    CHECK(given.tensor("x").reduction_value(0, smd::reduction::l2, {.abs = true}) ==
          own.tensor("x").reduction_value(0, smd::reduction::l2, {.abs = true}));
}

TEST_CASE("hook_door: numbers alone are not enough where elements are due, or nothing is") {
    memory_hook hook{smd::memory_storage{}, every_second_step()};
    const hook_door door{hook};
    CHECK_FALSE(door.numbers_alone("x").has_value());
    CHECK_FALSE(door.numbers_alone("y").has_value());
    CHECK_FALSE(door.save_numbers("x", {}, {}));
    CHECK(hook.counters().lost_steps == 0);
}

TEST_CASE("hook_door: takes names that a hook refuses, and steps that were written before") {
    const smd::memory_storage store;
    memory_hook hook{store, every_second_step()};
    const hook_door door{hook};
    const std::vector<float> values{5};
    const std::array<std::size_t, 1> extents{1};
    const auto view = smd::view_of(values, extents, "x");
    const auto save = [&](smd::step_number in_mode) {
        hook.set_mode(smd::mode::train);
        door.set_step(4, in_mode);
        CHECK(door.save("x of smdebug/reductions/mean/y", view));
        door.save_scalar("x", view);
        hook.end_step();
    };
    save(2);
    CHECK_THROWS_AS(hook.set_step(4, 2), smd::value_error);
    save(2);
    door.forget(4);
    CHECK_NOTHROW(hook.set_step(5, 2));
    hook.close();
    const smd::basic_trial<smd::memory_storage> run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{4});
    const auto value = run.tensor("x").value(4);
    CHECK(value.elements<float>()[0] == 5);
}

TEST_CASE("hook_door: elements that are still on their way are written when they have arrived") {
    struct row {
        std::size_t pool_bytes;
        smd::record::footer_kind footer;
        std::optional<smd::reduction_config> what;
    };
    using smd::record::footer_kind;
    const smd::reduction_config both{.reductions = {"mean"}, .save_raw_tensor = true};
    for (const row& given : std::vector<row>{{0, footer_kind::package_constant, {}},
                                             {1 << 20, footer_kind::package_constant, {}},
                                             {1 << 20, footer_kind::checksum, {}},
                                             {1 << 20, footer_kind::package_constant, both}}) {
        smd::memory_storage store;
        smd::hook_options options = every_second_step();
        options.background.pool_bytes = given.pool_bytes;
        options.payload_checksum = given.footer;
        options.reduction_config = given.what;
        memory_hook hook{smd::memory_storage{store}, options};
        const arriving source;
        const auto late = source.late();
        CHECK(hook_door{hook}.save("x", source.view(), {}, &late));
        CHECK(hook.save_tensor("x2", std::vector<float>{1}));
        hook.end_step();
        hook.close();
        CHECK(*source.waited == 1);
        const auto value = smd::basic_trial{store}.tensor("x").value(0);
        REQUIRE(value.size() == 2000);
        CHECK(value.elements<float>()[1999] == 3);
        CHECK(smd::basic_trial{store}.tensor("x2").value(0).size() == 1);
        CHECK(hook.counters().lost_steps == 0);
    }
}

TEST_CASE("hook_door: elements that never arrive cost their step, and no other") {
    for (const std::size_t pool_bytes : {std::size_t{0}, std::size_t{1} << 20U}) {
        smd::memory_storage store;
        smd::hook_options options = every_second_step();
        options.background.pool_bytes = pool_bytes;
        options.on_failure = smd::failure_policy::drop;
        options.on_drop = [](const std::string& why) { CHECK(why.find("the device is gone") != std::string::npos); };
        memory_hook hook{smd::memory_storage{store}, options};
        const arriving source;
        const auto late = source.late(true);
        hook_door{hook}.save("x", source.view(), {}, &late);
        hook.end_step();
        hook.end_step();
        CHECK(hook.save_tensor("x", std::vector<float>{1}));
        hook.end_step();
        hook.close();
        CHECK(hook.counters().lost_steps == 1);
        CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{2});
    }
}

TEST_CASE("hook_door: an observer sees elements when they have arrived, in a lost step, too, and never before") {
    for (const bool fails : {false, true}) {
        const smdebug_test::faulty_storage store;
        smd::basic_hook<smdebug_test::faulty_storage> hook{store, every_second_step()};
        const auto watching = std::make_shared<smdebug_test::hooks::scripted_observer>();
        std::vector<float> seen;
        watching->sees = [&](std::string_view, const smd::tensor_view& tensor, const auto&) {
            seen.push_back(smd::load_le<float>(tensor.bytes.data()));
        };
        hook.add_observer(watching);
        const auto save = [&](std::string_view name) {
            const arriving source;
            const auto late = source.late(fails);
            hook_door{hook}.save(name, source.view(), {}, &late);
        };
        save("x1");
        CHECK(hook.step_is_lost() == fails);
        if (!fails) {
            store.plan({.first = 0, .only = "append events/"});
            hook.save_tensor("x2", std::vector<float>(60'000, 3.0F));
            CHECK(hook.step_is_lost());
        }
        save("x3");
        CHECK(seen == std::vector<float>(fails ? 0U : 3U, 3.0F));
        CHECK_THROWS(hook.end_step());
    }
}

TEST_CASE("hook_door: a name belongs to one tensor, and a tensor has one name") {
    memory_hook hook{smd::memory_storage{}, every_second_step()};
    const hook_door door{hook};
    const hook_door other{hook};
    const int first = 0;
    const int second = 0;
    CHECK(door.claim("x", &first) == nullptr);
    CHECK(other.claim("x", &first) == &first);
    CHECK(other.claim("y", &first) == &first);
    CHECK(other.claim("x", &second) == &first);
    door.release("x");
    CHECK(other.claim("x", &second) == nullptr);
}

TEST_CASE("hook_door: after its hook it says so, and does nothing") {
    std::optional<memory_hook> hook;
    std::vector<std::string> notes;
    smd::hook_options options = every_second_step();
    options.on_note = [&](const std::string& note) { notes.push_back(note); };
    hook.emplace(smd::memory_storage{}, options);
    const hook_door door{*hook};
    door.say("a sentence");
    CHECK(notes == std::vector<std::string>{"a sentence"});
    CHECK(door.is_open());
    hook.reset();
    CHECK_FALSE(door.is_open());
    CHECK_THROWS_WITH_AS(
        static_cast<void>(door.anything_due()),
        "SMDebugValueError: the hook was destroyed before what watches a module for it: destroy the watch first",
        smd::value_error);
    door.say("no hook reports it");
    door.release("x");
}

TEST_CASE("hook_door: a run that is closed unfinished has its whole steps, and can be resumed") {
    const smd::memory_storage store;
    smd::hook_options options = every_second_step();
    {
        memory_hook hook{store, options};
        hook.save_scalar("x", 1);
        hook.end_step();
        hook.set_step(2);
        hook.save_scalar("x", 2);
        hook_door{hook}.close_unfinished();
        hook_door{hook}.close_unfinished();
        CHECK_THROWS_AS(hook.save_scalar("x", 3), smd::error);
    }
    const smd::basic_trial<smd::memory_storage> left{store};
    CHECK(left.steps() == std::vector<smd::step_number>{0});
    CHECK_FALSE(left.loaded_all_steps());
    options.existing = smd::existing_run::resume;
    CHECK_NOTHROW(memory_hook{store, options}.close());
}
