// The bodies of <smdebug/formats/checkpoints/pickle.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/pickle.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace smdebug::inline v1::formats::detail {

/// The closed table of names, compared as a whole.
[[nodiscard]] constexpr pickle_name meaning_of(std::string_view module, std::string_view name) noexcept {
    struct row {
        std::string_view module;
        std::string_view names;  // each between blanks
        pickle_name is;
    };
    constexpr row rows[] = {
        {"collections", " OrderedDict defaultdict Counter ", pickle_name::dictionary},
        {"torch._utils", " _rebuild_tensor _rebuild_tensor_v2 ", pickle_name::rebuild_tensor},
        {"torch._utils", " _rebuild_tensor_v3 ", pickle_name::rebuild_tensor_v3},
        {"torch._utils", " _rebuild_parameter _rebuild_parameter_with_state ", pickle_name::first_argument},
        {"torch.nn.parameter", " Parameter Buffer ", pickle_name::first_argument},
        {"torch", " Size ", pickle_name::first_argument},
        {"torch.jit._pickle",
         " build_tensorlist build_intlist build_doublelist build_boollist build_tensor_from_id restore_type_tag ",
         pickle_name::first_argument},
        {"torch._tensor", " _rebuild_from_type_v2 _rebuild_from_type ", pickle_name::rebuild_from_type},
        {"torch.tensor", " _rebuild_from_type_v2 _rebuild_from_type ", pickle_name::rebuild_from_type},
        {"torch._utils",
         " _rebuild_sparse_tensor _rebuild_sparse_csr_tensor _rebuild_qtensor _rebuild_meta_tensor_no_storage "
         "_rebuild_wrapper_subclass _rebuild_device_tensor_from_numpy _rebuild_device_tensor_from_cpu_tensor "
         "_rebuild_nested_tensor _rebuild_mkldnn_tensor _rebuild_xla_tensor ",
         pickle_name::tensor_of_other_form},
        {"torch", " device ", pickle_name::quiet},
        {"torch.serialization", " _get_layout ", pickle_name::quiet},
        {"builtins", " set bytearray complex ", pickle_name::quiet},
        {"_codecs", " encode ", pickle_name::quiet},
    };
    module = module == "__builtin__" ? "builtins" : module;
    for (const row& each : rows) {
        const std::size_t place = each.module == module ? each.names.find(name) : std::string_view::npos;
        if (place != std::string_view::npos && !name.empty() && name.find(' ') == std::string_view::npos &&
            each.names[place - 1] == ' ' && each.names[place + name.size()] == ' ') {
            return each.is;
        }
    }
    return pickle_name::unknown;
}

/// Runs one pickle.
class pickle_machine {
public:
    using node = pickle_tree::node;

    pickle_machine(byte_view bytes, const std::string& file, const pickle_limits& limits)
        : file_(file), limits_(limits), left_(bytes) {
        tree_.bytes_ = bytes;
        tree_.nodes_ = {{}, {.kind = pickle_kind::truth}, {.kind = pickle_kind::truth, .first = 1}};
    }

    [[nodiscard]] std::optional<pickle_tree> run() && {
        if (tree_.bytes_.size() > UINT32_MAX) {
            refuse("it has more than 4 GiB");
        }
        for (std::uint64_t steps = 0; !is_done_; ++steps) {
            if (steps == limits_.opcodes) {
                refuse("it has more than " + std::to_string(limits_.opcodes) + " opcodes");
            }
            const std::optional<byte_view> opcode = take(1);
            if (!opcode || !execute(static_cast<unsigned char>(opcode->front()))) {
                return std::nullopt;
            }
        }
        tree_.root_ = stack_.back();
        tree_.end_ = place();
        return std::move(tree_);
    }

private:
    static constexpr node mark = UINT32_MAX;

    [[nodiscard]] std::size_t place() const noexcept { return tree_.bytes_.size() - left_.size(); }

