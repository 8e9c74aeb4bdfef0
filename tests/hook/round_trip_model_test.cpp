// Any training under any configuration: a trial reads what a model says must be there.
#include <smdebug/hook/hook.hpp>

#include "hook/round_trip_fixture.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::round_trips;
using smdebug_test::contains;

namespace {

// What must be there of one tensor at one step.
struct modelled_tensor {
    std::optional<owned_tensor> raw = {};
    std::optional<shape_type> shape = {};
    std::map<reduction_key, double> reductions = {};
    [[nodiscard]] bool empty() const { return !raw && !shape && reductions.empty(); }
};

struct modelled_step {
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
    std::map<std::string, modelled_tensor> tensors = {};
};

// A collection as the documentation has it.
struct modelled_collection {
    std::function<bool(std::string_view)> matches;
    bool included = false;
    std::map<mode, save_config_mode> when = {};
    std::set<reduction_key> reductions = {};
    bool raw = false;
    bool shape = false;
    bool only_in_training = false;
    std::set<std::string> put = {};   // by name, in the call
    std::set<std::string> seen = {};  // what must be listed in the collections file
};

const std::vector<std::string> modelled_names{"a/weight",
                                              "a/bias",
                                              "b/weight",
                                              "b/x: \"y\"",
                                              "gradient/a/weight",
                                              "gradient/b/bias",
                                              "CrossEntropyLoss_output_0",
                                              "CrossEntropyLoss_input_output_0",
                                              "x/Größe",
                                              "x/weight",
                                              "misc"};

// A training by chance, and what it must leave.
class modelled_training {
public:
    explicit modelled_training(unsigned seed) : make_(seed) {
        options_.save_config = random_when();
        if (make_.one_in(2)) {
            options_.save_config.modes[make_.one_in(2) ? mode::eval : mode::train] = random_when().in(mode::global);
        }
        reduction_config what{.save_raw_tensor = true};
        if (make_.one_in(2)) {
            what = random_what();
            options_.reduction_config = what;
        }
        const auto add = [&](const std::string& name, std::function<bool(std::string_view)> matches) {
            modelled_collection& made = all_[name];
            made.matches = std::move(matches);
            made.when = options_.save_config;
            set_what(made, what);
        };
        const auto nothing = [](std::string_view) { return false; };
        add("all", nothing);
        add("default", nothing);
        add("weights", [](std::string_view name) { return !name.starts_with("gradient") && contains(name, "weight"); });
        add("biases", [](std::string_view name) { return !name.starts_with("gradient") && contains(name, "bias"); });
        add("gradients", [](std::string_view name) { return name.starts_with("gradient"); });
        all_["gradients"].only_in_training = true;
        add("losses", [](std::string_view name) { return name == "CrossEntropyLoss_output_0"; });
        add("by_regex", [](std::string_view name) { return name.starts_with("a/") || name.starts_with("x/"); });
        add("by_name", [](std::string_view name) { return name == "b/weight" || name == "misc"; });
        options_.on_note = [](const std::string&) {};  // much is not saved, on purpose
        options_.collections = {{.name = "by_regex", .include_regex = {"^a/", "^x/"}},
                                {.name = "by_name", .tensor_names = {"b/weight", "misc"}},
                                {.name = "weights"}};
        for (collection& own : options_.collections) {
            if (make_.one_in(2)) {
                own.reduction_config = random_what();
                set_what(all_[own.name], *own.reduction_config);
            }
            if (make_.one_in(2)) {
                own.save_config.emplace();
                for (const mode which : {mode::train, mode::eval, mode::predict, mode::global}) {
                    if (make_.one_in(2)) {
                        all_[own.name].when[which] = (*own.save_config)[which] = random_when().in(which);
                    }
                }
            }
        }
        set_what(all_["losses"], {.save_raw_tensor = true});
        all_["losses"].included = true;
        for (const char* name : {"weights", "biases", "gradients", "by_regex", "by_name"}) {
            if (make_.one_in(3)) {
                options_.include_collections.emplace_back(name);
                all_[name].included = true;
            }
        }
        if (make_.one_in(4)) {
            options_.include_regex = {"misc|^b/x"};
            all_["default"].included = true;
            all_["default"].matches = [](std::string_view name) { return name == "misc" || name.starts_with("b/x"); };
        }
        if (make_.one_in(8)) {
            options_.save_all = true;
            all_["all"].matches = [](std::string_view) { return true; };
            include_all_ = true;
        } else if (make_.one_in(8)) {
            options_.include_collections.emplace_back("all");
            include_all_ = true;
        }
        if (include_all_) {
            for (auto& [name, group] : all_) {
                group.included = true;
            }
        }
        options_.payload_checksum =
            make_.one_in(2) ? record::footer_kind::checksum : record::footer_kind::package_constant;
        plan_steps();
    }

