#include <smdebug/torch/watch.hpp>

#include "torch/torch_fixture.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/trial/trial.hpp>

#include <support/child_process.hpp>
#include "support/standard.hpp"

namespace smd = smdebug;
using namespace smdebug_test::torch_;

namespace {

using names = std::vector<std::string>;

names sorted(names list) {
    std::sort(list.begin(), list.end());
    return list;
}

torch::nn::Sequential small_net() {
    torch::manual_seed(3);
    return torch::nn::Sequential{torch::nn::Linear(2, 3), torch::nn::ReLU(), torch::nn::Linear(3, 2)};
}

// A forward and a backward pass.
void pass(torch::nn::Sequential& net, double by = 1) {
    net->zero_grad();
    (net->forward(torch::ones({4, 2})).sum() * by).backward();
}

// One step of a watched module.
template <class M>
smd::memory_storage watched_step(const smd::hook_options& options, M& module, const smd::torch_watch_options& how = {},
                                 smd::detail::torch_watcher::far_test is_far = smd::detail::lies_far) {
    return written_by(options, [&](memory_hook& hook) {
        smd::torch_watch watch{hook, module, how, is_far};
        pass(module);
        watch.step();
    });
}

struct gone_inside : torch::nn::Module {
    gone_inside()
        : table(register_module("table", torch::nn::Embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true)))) {}
    torch::nn::Embedding table;
};

// Two layers of one module, a buffer, and a name of its own.
struct tied : torch::nn::Module {
    tied() : first(register_module("first", torch::nn::Linear(2, 2))) {
        register_module("second", first);
        register_buffer("seen", torch::ones({3}));
    }
    torch::nn::Linear first;
};

// Changes a tensor in place while the hook has it, as another thread might.
class changing_observer : public smd::hook_observer {
public:
    explicit changing_observer(at::Tensor tensor) : tensor_(std::move(tensor)) {}
    bool wants(const smd::hook_step& /*step*/) override { return true; }
    bool wants(std::string_view name) override { return name == "Sequential_0.weight"; }
    void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {
        const at::NoGradGuard no_gradients;
        tensor_.add_(1);
    }
    void end_step(const smd::hook_step& /*step*/) override {}

private:
    at::Tensor tensor_;
};

}  // namespace