    [[noreturn]] void refuse(const std::string& why) const {
        const std::size_t at = place() == 0 ? 0 : place() - 1;
        throw corrupt_data("the file " + file_ + ": its pickle, at byte " + std::to_string(at) + ": " + why,
                           {.where = file_, .offset = at});
    }

    // The bytes of an operand; nothing if the pickle goes on behind the bytes.
    [[nodiscard]] std::optional<byte_view> take(std::uint64_t count) {
        if (count > left_.size()) {
            return std::nullopt;
        }
        const byte_view some = left_.first(std::size_t{count});
        left_ = left_.subspan(some.size());
        return some;
    }
    template <class Number>
    [[nodiscard]] std::optional<Number> take_number() {
        const std::optional<byte_view> some = take(sizeof(Number));
        return some ? std::optional{load_le<Number>(some->data())} : std::nullopt;
    }
    [[nodiscard]] std::optional<std::string_view> take_line() {
        const std::string_view rest = as_text(left_);
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        check_text(end);
        left_ = left_.subspan(end + 1);
        return rest.substr(0, end);
    }
    void check_text(std::uint64_t bytes) const {
        if (bytes > limits_.text_bytes) {
            refuse("it has a text of " + std::to_string(bytes) + " bytes; at most " +
                   std::to_string(limits_.text_bytes) + " are read");
        }
    }

    // The arena.
    [[nodiscard]] node add(pickle_tree::node_record one) {
        if (tree_.nodes_.size() >= limits_.nodes) {
            refuse("it has more than " + std::to_string(limits_.nodes) + " objects");
        }
        tree_.nodes_.push_back(one);
        return static_cast<node>(tree_.nodes_.size() - 1);
    }
    [[nodiscard]] node add_text(pickle_kind kind, std::string_view text) {
        const auto* const begin = reinterpret_cast<const char*>(tree_.bytes_.data());
        return add({.kind = kind,
                    .count = static_cast<std::uint32_t>(text.size()),
                    .first = static_cast<std::uint32_t>(text.empty() ? 0 : text.data() - begin)});
    }
    [[nodiscard]] node add_halves(pickle_kind kind, std::uint64_t bits) {
        return add(
            {.kind = kind, .first = static_cast<std::uint32_t>(bits), .last = static_cast<std::uint32_t>(bits >> 32U)});
    }
    [[nodiscard]] node add_container(pickle_kind kind) {
        return add({.kind = kind, .first = pickle_tree::no_cell, .last = pickle_tree::no_cell});
    }
    void append(node to, node value) {
        if (tree_.cells_.size() >= limits_.cells) {
            refuse("its containers have more than " + std::to_string(limits_.cells) + " items");
        }
        const auto at = static_cast<std::uint32_t>(tree_.cells_.size());
        tree_.cells_.push_back({.value = value});
        pickle_tree::node_record& of = tree_.nodes_[to];
        (of.first == pickle_tree::no_cell ? of.first : tree_.cells_[of.last].next) = at;
        of.last = at;
        ++of.count;
    }
    [[nodiscard]] node add_name(node module, node name) {
        return add({.kind = pickle_kind::name,
                    .meaning = meaning_of(tree_.text(module), tree_.text(name)),
                    .first = module,
                    .last = name});
    }
    // Python 2 writes an OrderedDict with a list of its pairs.
    [[nodiscard]] node add_dictionary(node arguments) {
        const node made = add_container(pickle_kind::mapping);
        const std::vector<node> given = tree_.items(arguments);
        for (const node pair : given.empty() ? std::vector<node>{} : tree_.items(given.front())) {
            const std::vector<node> two = tree_.items(pair);
            if (two.size() == 2) {
                append(made, two[0]);
                append(made, two[1]);
            }
        }
        return made;
    }
    [[nodiscard]] node add_object(node callee, node arguments) {
        const bool is_named = tree_.kind(callee) == pickle_kind::name;
        if (is_named && tree_.meaning(callee) == pickle_name::dictionary) {
            return add_dictionary(arguments);
        }
        return add({.kind = pickle_kind::object,
                    .meaning = is_named ? tree_.nodes_[callee].meaning : pickle_name::unknown,
                    .first = callee,
                    .last = arguments});
    }

