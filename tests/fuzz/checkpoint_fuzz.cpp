// Checkpoints: .safetensors, .npy, .npz, and the steps that paths name.
// The first byte says what the rest is: a whole file, or a header to which the right length is added here: that of a
// .safetensors, or of a .npy, alone or in an .npz.
#include "support.hpp"
#include "support/archive_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_fuzz;
using namespace smdebug::formats::detail;

namespace {

void check_tensor(const stored_tensor& tensor, std::uint64_t size) {
    demand(tensor.where.offset <= size && tensor.where.length <= size - tensor.where.offset,
           "elements lie in the file");
    demand(size_of(tensor.type) > 0, "elements are numbers");
    demand(content_bytes(tensor.type, tensor.shape) == tensor.where.length, "as many elements as the shape says");
    demand(tensor.shape.size() <= most_extents, "a shape has no more extents than TensorFlow's");
    demand(!tensor.column_major || tensor.shape.size() >= 2, "only what has columns has them first");
    demand(!tensor.big_endian || size_of(tensor.type) > 1, "a single byte has no order");
}

// Reads of a file in memory; each is cut at its end.
struct file_in_memory {
    byte_buffer bytes;

    explicit file_in_memory(byte_view content)
        : bytes(byte_buffer::take(std::vector<std::byte>(content.begin(), content.end()))) {}
    byte_buffer operator()(byte_range where) const {
        demand(where.length <= most_header_bytes, "a header is not read at any length");
        const byte_buffer part = bytes.slice(where);
        return byte_buffer::take(
            std::vector<std::byte>(part.view().begin(), part.view().end()));  // an allocation of exactly that size
    }
};

void check_safetensors(byte_view file) {
    const file_in_memory read{file};
    only_errors([&] {
        const stored_tensors all = read_safetensors_header("x.safetensors", file.size(), read);
        std::vector<byte_range> places;
        for (std::size_t i = 0; i < all.tensors.size(); ++i) {
            check_tensor(all.tensors[i], file.size());
            demand(i == 0 || all.tensors[i - 1].name < all.tensors[i].name, "tensors are by name, each once");
            demand(!all.tensors[i].big_endian && !all.tensors[i].column_major, "elements are as in memory");
            if (all.tensors[i].where.length > 0) {
                places.push_back(all.tensors[i].where);
            }
        }
        std::sort(places.begin(), places.end(),
                  [](const byte_range& a, const byte_range& b) { return a.offset < b.offset; });
        for (std::size_t i = 1; i < places.size(); ++i) {
            const std::uint64_t end = places[i - 1].offset + places[i - 1].length;
            demand(all.not_read.empty() ? end == places[i].offset : end <= places[i].offset,
                   "tensors lie one behind the other");
        }
        if (!places.empty() && all.not_read.empty()) {
            demand(places.back().offset + places.back().length == file.size(), "to the file's end");
        }
    });
}

void check_npy(byte_view file) {
    const file_in_memory read{file};
    only_errors([&] { check_tensor(read_npy_header("x.npy", file.size(), read), file.size()); });
}

void check_npz(const std::string& file) {
    memory_storage store;
    store.write("x.npz", as_bytes(file));
    archive_options options;
    options.memory_bytes = std::uint64_t{1} << 20U;
    options.most_bytes = std::uint64_t{64} << 20U;
    only_errors([&] {
        const npz_directory all = read_npz_directory(any_storage{store}, "x.npz", options);
        for (std::size_t i = 0; i < all.tensors.size(); ++i) {
            const stored_tensor& tensor = all.tensors[i];
            const std::string key = tensor.name + ".npy";
            demand(i == 0 || all.tensors[i - 1].name < tensor.name, "arrays are by name, each once");
            const auto size = all.files.size(key);
            demand(size.has_value(), "an array is a file");
            check_tensor(tensor, *size);
            if (tensor.where.length <= (std::uint64_t{4} << 20U)) {
                only_errors([&] {
                    demand(all.files.read(key, tensor.where).size() == tensor.where.length, "all elements are there");
                });
            }
        }
        for (const left_out& member : all.not_read) {
            demand(!member.name.empty() && !member.why.empty(), "each left-out member has a name and a reason");
        }
    });
}

// After the length of a header, and before some bytes of elements.
std::string safetensors_of(input in) {
    const std::size_t elements = in.take<std::uint16_t>() % 4096U;
    const std::string_view header = as_text(in.rest());
    return smdebug_test::little(std::uint64_t{header.size()}) + std::string{header} + std::string(elements, 'x');
}
std::string npy_of(input in) {
    const std::size_t elements = in.take<std::uint16_t>() % 4096U;
    const std::uint8_t version = in.take_byte() % 4;
    const std::string_view header = as_text(in.rest());
    std::string file = std::string{"\x93NUMPY"} + static_cast<char>(version) + '\0';
    file += version == 1 ? smdebug_test::little(static_cast<std::uint16_t>(header.size()))
                         : smdebug_test::little(static_cast<std::uint32_t>(header.size()));
    return file + std::string{header} + std::string(elements, '\0');
}

void check_step(std::string_view path) {
    const auto step = step_of_name(path);
    if (step) {
        demand(step->step >= 0 && step->end > 0 && step->end <= path.size(), "a step is a number in the path");
        const char last = path[step->end - 1];
        demand((last >= '0' && last <= '9') || step->step % 1000 == 0, "which ends there, or in k or M");
    }
    demand(path.starts_with(without_shard(path)), "without a shard's numbers it begins alike");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    switch (in.take_byte() % 7) {
        case 0:
            check_safetensors(exact_copy{in.rest()}.view());
            break;
        case 1:
            check_npy(exact_copy{in.rest()}.view());
            break;
        case 2:
            check_npz(std::string{as_text(in.rest())});
            break;
        case 3:
            check_safetensors(as_bytes(safetensors_of(in)));
            break;
        case 4:
            check_npy(as_bytes(npy_of(in)));
            break;
        case 5: {
            const std::uint16_t method = (in.take_byte() & 1U) != 0 ? 8 : 0;
            check_npz(smdebug_test::zip_of(
                std::map<std::string, std::string>{{"a.npy", npy_of(in)}, {"b/c.npy", std::string{as_text(in.rest())}}},
                method));
            break;
        }
        default:
            check_step(as_text(exact_copy{in.rest()}.view()));
    }
    return 0;
}
