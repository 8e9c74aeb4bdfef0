// What libtorch saves, read back by the reader of checkpoints.
#include <smdebug/formats/checkpoints/torch_file.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/storage/local_storage.hpp>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

#include <torch/torch.h>

using namespace smdebug;
using namespace smdebug_test;
namespace formats_detail = smdebug::formats::detail;

namespace {

struct net : torch::nn::Module {
    net() {
        fc = register_module("fc", torch::nn::Linear(3, 2));
        norm = register_module("norm", torch::nn::BatchNorm1d(2));
    }
    torch::nn::Linear fc{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

// The elements of a tensor of a file, as it was saved.
std::vector<float> floats_of(const local_storage& folder, const formats_detail::torch_tensors& all,
                             const std::string& name) {
    const auto one = std::find_if(all.tensors.begin(), all.tensors.end(),
                                  [&](const formats_detail::stored_tensor& each) { return each.name == name; });
    REQUIRE(one != all.tensors.end());
    std::vector<std::byte> bytes;
    if (one->make) {
        bytes = one->make();
    } else {
        const byte_buffer read = folder.read("x.pt", one->where);
        bytes.assign(read.view().begin(), read.view().end());
    }
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}
std::vector<float> floats_of(const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.detach().contiguous().view(-1);
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

}  // namespace

TEST_CASE("torch::save: a module is read back, with the names of its parameters and buffers") {
    const temporary_folder folder;
    const auto module = std::make_shared<net>();
    torch::save(module, folder.path() + "/x.pt");
    const local_storage store{folder.path()};
    const formats_detail::torch_tensors all = formats_detail::read_torch_file(any_storage{store}, "x.pt");
    for (const auto& each : all.not_read) {
        CAPTURE(each.why);
        CHECK(each.name.empty());
    }
    for (const auto& parameter : module->named_parameters()) {
        CAPTURE(parameter.key());
        CHECK(floats_of(store, all, parameter.key()) == floats_of(parameter.value()));
    }
    CHECK(floats_of(store, all, "norm.running_mean") == floats_of(module->norm->running_mean));
}

TEST_CASE("torch::save: a vector of tensors is read back, views too") {
    const temporary_folder folder;
    const torch::Tensor whole = torch::arange(12, torch::kFloat).view({3, 4});
    const std::vector<torch::Tensor> tensors{whole, whole.t(), torch::ones({2})};
    torch::save(tensors, folder.path() + "/x.pt");
    const local_storage store{folder.path()};
    const formats_detail::torch_tensors all = formats_detail::read_torch_file(any_storage{store}, "x.pt");
    REQUIRE(all.tensors.size() == tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        CHECK(floats_of(store, all, std::to_string(i)) == floats_of(tensors[i]));
    }
}