    // The stack.
    void push(node one) {
        if (stack_.size() >= limits_.entries) {
            refuse("its stack has more than " + std::to_string(limits_.entries) + " entries");
        }
        stack_.push_back(one);
    }
    void need(bool is_there) const {
        if (!is_there) {
            refuse("its opcode takes more from the stack than there is");
        }
    }
    [[nodiscard]] node pop() {
        need(!stack_.empty() && stack_.back() != mark);
        const node top = stack_.back();
        stack_.pop_back();
        return top;
    }
    [[nodiscard]] node top() {
        const node one = pop();
        stack_.push_back(one);
        return one;
    }
    // Where the entries behind the last mark begin.
    [[nodiscard]] std::size_t behind_mark() const {
        if (marks_.empty()) {
            refuse("its opcode needs a mark on the stack, and there is none");
        }
        return marks_.back() + 1;
    }
    void drop_to_mark() {
        stack_.resize(behind_mark() - 1);
        marks_.pop_back();
    }
    [[nodiscard]] bool push_text(std::optional<std::uint64_t> length, pickle_kind kind) {
        if (length) {
            check_text(*length);
        }
        const std::optional<byte_view> text = length ? take(*length) : std::nullopt;
        if (text) {
            push(add_text(kind, as_text(*text)));
        }
        return text.has_value();
    }
    template <class Number>
    [[nodiscard]] bool push_integer(std::optional<Number> number) {
        if (number) {
            push(add_halves(pickle_kind::integer, static_cast<std::uint64_t>(static_cast<std::int64_t>(*number))));
        }
        return number.has_value();
    }

    // Little-endian, two's complement, of any length.
    [[nodiscard]] bool push_long(std::optional<std::uint64_t> length) {
        constexpr std::uint64_t most = 256;
        if (length && *length > most) {
            refuse("it has an integer of " + std::to_string(*length) + " bytes");
        }
        const std::optional<byte_view> bytes = length ? take(*length) : std::nullopt;
        if (!bytes) {
            return false;
        }
        if (bytes->size() > 8) {
            push(add_text(pickle_kind::bytes, as_text(*bytes)));
            return true;
        }
        const bool is_negative = !bytes->empty() && (bytes->back() & std::byte{0x80}) != std::byte{0};
        std::uint64_t value = is_negative ? UINT64_MAX : 0;
        std::memcpy(&value, bytes->data(), bytes->size());
        push(add_halves(pickle_kind::integer, value));
        return true;
    }

    [[nodiscard]] bool push_double() {
        const std::optional<byte_view> bytes = take(8);
        if (bytes) {
            std::uint64_t bits = 0;
            for (const std::byte each : *bytes) {
                bits = (bits << 8U) | std::to_integer<std::uint64_t>(each);
            }
            push(add_halves(pickle_kind::number, bits));
        }
        return bytes.has_value();
    }