    [[nodiscard]] const hook_options& options() const noexcept { return options_; }

    template <class Hook>
    void train(Hook& hook) {
        for (planned_step& step : plan_) {
            if (step.jumps) {
                hook.set_step(step.global, {});
            }
            hook.set_mode(step.mode);
            CHECK(hook.step() == step.global);
            CHECK(hook.mode_step() == step.mode_step);
            for (planned_save& save : step.saves) {
                CAPTURE(save.name);
                if (save.scalar) {
                    hook.save_scalar(save.name, *save.scalar);
                } else {
                    if (save.into.empty()) {
                        CHECK(hook.should_save(save.name) == save.due);
                    }
                    const auto into = [&](auto... names) {
                        return hook.save_tensor(save.name, save.tensor.view(), {names...});
                    };
                    using text = std::string_view;
                    CHECK((save.into.empty()       ? into()
                           : save.into.size() == 1 ? into(text{save.into[0]})
                                                   : into(text{save.into[0]}, text{save.into[1]})) == save.written);
                }
            }
            if (step.everything_next) {
                hook.save_everything_next_step();
            }
            hook.end_step();
        }
    }

    void check(const memory_storage& store) const {
        if (model_.empty()) {
            CHECK(store.list("index/", "").empty());
            return;
        }
        const checked_trial run{store};
        std::vector<step_number> steps;
        std::set<std::string> names;
        for (const auto& [number, step] : model_) {
            steps.push_back(number);
            CAPTURE(number);
            CHECK(run.mode(number) == step.mode);
            CHECK(run.mode_step(number) == step.mode_step);
            std::vector<std::string> expected;
            for (const auto& [name, tensor] : step.tensors) {
                CAPTURE(name);
                expected.push_back(name);
                names.insert(name);
                check(run.tensor(name), number, tensor);
            }
            CHECK(run.tensor_names({.step = number}) == expected);
        }
        CHECK(run.steps() == steps);
        CHECK(run.tensor_names() == std::vector<std::string>(names.begin(), names.end()));
        check_collections(run);
        ++checked_runs;
        checked_steps += static_cast<int>(model_.size());
    }

    static inline int checked_runs = 0;
    static inline int checked_steps = 0;
    static inline int checked_tensors = 0;

private:
    struct planned_save {
        std::string name;
        std::vector<std::string> into;
        std::optional<double> scalar;
        owned_tensor tensor;
        bool due = false;
        bool written = false;
    };
    struct planned_step {
        step_number global = 0;
        smdebug::mode mode = smdebug::mode::global;
        step_number mode_step = 0;
        bool jumps = false;
        bool everything_next = false;
        std::vector<planned_save> saves;
    };

    [[nodiscard]] save_config random_when() {
        save_config when{.save_interval = static_cast<std::int64_t>(1 + make_.below(3))};
        if (make_.one_in(3)) {
            when.start_step = static_cast<step_number>(make_.below(4));
        }
        if (make_.one_in(3)) {
            when.end_step = when.start_step.value_or(0) + 1 + static_cast<step_number>(make_.below(5));
        }
        for (std::size_t i = make_.one_in(3) ? 2 : 0; i > 0; --i) {
            when.save_steps.push_back(static_cast<step_number>(make_.below(12)));
        }
        return when;
    }

