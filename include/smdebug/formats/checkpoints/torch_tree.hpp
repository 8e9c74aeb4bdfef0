// What the tree of a pickle says of tensors: how torch.save describes them, and modules, parameters and optimizers.
// For bodies only: what a user sees is in torch_file.hpp.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/pickle.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// Bounds on what a pickle can claim, beside pickle_limits and most_extents.
inline constexpr std::size_t most_tensors = 1'000'000;        ///< in a file
inline constexpr std::size_t most_name_bytes = 64'000'000;    ///< of all of them
inline constexpr std::size_t most_nesting = 200;              ///< of containers
inline constexpr std::size_t most_repeated_visits = 100'000;  ///< to containers beyond the first to each
inline constexpr std::uint64_t most_repeated_bytes =
    64U << 20U;  ///< a view with more elements than it reads has at most these

/// The dtype that PyTorch calls "float32"; `invalid` for names without a dtype here.
[[nodiscard]] dtype dtype_in_torch(std::string_view name) noexcept;

/// The collection of a tensor by its name in a checkpoint: "weights", "biases", "buffers", "optimizer", "ema",
/// "losses", or an empty text.  `separator` stands between the parts of the name.
[[nodiscard]] std::string_view collection_in_torch(std::string_view name, dtype type, char separator = '/') noexcept;

/// The dtype of a class of storages, "FloatStorage".
[[nodiscard]] dtype dtype_of_storage(std::string_view name) noexcept;

/// What stands behind parameters, torch.Size and the like.
[[nodiscard]] pickle_tree::node without_wrappers(const pickle_tree& tree, pickle_tree::node of);

/// The whole numbers in a tuple, a list or a torch.Size; nothing if one of them is none, or negative, or if there are
/// more than most_extents.
[[nodiscard]] std::optional<shape_type> extents_in(const pickle_tree& tree, pickle_tree::node of);

/// The dtype that a name in the tree stands for: "torch.float32".
[[nodiscard]] inline dtype dtype_of_name(const std::string& full_name) noexcept {
    return full_name.starts_with("torch.") ? dtype_in_torch(std::string_view{full_name}.substr(6)) : dtype::invalid;
}

/// What a tensor is made of, as its pickle says.
struct torch_view {
    std::string key = {};  ///< of the storage
    std::uint64_t storage_bytes = 0;
    dtype type = dtype::invalid;
    std::uint64_t offset = 0;  ///< of its first element, in bytes of the storage
    shape_type shape = {};
    std::vector<std::int64_t> strides = {};  ///< in elements
    bool is_negative = false;
    bool is_conjugate = false;

    std::uint64_t bytes = 0;  ///< of its elements
    std::uint64_t span = 0;   ///< bytes from the first to the last of them

    [[nodiscard]] bool is_in_c_order() const noexcept {
        std::int64_t stride = 1;
        for (std::size_t i = shape.size(); i-- > 0;) {
            if (shape[i] != 1 && strides[i] != stride) {
                return false;
            }
            stride *= static_cast<std::int64_t>(shape[i]);  // bytes fits into 64 bits
        }
        return true;
    }
};

/// Walks the tree of a file, and finds its tensors.
class torch_walker {
public:
    using node = pickle_tree::node;

    struct found_tensor {
        std::string name;
        torch_view view;
        std::optional<std::string_view> collection;
    };
    struct number {
        std::string name;
        dtype type = dtype::float64;
        std::uint64_t bits = 0;
    };

    explicit torch_walker(const pickle_tree& tree) : tree_(tree), seen_(tree.size(), seen::no) {}

    void walk();

    /// Notes what is wrong with something, once for each reason.
    void note(const std::string& name, std::string why, problem_kind kind);
    [[nodiscard]] std::vector<left_out> notes() const;

    std::vector<found_tensor> tensors;
    std::vector<number> numbers;

private:
    enum class seen : std::uint8_t { no, open, without_tensors, with_tensors };
    struct frame {
        node of = pickle_tree::nothing;
        std::vector<std::pair<node, node>> children = {};
        std::size_t next = 0;
        std::size_t path = 0;    // length of its own
        bool is_list = false;    // the keys are indexes
        bool is_module = false;  // names are joined by '.' below
        std::size_t first_buffer = SIZE_MAX;
        std::size_t first_module = SIZE_MAX;
        bool has_tensors = false;
        std::size_t unread = 0;  // tensors below, where its class is not known
    };
    static constexpr std::size_t none = SIZE_MAX;

    [[nodiscard]] node plain(node of) const { return without_wrappers(tree_, of); }

    void append_key(node key, std::size_t i, const frame& in);
    void append_text(node key, unsigned depth);
    void check_name();

    void visit(node of);
    void visit_object(node of);
    // A module of Python, by its dictionaries, or of TorchScript, by its attributes.
    [[nodiscard]] bool enter_module(node of);

    bool enter(frame made);
    void leave();
    // Marks the containers that lead to a tensor.
    void see_tensor();
    void take_tensor(node arguments, bool is_typed);

    // Fills the view; what is wrong, or "".
    [[nodiscard]] std::string wrong_with(const std::vector<node>& given, bool is_typed, torch_view& view,
                                         problem_kind& kind) const;

    [[nodiscard]] static std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) noexcept {
        return a != 0 && b > UINT64_MAX / a ? std::nullopt : std::optional{a * b};
    }
    // The bytes from the first to the last element; nothing if that is beyond 63 bits.
    [[nodiscard]] static std::optional<std::uint64_t> span_of(const torch_view& view);

    const pickle_tree& tree_;
    std::vector<seen> seen_;
    std::vector<frame> frames_;
    std::string path_;
    std::size_t module_path_ = 0;   // where the names within the outermost module begin
    std::size_t unread_in_ = none;  // the outermost frame of an unknown class
    std::size_t repeated_ = 0;
    std::size_t name_bytes_ = 0;
    bool is_optimizer_ = false;
    bool in_buffers_ = false;
    std::map<std::pair<std::string, problem_kind>, std::pair<std::string, std::size_t>> noted_;
};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/torch_tree.ipp>
#endif