    // The lines of protocol 0.
    [[nodiscard]] bool push_line(unsigned char opcode) {
        std::optional<std::string_view> line = take_line();
        if (!line) {
            return false;
        }
        if (opcode == 'S' || opcode == 'V') {
            const bool has_quotes = opcode == 'S' && line->size() >= 2;
            push(add_text(pickle_kind::text, has_quotes ? line->substr(1, line->size() - 2) : *line));
            return true;
        }
        if (opcode == 'I' && (*line == "00" || *line == "01")) {
            push(*line == "01" ? 2 : 1);
            return true;
        }
        line = line->substr(0, line->size() - (line->ends_with('L') ? 1 : 0));
        std::int64_t whole = 0;
        double number = 0;
        const auto [end, code] = opcode == 'F' ? std::from_chars(line->data(), line->data() + line->size(), number)
                                               : std::from_chars(line->data(), line->data() + line->size(), whole);
        if (code == std::errc::result_out_of_range && opcode != 'F') {
            push(add_text(pickle_kind::bytes, *line));
            return true;
        }
        if (code != std::errc{} || end != line->data() + line->size()) {
            refuse("it has a number that is none");
        }
        push(opcode == 'F' ? add_halves(pickle_kind::number, std::bit_cast<std::uint64_t>(number))
                           : add_halves(pickle_kind::integer, static_cast<std::uint64_t>(whole)));
        return true;
    }

    // The memo: indexes in order are the rule.
    [[nodiscard]] bool put(std::optional<std::uint64_t> index) {
        if (!index) {
            return false;
        }
        const node one = top();
        if (*index <= 2 * memo_.size() + 1024 && *index < limits_.entries) {
            memo_.resize(std::max(memo_.size(), std::size_t{*index} + 1), mark);
            memo_[std::size_t{*index}] = one;
        } else if (sparse_memo_.size() < limits_.entries / 16 && *index <= UINT32_MAX) {
            sparse_memo_.insert_or_assign(static_cast<std::uint32_t>(*index), one);
        } else {
            refuse("its memo has too many entries");
        }
        memoized_ = std::max(memoized_, *index + 1);
        return true;
    }
    [[nodiscard]] bool get(std::optional<std::uint64_t> index) {
        if (!index) {
            return false;
        }
        node one = *index < memo_.size() ? memo_[std::size_t{*index}] : mark;
        if (one == mark && *index <= UINT32_MAX) {
            const auto found = sparse_memo_.find(static_cast<std::uint32_t>(*index));
            one = found != sparse_memo_.end() ? found->second : mark;
        }
        if (one == mark) {
            refuse("it refers to entry " + std::to_string(*index) + " of the memo, which it has not stored");
        }
        push(one);
        return true;
    }
    [[nodiscard]] std::optional<std::uint64_t> line_index() {
        const std::optional<std::string_view> line = take_line();
        std::uint64_t index = 0;
        if (line && std::from_chars(line->data(), line->data() + line->size(), index).ec != std::errc{}) {
            refuse("it has an index of the memo that is no number");
        }
        return line ? std::optional{index} : std::nullopt;
    }

    // Containers.
    void push_tuple(std::size_t count) {
        need(behind_last_mark() >= count);
        const std::size_t begin = stack_.size() - count;
        const node made = add_container(pickle_kind::tuple);
        move_entries(made, begin);
        push(made);
    }
    void check_pairs(pickle_kind kind, std::size_t begin) const {
        if (kind == pickle_kind::mapping && (stack_.size() - begin) % 2 != 0) {
            refuse("a key of its dictionary has no value");
        }
    }
    // Entries of the stack, from `begin` on, into a container.
    void move_entries(node to, std::size_t begin) {
        for (std::size_t i = begin; i < stack_.size(); ++i) {
            append(to, stack_[i]);
        }
        stack_.resize(begin);
    }
    [[nodiscard]] std::size_t behind_last_mark() const noexcept {
        return stack_.size() - (marks_.empty() ? 0 : marks_.back() + 1);
    }
    void push_marked(pickle_kind kind) {
        const std::size_t begin = behind_mark();
        check_pairs(kind, begin);
        const node made = add_container(kind);
        move_entries(made, begin);
        drop_to_mark();
        push(made);
    }
    // The container that entries go to: of that kind, or what an unknown object keeps.
    [[nodiscard]] node container_of(node one, pickle_kind kind) {
        if (tree_.kind(one) == kind) {
            return one;
        }
        if (tree_.kind(one) != pickle_kind::object) {
            refuse(kind == pickle_kind::list ? "it appends to something that is not a list"
                                             : "it sets an entry of something that is not a dictionary");
        }
        const auto [known, is_new] = tree_.contents_.try_emplace(one, pickle_tree::nothing);
        if (is_new) {
            known->second = add_container(pickle_kind::list);
        }
        return known->second;
    }
    // Moves the entries from `begin` on into the container at a place of the stack.
    void fill(pickle_kind kind, std::size_t container, std::size_t begin) {
        need(container < stack_.size() && stack_[container] != mark);
        check_pairs(kind, begin);
        move_entries(container_of(stack_[container], kind), begin);
    }
    void fill_marked(pickle_kind kind) {
        const std::size_t begin = behind_mark();
        fill(kind, begin - 2, begin);  // the container lies below the mark; without one, behind all
        drop_to_mark();
    }
    void fill_last(pickle_kind kind, std::size_t count) {
        need(behind_last_mark() > count);
        const std::size_t begin = stack_.size() - count;
        fill(kind, begin - 1, begin);
    }

