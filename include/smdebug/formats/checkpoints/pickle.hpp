// What a pickle of Python says, as a tree.  Nothing is called, imported or looked up by parts: a class or a function is
// a name in the tree, and what it would have been called with are its arguments.
//
//   a state dict:  dictionary { text: object (name "torch._utils._rebuild_tensor_v2", arguments (storage, 0, (4, 3), ...)) }
//
// torch_file.hpp says what such names mean.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// The names that mean something here; all others are `unknown`.
enum class pickle_name : std::uint8_t {
    unknown,
    dictionary,            ///< of the kinds of a dictionary, such as collections.OrderedDict
    rebuild_tensor,        ///< (storage, offset, size, stride, ...)
    rebuild_tensor_v3,     ///< the same; the seventh argument is the dtype
    first_argument,        ///< a parameter, torch.Size, ...: stands for its first argument
    rebuild_from_type,     ///< (function, type, arguments, state): a tensor of a subclass
    tensor_of_other_form,  ///< sparse, quantized, nested, ...
    quiet,                 ///< known, and without tensors that a user would miss: a device, a dtype
};

enum class pickle_kind : std::uint8_t {
    none,
    truth,
    integer,
    number,
    text,     ///< also Python 2's bytes
    bytes,    ///< and integers of more than 64 bits
    tuple,    ///< of items
    list,     ///< of items; also a set
    mapping,  ///< of entries
    name,     ///< of a class or a function
    object,   ///< a name that would have been called with arguments
    storage,  ///< what a persistent id names
};

/// Bounds on one pickle, checked before memory is taken.  Together: 250 MB beside the pickle's bytes, and a second.
struct pickle_limits {
    std::uint64_t bytes = std::uint64_t{256} << 20U;
    std::uint64_t opcodes = 50'000'000;
    std::uint32_t nodes = 4'000'000;    ///< of 16 bytes
    std::uint32_t cells = 8'000'000;    ///< of 8 bytes: an item, or half an entry
    std::uint32_t entries = 4'000'000;  ///< of the stack and of the memo, of 4 bytes
    std::uint64_t text_bytes = std::uint64_t{16} << 20U;
};

/// The tree.  Its nodes lie in one piece of memory and refer to each other by index, so that no depth is too much for
/// freeing it; walking it is up to the caller, as containers may contain themselves.
/// Borrows: the bytes.      Threads: const functions may be called concurrently.
class pickle_tree {
public:
    using node = std::uint32_t;
    static constexpr node nothing = 0;  ///< None, and what is missing

    /// Runs the opcodes of protocols 0 to 5 up to STOP.  Nothing if the bytes end before it.
    /// Errors: corrupt_data, with `file` and the opcode's place, for an opcode that needs what is not there or that no
    ///         writer of checkpoints writes (extensions, INST, OBJ, NEWOBJ_EX, buffers), for entries set in something
    ///         that is not a dictionary, and for more than the limits.
    /// Cost:   some 20 ns an opcode.
    [[nodiscard]] static std::optional<pickle_tree> read(byte_view bytes, const std::string& file,
                                                         const pickle_limits& limits = {});

    [[nodiscard]] node root() const noexcept { return root_; }
    [[nodiscard]] std::size_t end() const noexcept { return end_; }  ///< of the pickle, in the bytes
    [[nodiscard]] node size() const noexcept { return static_cast<node>(nodes_.size()); }
    [[nodiscard]] pickle_kind kind(node of) const noexcept { return nodes_[of].kind; }

    /// Nothing for another kind.
    [[nodiscard]] std::optional<std::int64_t> integer(node of) const noexcept;
    [[nodiscard]] std::optional<double> number(node of) const noexcept;
    [[nodiscard]] bool is_true(node of) const noexcept;
    [[nodiscard]] std::string_view text(node of) const noexcept;  ///< empty for another kind

    /// The items of a tuple or list; none for another kind.
    [[nodiscard]] std::vector<node> items(node of) const;
    /// The keys and values of a dictionary in their order, where of equal keys that are numbers or texts the last
    /// counts.
    [[nodiscard]] std::vector<std::pair<node, node>> entries(node of) const;
    /// The value of a text in a dictionary; nothing if there is none.
    [[nodiscard]] node value(node of, std::string_view key) const noexcept;

    /// Of an object: the arguments, the state that was set, and what was put into it as into a container.
    [[nodiscard]] node arguments(node of) const noexcept;
    [[nodiscard]] node state(node of) const noexcept;
    [[nodiscard]] node contents(node of) const noexcept;
    /// Of a storage: the persistent id.
    [[nodiscard]] node id(node of) const noexcept;

    /// The meaning of a name, and of the name that an object has; `unknown` for another kind.
    [[nodiscard]] pickle_name meaning(node of) const noexcept;
    /// "os.system" of a name, or of the name that an object has; empty for another kind.
    [[nodiscard]] std::string full_name(node of) const;

private:
    friend class pickle_machine;

    struct node_record {
        pickle_kind kind = pickle_kind::none;
        pickle_name meaning = pickle_name::unknown;
        std::uint32_t count = 0;  // items, entries, bytes of a text; of an object: its state
        std::uint32_t first = 0;  // the first cell, the place of a text, the low half of a number; the name
        std::uint32_t last = 0;   // the last cell, the high half of a number; the arguments
    };
    static constexpr std::uint32_t no_cell = UINT32_MAX;
    struct cell {
        node value = nothing;
        std::uint32_t next = no_cell;
    };

    [[nodiscard]] std::uint64_t halves(node of) const noexcept {
        return nodes_[of].first | (std::uint64_t{nodes_[of].last} << 32U);
    }

    byte_view bytes_;
    std::vector<node_record> nodes_;
    std::vector<cell> cells_;
    std::unordered_map<node, node> contents_;  // lists, by object
    node root_ = nothing;
    std::size_t end_ = 0;
};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/pickle.ipp>
#endif