    [[nodiscard]] reduction_config random_what() {
        reduction_config what{.save_raw_tensor = make_.one_in(2), .save_shape = make_.one_in(3)};
        const auto some = [&](std::vector<std::string>& into, std::initializer_list<const char*> from) {
            for (const char* each : from) {
                if (make_.one_in(4)) {
                    into.emplace_back(each);
                }
            }
        };
        some(what.reductions, {"max", "min", "abs_sum", "mean", "std", "variance", "sum", "prod", "l2_norm"});
        some(what.abs_reductions, {"min", "mean", "variance"});
        some(what.norms, {"l1", "l2"});
        some(what.abs_norms, {"l2", "l1"});
        return what;
    }

    static void set_what(modelled_collection& group, const reduction_config& what) {
        group.raw = what.save_raw_tensor;
        group.shape = what.save_shape;
        group.reductions.clear();
        const auto add = [&](std::string name, bool abs) {
            if (name.ends_with("_norm")) {
                name.resize(name.size() - 5);
            }
            if (name.starts_with("abs_")) {
                name.erase(0, 4);
                abs = true;
            }
            group.reductions.insert({reduction_named(name).value(), abs});
        };
        for (const auto& [list, abs] : {std::pair{what.reductions, false}, std::pair{what.norms, false},
                                        std::pair{what.abs_reductions, true}, std::pair{what.abs_norms, true}}) {
            for (const std::string& name : list) {
                add(name, abs);
            }
        }
    }

    [[nodiscard]] static bool is_due(const save_config_mode& when, step_number step) {
        const bool listed = std::ranges::find(when.save_steps, step) != when.save_steps.end();
        const bool in_range = step >= when.start_step.value_or(0) && step < when.end_step.value_or(INT64_MAX);
        return listed || (in_range && step % when.save_interval == 0);
    }

    // Makes up the steps, and writes down what they must leave.
    void plan_steps() {
        std::map<mode, step_number> next_of_mode;
        step_number global = 0;
        bool everything = false;
        for (int i = 0; i < 14; ++i) {
            planned_step step;
            step.jumps = make_.one_in(6);
            global += step.jumps ? static_cast<step_number>(make_.below(1200)) : 0;
            step.global = global;
            step.mode =
                make_.one_in(3) ? mode::global : std::array{mode::train, mode::eval, mode::predict}.at(make_.below(3));
            step.mode_step = step.mode == mode::global ? global : next_of_mode[step.mode]++;
            for (std::size_t saves = 1 + make_.below(10); saves > 0; --saves) {
                step.saves.push_back(plan_save(step, everything));
            }
            everything = step.everything_next = make_.one_in(8);
            ++global;
            plan_.push_back(std::move(step));
        }
    }

