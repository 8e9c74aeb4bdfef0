#include <smdebug/formats/checkpoints/torch_tree.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>

#include <support/torch_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
namespace p = smdebug_test::pickled;

TEST_CASE("collection_in_torch: by the names that tools write") {
    const std::tuple<std::string, dtype, std::string> rows[] = {
        {"fc.weight", dtype::float32, "weights"},
        {"fc.bias", dtype::bfloat16, "biases"},
        {"bn.running_mean", dtype::float32, "buffers"},
        {"bn.num_batches_tracked", dtype::int64, "buffers"},
        {"state_dict/net.w", dtype::float16, "weights"},
        {"module/a", dtype::float32, "weights"},
        {"ema/a", dtype::float32, "ema"},
        {"model_ema/a.bias", dtype::float32, "ema"},
        {"schema/a", dtype::float32, ""},
        {"optimizer_states/0/state/1/exp_avg", dtype::float32, "optimizer"},
        {"optimizer/state/0/step", dtype::int64, "optimizer"},
        {"callbacks/best", dtype::float32, ""},
        {"val_loss", dtype::float32, "losses"},
        {"rng", dtype::uint8, ""},
        {"head.loss", dtype::float32, "weights"},
    };
    for (const auto& [name, type, collection] : rows) {
        CAPTURE(name);
        CHECK(collection_in_torch(name, type) == collection);
    }
    CHECK(collection_in_torch("optim.state.w", dtype::float32, '.') == "optimizer");
    CHECK(collection_in_torch("model.w", dtype::float32, '.') == "weights");
}

TEST_CASE("dtype_in_torch: by PyTorch's names, and by those of its classes") {
    CHECK(dtype_in_torch("bfloat16") == dtype::bfloat16);
    CHECK(dtype_in_torch("half") == dtype::float16);
    CHECK(dtype_in_torch("quint8") == dtype::invalid);
    CHECK(dtype_of_storage("BoolStorage") == dtype::boolean);
    CHECK(dtype_of_storage("QInt8Storage") == dtype::invalid);
}

TEST_CASE("torch_walker: finds tensors and numbers, their places in the storage, and says what it passes over") {
    const std::string strided = p::tensor(p::storage("HalfStorage", "7", 20), 3, {2, 4}, {1, 5});
    const std::string bytes = p::pickle(p::dictionary(
        {{"model", p::dictionary({{"w", p::vector("0", 6)}, {"v", strided}})},
         {"epoch", p::integer(12)},
         {"lr", p::number(0.5)},
         {"more", p::list({p::integer(1), p::call("torch._utils", "_rebuild_qtensor", {p::integer(1)})})}}));
    const std::optional<pickle_tree> tree = pickle_tree::read(as_bytes(bytes), "x.pt");
    REQUIRE(tree);
    torch_walker walker{*tree};
    walker.walk();
    REQUIRE(walker.tensors.size() == 2);
    CHECK(walker.tensors[0].name == "model/w");
    CHECK(walker.tensors[0].view.is_in_c_order());
    CHECK(walker.tensors[0].view.bytes == 24);
    CHECK(walker.tensors[1].name == "model/v");
    CHECK_FALSE(walker.tensors[1].view.is_in_c_order());
    CHECK(walker.tensors[1].view.key == "7");
    CHECK(walker.tensors[1].view.offset == 6);
    CHECK(walker.tensors[1].view.bytes == 16);
    CHECK(walker.tensors[1].view.span == 2 * (1 + 1 + 3 * 5));
    REQUIRE(walker.numbers.size() == 2);
    CHECK(walker.numbers[0].name == "epoch");
    CHECK(walker.numbers[0].bits == 12);
    CHECK(walker.numbers[1].type == dtype::float64);
    const std::vector<left_out> notes = walker.notes();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].name == "more/1");
    CHECK(notes[0].why.find("_rebuild_qtensor") != std::string::npos);
}