TEST_CASE("torch_watch: names are those of the Python package") {
    const smd::local_trial recorded{std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"};
    const auto store = written_by(saves_all(), [](memory_hook& hook) {
        torch::nn::Sequential net = small_net();
        smd::torch_watch watch{hook, net};
        torch::nn::CrossEntropyLoss criterion;
        const at::Tensor scores = watch.forward(net, torch::rand({4, 2}));
        watch.forward(criterion, scores, torch::zeros({4}, torch::kInt64)).backward();
        watch.step();
    });
    CHECK(sorted(run_of(store).tensor_names()) == sorted(recorded.tensor_names()));
}

TEST_CASE("torch_watch: a module's name is its class, or what the caller says") {
    struct net : torch::nn::Module {};
    CHECK(smd::detail::class_name_of(net{}) == "net");
    CHECK(smd::detail::class_name_of(*torch::nn::Linear(1, 1)) == "Linear");
    CHECK(smd::detail::class_name_of(torch::nn::Module{"decoder"}) == "decoder");
    torch::nn::Sequential module = small_net();
    CHECK(run_of(watched_step(saves_all(), module, {.name = "decoder"})).has_tensor("gradient/decoder_2.bias"));
}

TEST_CASE("torch_watch: shared parameters are saved once, buffers by choice") {
    for (const bool buffers : {false, true}) {
        const auto store = written_by(saves_all(), [&](memory_hook& hook) {
            const tied module;  // on the stack
            smd::torch_watch watch{hook, module, {.buffers = buffers}};
            smd::torch_watch again{hook, module};
            smd::torch_watch part{hook, module.first};
            watch.step();
            again.step();
            part.step();
        });
        names expected{"tied_first.bias", "tied_first.weight"};
        if (buffers) {
            expected.insert(expected.end(), {"tied_seen"});
        }
        CHECK(sorted(run_of(store).tensor_names()) == expected);
    }
}

TEST_CASE("torch_watch: where nothing is due, nothing is named") {
    torch::nn::Sequential net = small_net();
    memory_hook hook{smd::memory_storage{}, {.save_config = {.save_interval = 10, .start_step = 5}}};
    smd::torch_watch watch{hook, net, {.gradients = smd::torch_gradients::as_they_come}};
    pass(net);
    watch.forward(net, torch::ones({1, 2}));
    watch.step();
    hook.end_step();
    CHECK(hook.unsaved_tensors().empty());
    CHECK(hook.counters().steps == 0);
}

TEST_CASE("torch_watch: gradients that come in the backward pass are those at the step") {
    for (const auto& what : {std::optional<smd::reduction_config>{}, std::optional{every_reduction()}}) {
        torch::nn::Sequential net = small_net();
        const auto at_step = watched_step(saves_all(what), net);
        const auto come = watched_step(saves_all(what), net, {.gradients = smd::torch_gradients::as_they_come});
        CHECK(files_of(at_step) == files_of(come));
        CHECK(run_of(come).has_tensor("gradient/Sequential_0.weight"));
    }
}

TEST_CASE("torch_watch: of several passes the last gradient comes, and the sum is there at the step") {
    const auto mean_of = [](smd::torch_gradients which) {
        torch::nn::Sequential net = small_net();
        const auto store = written_by(saves_all(), [&](memory_hook& hook) {
            smd::torch_watch watch{hook, net, {.gradients = which}};
            net->zero_grad();
            net->forward(torch::ones({4, 2})).sum().backward();
            net->forward(torch::ones({4, 2})).sum().backward();
            watch.step();
        });
        return run_of(store).tensor("gradient/Sequential_2.bias").reduction_value(0, smd::reduction::mean);
    };
    CHECK(mean_of(smd::torch_gradients::at_step) == 8);
    CHECK(mean_of(smd::torch_gradients::as_they_come) == 4);
}

TEST_CASE("torch_watch: numbers of a device are the hook's own to their accuracy, its values to the byte") {
    for (const auto which : {smd::torch_gradients::at_step, smd::torch_gradients::as_they_come}) {
        torch::nn::Sequential net = small_net();
        smd::hook_options numbers = saves_all(every_reduction());
        numbers.digests = {"all"};
        const auto here = watched_step(numbers, net, {.gradients = which});
        const auto far = watched_step(numbers, net, {.gradients = which}, everything_is_far);
        const memory_trial expected = run_of(here);
        const memory_trial got = run_of(far);
        CHECK(sorted(got.tensor_names()) == sorted(expected.tensor_names()));
        const auto is_marked = [](const smd::memory_storage& store) {
            const auto files = files_of(store);
            return std::any_of(files.begin(), files.end(), [](const auto& file) {
                return file.second.find("computed_by\x12\x05torch") != std::string::npos;
            });
        };
        CHECK(is_marked(far));
        CHECK_FALSE(is_marked(here));
        for (const std::string& name : expected.tensor_names()) {
            if (name.starts_with("digest/")) {
                CHECK(got.tensor(name).reduction_value(0, smd::reduction::sum) ==
                      expected.tensor(name).reduction_value(0, smd::reduction::sum));
                CHECK(got.tensor(name.substr(7)).digest(0) == expected.tensor(name.substr(7)).digest(0));
                continue;
            }
            CHECK(got.tensor(name).shape(0) == expected.tensor(name).shape(0));
            for (std::size_t i = 0; i < 2 * smd::reduction_count; ++i) {
                const smd::reduction_key key = smd::reduction_key::from_index(i);
                const double a = got.tensor(name).reduction_value(0, key.what, {.abs = key.abs});
                const double b = expected.tensor(name).reduction_value(0, key.what, {.abs = key.abs});
                CAPTURE(name + " " + key.name());
                CHECK(std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)));
            }
        }
        for (const std::size_t pool_bytes : {std::size_t{0}, std::size_t{40}, std::size_t{1} << 20U}) {
            smd::hook_options options = saves_all();
            options.background.pool_bytes = pool_bytes;
            const auto values = watched_step(options, net, {.gradients = which});
            const auto late = watched_step(options, net, {.gradients = which}, everything_is_far);
            CHECK(files_of(values) == files_of(late));
        }
    }
}

TEST_CASE("torch_watch: numbers of an abandoned step are not those of the next") {
    torch::nn::Sequential net = small_net();
    const auto store = written_by(saves_all(smd::reduction_config{.reductions = {"mean"}}), [&](memory_hook& hook) {
        smd::torch_watch watch{hook, net, {.gradients = smd::torch_gradients::as_they_come}, everything_is_far};
        pass(net, 7);
        hook.abandon_step();
        watch.step();  // without a pass: no gradient
        hook.end_step();
        pass(net);
        watch.step();
    });
    const memory_trial run = run_of(store);
    CHECK(run.tensor("gradient/Sequential_2.bias").steps() == std::vector<smd::step_number>{2});
    CHECK(run.tensor("gradient/Sequential_2.bias").reduction_value(2, smd::reduction::mean) == 4);
}

TEST_CASE("torch_watch: outputs that are tuples are numbered") {
    const auto store = written_by(saves_all(), [](memory_hook& hook) {
        torch::nn::LSTM memory(2, 3);
        smd::torch_watch watch{hook, memory};
        const auto [output, state] = watch.forward(memory, torch::ones({5, 1, 2}));
        CHECK(output.size(2) == 3);
    });
    CHECK(run_of(store).tensor_names() == names{"LSTM_input_0", "LSTM_output_0", "LSTM_output_1", "LSTM_output_2"});
}