    [[nodiscard]] planned_save plan_save(const planned_step& step, bool everything) {
        planned_save save;
        if (make_.one_in(9)) {
            save.name = "rate";
            save.scalar = static_cast<double>(make_.below(1000)) / 8;
            save.due = true;
            owned_tensor one{
                .type = dtype::float64, .shape = {1}, .bytes = std::vector<std::byte>(8), .texts = {}, .views = {}};
            store_le(one.bytes.data(), *save.scalar);
            model_step(step).tensors["scalar/rate"].raw = one;
            return save;
        }
        save.name = modelled_names.at(make_.below(modelled_names.size()));
        save.tensor = make_.tensor();
        if (make_.one_in(8)) {
            save.into.emplace_back(make_.one_in(2) ? "by_hand" : "default");
            if (make_.one_in(2)) {
                save.into.emplace_back("biases");
            }
        }
        for (const std::string& name : save.into) {
            if (!all_.contains(name)) {
                modelled_collection& made = all_[name];
                made.when = all_["all"].when;
                made.raw = all_["all"].raw;
                made.shape = all_["all"].shape;
                made.reductions = all_["all"].reductions;
                made.matches = [](std::string_view) { return false; };
                made.included = include_all_;
            }
            all_[name].put.insert(save.name);
        }
        modelled_tensor saved;
        std::set<reduction_key> reductions;
        for (auto& [name, group] : all_) {
            const bool member = group.put.contains(save.name) || (group.included && group.matches(save.name)) ||
                                (everything && name == "all");
            const bool left_alone = group.only_in_training && (step.mode == mode::eval || step.mode == mode::predict);
            if (!member || !(everything || (!left_alone && is_due(group.when.at(step.mode), step.mode_step)))) {
                continue;
            }
            save.due = true;
            group.seen.insert(save.name);
            if (group.raw) {
                saved.raw = save.tensor;
            }
            if (group.shape) {
                saved.shape = save.tensor.shape;
            }
            reductions.insert(group.reductions.begin(), group.reductions.end());
        }
        if (everything) {
            saved.raw = save.tensor;
        }
        if (const auto computed = default_kernel{}.reduce(save.tensor.view(), reduction_set::all()); computed.ok()) {
            for (const reduction_key key : reductions) {
                if (computed->computed.contains(key)) {
                    saved.reductions[key] = computed->value[key.index()];
                }
            }
        }
        save.written = !saved.empty();
        if (!saved.empty()) {
            // If a tensor is saved twice in a step, the last save counts.
            modelled_tensor& there = model_step(step).tensors[save.name];
            there.raw = saved.raw ? saved.raw : there.raw;
            there.shape = saved.shape ? saved.shape : there.shape;
            for (const auto& [key, value] : saved.reductions) {
                there.reductions[key] = value;
            }
        }
        return save;
    }

    modelled_step& model_step(const planned_step& step) {
        modelled_step& made = model_[step.global];
        made.mode = step.mode;
        made.mode_step = step.mode_step;
        return made;
    }

    template <class Handle>
    void check(const Handle& tensor, step_number step, const modelled_tensor& expected) const {
        ++checked_tensors;
        const auto value = tensor.find_value(step);
        REQUIRE(value.has_value() == expected.raw.has_value());
        if (value) {
            CHECK(equal(*value, *expected.raw));
        }
        if (expected.shape) {
            CHECK(tensor.shape(step) == *expected.shape);
        }
        const auto reductions = tensor.saved_reduction_values(step);
        REQUIRE(reductions.size() == expected.reductions.size());
        for (const auto& [key, number] : expected.reductions) {
            CAPTURE(key.name());
            REQUIRE(reductions.contains(key));
            CHECK(std::bit_cast<std::uint64_t>(reductions.at(key)) == std::bit_cast<std::uint64_t>(number));
        }
    }

    template <class Trial>
    void check_collections(const Trial& run) const {
        const auto found = run.collections();
        CHECK(found.size() == all_.size());
        for (const auto& [name, group] : all_) {
            CAPTURE(name);
            REQUIRE(found.contains(name));
            const collection& read = found.find(name)->second;
            std::map<mode, save_config_mode> when = group.when;
            for (auto& [which, config] : when) {
                config.start_step = config.start_step.value_or(0);  // as files have it
            }
            CHECK(read.save_config == when);
            for (const std::string& tensor : group.seen) {
                CHECK(std::ranges::find(read.tensor_names, tensor) != read.tensor_names.end());
            }
            for (const std::string& tensor : read.tensor_names) {
                CHECK((group.put.contains(tensor) || group.matches(tensor) || name == "all"));
            }
        }
    }

    generator make_;
    hook_options options_;
    std::map<std::string, modelled_collection> all_;
    bool include_all_ = false;
    std::vector<planned_step> plan_;
    std::map<step_number, modelled_step> model_;
};

}  // namespace

TEST_CASE("round trip: of any training under any configuration a trial reads what the documentation promises") {
    for (unsigned seed = 1; seed <= 120; ++seed) {
        CAPTURE(seed);
        modelled_training training{seed};
        training.check(written_by(training.options(), [&](auto& hook) { training.train(hook); }));
    }
    MESSAGE(modelled_training::checked_runs, " runs, ", modelled_training::checked_steps, " steps, ",
            modelled_training::checked_tensors, " tensors");
    CHECK(modelled_training::checked_tensors > 2000);
}