    void reduce() {
        const node arguments = pop();
        const node callee = pop();
        if (tree_.kind(arguments) != pickle_kind::tuple) {
            refuse("the arguments of its object are not a tuple");
        }
        push(add_object(callee, arguments));
    }
    void build() {
        const node state = pop();
        const node one = top();
        // The state of a dictionary is its attributes, as _metadata of a state dict, and never its entries.
        if (tree_.kind(one) == pickle_kind::object) {
            tree_.nodes_[one].count = state;
        } else if (tree_.kind(one) != pickle_kind::mapping && tree_.kind(one) != pickle_kind::name) {
            refuse("it sets the state of something that has none");
        }
    }
    [[nodiscard]] bool push_global() {
        const std::optional<std::string_view> module = take_line();
        const std::optional<std::string_view> name = module ? take_line() : std::nullopt;
        if (name) {
            const node first = add_text(pickle_kind::text, *module);
            const node second = add_text(pickle_kind::text, *name);
            push(add_name(first, second));
        }
        return name.has_value();
    }
    void push_stack_global() {
        const node name = pop();
        const node module = pop();
        if (tree_.kind(name) != pickle_kind::text || tree_.kind(module) != pickle_kind::text) {
            refuse("a name in it is not a text");
        }
        push(add_name(module, name));
    }
    void push_persistent() {
        const node id = pop();
        if (tree_.kind(id) != pickle_kind::tuple) {
            refuse("a persistent id in it is not a tuple");
        }
        push(add({.kind = pickle_kind::storage, .first = id}));
    }

