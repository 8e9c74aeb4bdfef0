// Files of PyTorch: pickles, the zip and the stream around them, and metadata of distributed checkpoints.
// The first byte says what the rest is: a whole file, a pickle that is put into a zip with a storage, or metadata beside
// a file of chunks.
#include "support.hpp"
#include "support/archive_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/formats/checkpoints/distributed.hpp>
#include <smdebug/formats/checkpoints/pickle.hpp>
#include <smdebug/formats/checkpoints/torch_file.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_fuzz;
using namespace smdebug::formats::detail;

namespace {

archive_options tight() {
    archive_options options;
    options.memory_bytes = std::uint64_t{1} << 20U;
    options.most_bytes = std::uint64_t{64} << 20U;  // a pickle: 1 MiB
    return options;
}

void check_tensors(const std::vector<stored_tensor>& tensors, const std::vector<left_out>& not_read,
                   std::uint64_t size) {
    for (const stored_tensor& tensor : tensors) {
        const std::optional<std::uint64_t> bytes = content_bytes(tensor.type, tensor.shape);
        demand(bytes.has_value() && size_of(tensor.type) > 0, "elements are numbers, and have a size");
        demand(tensor.shape.size() <= most_extents, "a shape has no more extents than TensorFlow's");
        if (!tensor.make) {
            demand(*bytes == tensor.where.length, "as many elements as the shape says");
            demand(tensor.where.offset <= size && tensor.where.length <= size - tensor.where.offset,
                   "elements lie in the file");
        } else if (*bytes <= (std::uint64_t{1} << 20U)) {
            only_errors([&] { demand(tensor.make().size() == *bytes, "as many elements are made"); });
        }
    }
    for (const left_out& one : not_read) {
        demand(!one.why.empty(), "what is left out has a reason");
    }
}

void check_file(byte_view file) {
    memory_storage store;
    store.write("x.pt", file);
    only_errors([&] {
        const torch_tensors all = read_torch_file(any_storage{store}, "x.pt", tight());
        check_tensors(all.tensors, all.not_read, all.unpacked != nullptr ? all.unpacked->size() : file.size());
    });
}

void check_pickle(byte_view pickle, std::size_t elements, std::uint16_t method) {
    only_errors([&] { static_cast<void>(pickle_tree::read(exact_copy{pickle}.view(), "x.pkl")); });
    check_file(
        as_bytes(smdebug_test::zip_of(std::map<std::string, std::string>{{"a/data.pkl", std::string{as_text(pickle)}},
                                                                         {"a/data/0", std::string(elements, 'x')}},
                                      method)));
}

void check_folder(byte_view metadata, const std::string& chunks) {
    memory_storage store;
    store.write(".metadata", metadata);
    store.write("__0_0.distcp", as_bytes(chunks));
    only_errors([&] {
        const distributed_tensors all = read_distributed(any_storage{store}, ".metadata", tight());
        check_tensors(all.tensors, all.not_read, all.chunks->size());
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    switch (in.take_byte() % 3) {
        case 0:
            check_file(exact_copy{in.rest()}.view());
            break;
        case 1: {
            const std::uint8_t how = in.take_byte();
            check_pickle(in.rest(), (how >> 1U) * std::size_t{8}, (how & 1U) != 0 ? 8 : 0);
            break;
        }
        default: {
            const std::size_t length = in.take<std::uint16_t>();
            const byte_view rest = in.rest();
            const byte_view metadata = rest.first(std::min(length, rest.size()));
            check_folder(exact_copy{metadata}.view(), std::string{as_text(rest.subspan(metadata.size()))});
        }
    }
    return 0;
}
