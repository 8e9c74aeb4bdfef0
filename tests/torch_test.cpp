// <smdebug/torch.hpp> as a training uses it: what it writes is what spans of the same values write.
#include <smdebug/torch.hpp>

#include "torch/torch_fixture.hpp"

#include <smdebug/core/step.hpp>

#include "support/standard.hpp"

namespace smd = smdebug;
using namespace smdebug_test::torch_;

namespace {

struct training {
    torch::nn::Sequential net{torch::nn::Linear(3, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2)};
    torch::optim::SGD optimizer{net->parameters(), torch::optim::SGDOptions(0.1)};
    torch::Tensor points = torch::rand({8, 3});
    torch::Tensor classes = torch::randint(0, 2, {8}, torch::kInt64);
};

// Four steps of one training; save(hook, training, loss) takes the place of the watch.
template <class Save>
smd::memory_storage trained(const smd::hook_options& options, Save&& save) {
    return written_by(options, [&](memory_hook& hook) {
        torch::manual_seed(5);
        training at;
        for (int step = 0; step < 4; ++step) {
            at.optimizer.zero_grad();
            const torch::Tensor loss = torch::nn::functional::cross_entropy(at.net->forward(at.points), at.classes);
            loss.backward();
            save(hook, at, loss);
            at.optimizer.step();
            hook.end_step();
        }
    });
}

void save_span(memory_hook& hook, const std::string& name, const torch::Tensor& tensor) {
    const torch::Tensor plain = tensor.detach();
    const std::span values{plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel())};
    hook.save_tensor(name, values, smd::extents_view{plain.sizes()});
}

}  // namespace

TEST_CASE("torch: a watch writes the files that spans of the same values give, to the byte") {
    smd::hook_options some{.save_config = {.save_interval = 2},
                           .include_collections = {"weights", "gradients"},
                           .include_regex = {"^Sequential_2.bias$"}};
    smd::hook_options behind = saves_all();
    behind.background.pool_bytes = 1 << 20;
    smd::hook_options checked = saves_all();
    checked.payload_checksum = smd::record::footer_kind::checksum;
    smd::reduction_config both = every_reduction();
    both.save_raw_tensor = true;
    for (const smd::hook_options& options :
         {saves_all(), some, behind, checked, saves_all(every_reduction()), saves_all(both)}) {
        std::unique_ptr<smd::torch_watch> watch;
        const auto by_watch = trained(options, [&](memory_hook& hook, training& at, const torch::Tensor& loss) {
            if (hook.step() == 0) {
                watch = std::make_unique<smd::torch_watch>(hook, at.net);
            }
            hook.save_tensor("CrossEntropyLoss_output_0", loss);
            watch->step();
            if (hook.step() == 3) {
                watch.reset();
            }
        });
        const auto by_spans = trained(options, [&](memory_hook& hook, training& at, const torch::Tensor& loss) {
            hook.save_tensor("CrossEntropyLoss_output_0", loss.item<float>(), smd::shape_type{});
            for (const auto& each : at.net->named_parameters()) {
                save_span(hook, "Sequential_" + each.key(), each.value());
                save_span(hook, "gradient/Sequential_" + each.key(), each.value().grad());
            }
        });
        CHECK(files_of(by_watch) == files_of(by_spans));
        CHECK(run_of(by_watch).steps().size() == (options.save_all ? 4 : 2));
    }
}