    // False if the pickle goes on behind the bytes.
    [[nodiscard]] bool execute(unsigned char opcode) {
        const auto widened = [](auto number) {
            return number ? std::optional{static_cast<std::uint64_t>(*number)} : std::nullopt;
        };
        const auto byte_length = [&] { return widened(take_number<std::uint8_t>()); };
        const auto int_length = [&] { return widened(take_number<std::uint32_t>()); };
        switch (opcode) {
            case 0x80:  // PROTO
                if (!left_.empty() && left_.front() > std::byte{5}) {
                    refuse("its protocol is " + std::to_string(std::to_integer<int>(left_.front())) +
                           "; 0 to 5 are read");
                }
                return take(1).has_value();
            case 0x95:  // FRAME
                return take(8).has_value();
            case '.':
                static_cast<void>(top());
                is_done_ = true;
                return true;
            case '(':
                push(mark);
                marks_.push_back(stack_.size() - 1);
                return true;
            case '0':  // POP
                if (!stack_.empty() && stack_.back() == mark) {
                    drop_to_mark();
                } else {
                    static_cast<void>(pop());
                }
                return true;
            case '1':  // POP_MARK
                drop_to_mark();
                return true;
            case '2':  // DUP
                push(top());
                return true;
            case 'N':
                push(pickle_tree::nothing);
                return true;
            case 0x89:  // NEWFALSE
                push(1);
                return true;
            case 0x88:  // NEWTRUE
                push(2);
                return true;
            case 'J':
                return push_integer(take_number<std::int32_t>());
            case 'K':
                return push_integer(take_number<std::uint8_t>());
            case 'M':
                return push_integer(take_number<std::uint16_t>());
            case 0x8a:  // LONG1
                return push_long(byte_length());
            case 0x8b:  // LONG4
                return push_long(int_length());
            case 'G':
                return push_double();
            case 'X':
            case 'T':
                return push_text(int_length(), pickle_kind::text);
            case 'U':
            case 0x8c:  // SHORT_BINUNICODE
                return push_text(byte_length(), pickle_kind::text);
            case 0x8d:  // BINUNICODE8
                return push_text(take_number<std::uint64_t>(), pickle_kind::text);
            case 'C':
                return push_text(byte_length(), pickle_kind::bytes);
            case 'B':
                return push_text(int_length(), pickle_kind::bytes);
            case 0x8e:  // BINBYTES8
                return push_text(take_number<std::uint64_t>(), pickle_kind::bytes);
            case 'I':
            case 'L':
            case 'F':
            case 'S':
            case 'V':
                return push_line(opcode);
            case ')':
                push(add_container(pickle_kind::tuple));
                return true;
            case 't':
                push_marked(pickle_kind::tuple);
                return true;
            case 0x85:  // TUPLE1 to TUPLE3
            case 0x86:
            case 0x87:
                push_tuple(opcode - 0x84U);
                return true;
            case ']':
            case 0x8f:  // EMPTY_SET
                push(add_container(pickle_kind::list));
                return true;
            case 'l':
                push_marked(pickle_kind::list);
                return true;
            case 'a':
                fill_last(pickle_kind::list, 1);
                return true;
            case 'e':
            case 0x90:  // ADDITEMS
                fill_marked(pickle_kind::list);
                return true;
            case '}':
                push(add_container(pickle_kind::mapping));
                return true;
            case 'd':
                push_marked(pickle_kind::mapping);
                return true;
            case 's':
                fill_last(pickle_kind::mapping, 2);
                return true;
            case 'u':
                fill_marked(pickle_kind::mapping);
                return true;
            case 'c':
                return push_global();
            case 0x93:  // STACK_GLOBAL
                push_stack_global();
                return true;
            case 'R':
            case 0x81:  // NEWOBJ
                reduce();
                return true;
            case 'b':
                build();
                return true;
            case 'Q':
                push_persistent();
                return true;
            case 'q':
                return put(byte_length());
            case 'r':
                return put(int_length());
            case 'p':
                return put(line_index());
            case 0x94:  // MEMOIZE
                return put(memoized_);
            case 'h':
                return get(byte_length());
            case 'j':
                return get(int_length());
            case 'g':
                return get(line_index());
            default:
                refuse("it has the opcode " + std::to_string(opcode) + ", which no writer of checkpoints writes");
        }
    }

    const std::string& file_;
    const pickle_limits& limits_;
    pickle_tree tree_;
    byte_view left_;
    std::vector<node> stack_;
    std::vector<std::size_t> marks_;  // their places on the stack
    std::vector<node> memo_;
    std::unordered_map<std::uint32_t, node> sparse_memo_;
    std::uint64_t memoized_ = 0;  // the number that MEMOIZE gives next
    bool is_done_ = false;
};

SMDEBUG_INLINE std::optional<pickle_tree> pickle_tree::read(byte_view bytes, const std::string& file,
                                                            const pickle_limits& limits) {
    return pickle_machine{bytes, file, limits}.run();
}

SMDEBUG_INLINE std::optional<std::int64_t> pickle_tree::integer(node of) const noexcept {
    return kind(of) == pickle_kind::integer ? std::optional{static_cast<std::int64_t>(halves(of))} : std::nullopt;
}