TEST_CASE("torch_watch: what cannot be saved costs a sentence, once, and nothing else") {
    names notes;
    smd::hook_options options = saves_all();
    options.on_note = [&](const std::string& note) { notes.push_back(note); };
    SUBCASE("a sparse gradient") {
        const auto store = written_by(options, [](memory_hook& hook) {
            gone_inside net;
            smd::torch_watch watch{hook, net};
            net.table->forward(torch::tensor({1, 2})).sum().backward();
            watch.step();
            hook.end_step();
            watch.step();
        });
        CHECK(notes == names{"the tensor \"gradient/gone_inside_table.weight\" is sparse (layout Sparse): save "
                             "tensor.to_dense(), or the values and indices of tensor.coalesce()"});
        CHECK(run_of(store).tensor("gone_inside_table.weight").steps().size() == 2);
    }
    SUBCASE("a module that was destroyed before its watch") {
        const auto store = written_by(options, [](memory_hook& hook) {
            auto net = std::make_shared<tied>();
            smd::torch_watch watch{hook, net, {.gradients = smd::torch_gradients::as_they_come}};
            watch.step();
            hook.end_step();
            net.reset();
            watch.step();
            hook.end_step();
            watch.step();
        });
        CHECK(notes ==
              names{"the module \"tied\" was destroyed before its watch: 2 of its 2 tensors are no longer saved"});
        CHECK(run_of(store).steps() == std::vector<smd::step_number>{0});
    }
    SUBCASE("a tensor that another thread changes while it is saved") {
        torch::nn::Sequential net = small_net();
        const auto store = written_by(options, [&](memory_hook& hook) {
            hook.add_observer(std::make_shared<changing_observer>(net->named_parameters()["0.weight"]));
            smd::torch_watch watch{hook, net};
            watch.step();
        });
        CHECK(notes == names{"the tensor \"Sequential_0.weight\" was changed by another thread while it was saved at "
                             "step 0: what is saved may be half of each; save it where no thread trains"});
        CHECK(run_of(store).tensor_names().size() == 4);
    }
}

TEST_CASE("torch_watch: two watches of one name, of different modules") {
    memory_hook hook{smd::memory_storage{}, saves_all()};
    torch::nn::Sequential first = small_net();
    torch::nn::Sequential second = small_net();
    std::optional<smd::torch_watch> watch{std::in_place, hook, first};
    const auto second_watch = [&] { const smd::torch_watch other{hook, second}; };
    CHECK_THROWS_WITH_AS(
        second_watch(),
        "SMDebugValueError: another watch of this hook saves \"Sequential_0.weight\" of another module: "
        "give this one a name, {.name = \"decoder\"}",
        smd::value_error);
    const smd::torch_watch named{hook, second, {.name = "decoder"}};
    watch.reset();
    const auto third = small_net();
    CHECK_NOTHROW((smd::torch_watch{hook, third}));
}

TEST_CASE("torch_watch: an exception in the backward pass loses no step but the one that the training gives up") {
    torch::nn::Sequential net = small_net();
    const auto store = written_by(saves_all(), [&](memory_hook& hook) {
        smd::torch_watch watch{hook, net, {.gradients = smd::torch_gradients::as_they_come}};
        for (int step = 0; step < 3; ++step) {
            try {
                net->zero_grad();
                const at::Tensor output = net->forward(torch::ones({4, 2}));
                if (step == 1) {
                    net->named_parameters()["0.weight"].register_hook(
                        [](const at::Tensor& /*gradient*/) { throw std::runtime_error("no luck"); });
                }
                output.sum().backward();
                watch.step();
                hook.end_step();
            } catch (const std::exception& /*failed*/) {
                hook.abandon_step();
            }
        }
        CHECK(hook.counters().lost_steps == 0);
    });
    CHECK(run_of(store).steps() == std::vector<smd::step_number>{0});
}

TEST_CASE("torch_watch: what the hook throws in the backward pass is thrown by step(), which saves the rest") {
    torch::nn::Sequential net = small_net();
    const auto store = written_by(saves_all(), [&](memory_hook& hook) {
        smd::hook_base& base = hook;
        smd::torch_watch watch{base, net, {.name = std::string{"bad\xff"}}};
        pass(net);
        CHECK_THROWS_AS(watch.step(), smd::value_error);
        CHECK(hook.save_tensor("x", torch::ones({2})));
    });
    CHECK(run_of(store).tensor_names() == names{"x"});
}

TEST_CASE("torch_watch: a hook that was destroyed, and one of another process, are named") {
    torch::nn::Sequential net = small_net();
    std::optional<memory_hook> hook;
    hook.emplace(smd::memory_storage{}, saves_all());
    smd::torch_watch watch{*hook, net, {.gradients = smd::torch_gradients::as_they_come}};
    smdebug_test::child_process child{[&] {
        try {
            watch.step();
        } catch (const smd::unsupported& refused) {
            return std::string_view{refused.what()}.find("of which this one was forked") != std::string_view::npos ? 0
                                                                                                                   : 1;
        }
        return 2;
    }};
    CHECK(child.wait() == 0);
    watch.step();
    hook.reset();
    pass(net);  // the autograd hooks find it gone
    CHECK_THROWS_AS(watch.step(), smd::value_error);
}