SMDEBUG_INLINE std::optional<double> pickle_tree::number(node of) const noexcept {
    return kind(of) == pickle_kind::number ? std::optional{std::bit_cast<double>(halves(of))} : std::nullopt;
}

SMDEBUG_INLINE bool pickle_tree::is_true(node of) const noexcept {
    return kind(of) == pickle_kind::truth && nodes_[of].first != 0;
}

SMDEBUG_INLINE std::string_view pickle_tree::text(node of) const noexcept {
    const bool is_text = kind(of) == pickle_kind::text || kind(of) == pickle_kind::bytes;
    return is_text ? as_text(bytes_.subspan(nodes_[of].first, nodes_[of].count)) : std::string_view{};
}

SMDEBUG_INLINE std::vector<pickle_tree::node> pickle_tree::items(node of) const {
    std::vector<node> all;
    if (kind(of) == pickle_kind::tuple || kind(of) == pickle_kind::list) {
        all.reserve(nodes_[of].count);
        for (std::uint32_t at = nodes_[of].first; at != no_cell; at = cells_[at].next) {
            all.push_back(cells_[at].value);
        }
    }
    return all;
}

SMDEBUG_INLINE std::vector<std::pair<pickle_tree::node, pickle_tree::node>> pickle_tree::entries(node of) const {
    std::vector<std::pair<node, node>> all;
    if (kind(of) != pickle_kind::mapping) {
        return all;
    }
    std::unordered_map<std::string, std::size_t> known;
    for (std::uint32_t at = nodes_[of].first; at != no_cell; at = cells_[cells_[at].next].next) {
        const node key = cells_[at].value;
        const node value = cells_[cells_[at].next].value;
        const bool is_text = kind(key) == pickle_kind::text;
        std::size_t place = all.size();
        if (is_text || kind(key) == pickle_kind::integer) {
            place = known.try_emplace(is_text ? "t" + std::string{text(key)} : std::to_string(*integer(key)), place)
                        .first->second;
        }
        if (place < all.size()) {
            all[place].second = value;
        } else {
            all.emplace_back(key, value);
        }
    }
    return all;
}

SMDEBUG_INLINE pickle_tree::node pickle_tree::value(node of, std::string_view key) const noexcept {
    node found = nothing;
    if (kind(of) == pickle_kind::mapping) {
        for (std::uint32_t at = nodes_[of].first; at != no_cell; at = cells_[cells_[at].next].next) {
            if (kind(cells_[at].value) == pickle_kind::text && text(cells_[at].value) == key) {
                found = cells_[cells_[at].next].value;
            }
        }
    }
    return found;
}

SMDEBUG_INLINE pickle_tree::node pickle_tree::arguments(node of) const noexcept {
    return kind(of) == pickle_kind::object ? nodes_[of].last : nothing;
}

SMDEBUG_INLINE pickle_tree::node pickle_tree::state(node of) const noexcept {
    return kind(of) == pickle_kind::object ? nodes_[of].count : nothing;
}

SMDEBUG_INLINE pickle_tree::node pickle_tree::contents(node of) const noexcept {
    const auto found = contents_.find(of);
    return found != contents_.end() ? found->second : nothing;
}

SMDEBUG_INLINE pickle_tree::node pickle_tree::id(node of) const noexcept {
    return kind(of) == pickle_kind::storage ? nodes_[of].first : nothing;
}

SMDEBUG_INLINE pickle_name pickle_tree::meaning(node of) const noexcept { return nodes_[of].meaning; }

SMDEBUG_INLINE std::string pickle_tree::full_name(node of) const {
    const node name = kind(of) == pickle_kind::object ? nodes_[of].first : of;
    return kind(name) == pickle_kind::name
               ? std::string{text(nodes_[name].first)}.append(".").append(text(nodes_[name].last))
               : std::string{};
}

}  // namespace smdebug::inline v1::formats::detail
