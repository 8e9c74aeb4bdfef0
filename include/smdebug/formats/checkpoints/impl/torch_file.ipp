// The bodies of <smdebug/formats/checkpoints/torch_file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/torch_file.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/strided_tensor.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE pickle_limits pickle_limits_of(const archive_options& options) noexcept {
    pickle_limits limits;
    limits.bytes = std::min(limits.bytes, options.most_bytes / 64);  // 64 MiB for untrusted files
    return limits;
}

SMDEBUG_INLINE dtype dtype_in_torch(std::string_view name) noexcept {
    struct row {
        std::string_view name;
        dtype type;
    };
    constexpr row rows[] = {
        {"float32", dtype::float32},
        {"float", dtype::float32},
        {"float64", dtype::float64},
        {"double", dtype::float64},
        {"float16", dtype::float16},
        {"half", dtype::float16},
        {"bfloat16", dtype::bfloat16},
        {"float8_e4m3fn", dtype::float8_e4m3fn},
        {"float8_e5m2", dtype::float8_e5m2},
        {"int64", dtype::int64},
        {"long", dtype::int64},
        {"int32", dtype::int32},
        {"int", dtype::int32},
        {"int16", dtype::int16},
        {"short", dtype::int16},
        {"int8", dtype::int8},
        {"uint8", dtype::uint8},
        {"uint16", dtype::uint16},
        {"uint32", dtype::uint32},
        {"uint64", dtype::uint64},
        {"bool", dtype::boolean},
        {"complex64", dtype::complex64},
        {"cfloat", dtype::complex64},
        {"complex128", dtype::complex128},
        {"cdouble", dtype::complex128},
    };
    const auto* const found =
        std::find_if(std::begin(rows), std::end(rows), [&](const row& each) { return each.name == name; });
    return found != std::end(rows) ? found->type : dtype::invalid;
}

/// The dtype of a class of storages, "FloatStorage".
[[nodiscard]] inline dtype dtype_of_storage(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, std::string_view> rows[] = {
        {"FloatStorage", "float32"},
        {"DoubleStorage", "float64"},
        {"HalfStorage", "float16"},
        {"BFloat16Storage", "bfloat16"},
        {"LongStorage", "int64"},
        {"IntStorage", "int32"},
        {"ShortStorage", "int16"},
        {"CharStorage", "int8"},
        {"ByteStorage", "uint8"},
        {"BoolStorage", "bool"},
        {"ComplexFloatStorage", "complex64"},
        {"ComplexDoubleStorage", "complex128"},
    };
    const auto* const found =
        std::find_if(std::begin(rows), std::end(rows), [&](const auto& each) { return each.first == name; });
    return found != std::end(rows) ? dtype_in_torch(found->second) : dtype::invalid;
}

SMDEBUG_INLINE std::string_view collection_in_torch(std::string_view name, dtype type, char separator) noexcept {
    constexpr std::string_view dictionaries[] = {"model", "state_dict", "model_state_dict", "module", "net", "params"};
    const bool is_floating = is_complex(type) || type == dtype::float64 || type == dtype::float32 ||
                             type == dtype::float16 || type == dtype::bfloat16 || type == dtype::float8_e4m3fn ||
                             type == dtype::float8_e5m2;
    const std::size_t end = name.find(separator);
    const std::string_view first = name.substr(0, end);
    const std::string_view last = name.substr(name.find_last_of("/.") + 1);  // npos + 1 is 0
    if (first.find("optim") != std::string_view::npos) {
        return "optimizer";
    }
    const std::size_t ema = first.find("ema");
    if (ema != std::string_view::npos && (ema == 0 || first[ema - 1] == '_') &&
        (ema + 3 == first.size() || first[ema + 3] == '_')) {
        return "ema";
    }
    const bool is_bare = end == std::string_view::npos || separator != '/';
    if (name.find_first_of("/.") == std::string_view::npos && name.find("loss") != std::string_view::npos) {
        return "losses";
    }
    if (!is_bare && std::find(std::begin(dictionaries), std::end(dictionaries), first) == std::end(dictionaries)) {
        return {};
    }
    if (!is_floating) {
        return is_bare && name.find('.') == std::string_view::npos ? "" : "buffers";  // a state of random numbers: none
    }
    if (last == "running_mean" || last == "running_var") {
        return "buffers";
    }
    return last.find("bias") != std::string_view::npos ? "biases" : "weights";
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

/// Negates numbers, or their imaginary parts alone: both of complex numbers unless `is_conjugate`.
inline void change_signs(std::vector<std::byte>& elements, dtype type, bool is_negative, bool is_conjugate) {
    const std::size_t size = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t i = 0; (i + 1) * size <= elements.size(); ++i) {
        if (is_negative != (is_conjugate && i % 2 == 1)) {
            elements[(i + 1) * size - 1] ^= std::byte{0x80};  // the sign, in the last byte of little-endian numbers
        }
    }
}

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

    void walk() {
        const node root = plain(tree_.root());
        is_optimizer_ = tree_.value(root, "param_groups") != pickle_tree::nothing;
        visit(root);
        while (!frames_.empty()) {
            frame& top = frames_.back();
            if (top.next == top.children.size()) {
                leave();
                continue;
            }
            const std::size_t i = top.next++;
            const auto [key, value] = top.children[i];
            path_.resize(top.path);
            append_key(key, i, top);
            in_buffers_ = i >= top.first_buffer && i < top.first_module;
            const std::optional<std::int64_t> whole = tree_.integer(value);
            const std::optional<double> real = tree_.number(value);
            if ((whole || real) && frames_.size() == 1 && tree_.kind(top.of) == pickle_kind::mapping) {
                numbers.push_back({path_, whole ? dtype::int64 : dtype::float64,
                                   whole ? static_cast<std::uint64_t>(*whole) : std::bit_cast<std::uint64_t>(*real)});
                check_name();
            } else {
                visit(plain(value));
            }
        }
    }

    /// Notes what is wrong with something, once for each reason.
    void note(const std::string& name, std::string why, problem_kind kind) {
        constexpr std::size_t most_reasons = 100;
        if (noted_.size() >= most_reasons && !noted_.contains({why, kind})) {
            why = "it cannot be read, for one of many reasons";
        }
        auto& [first, more] = noted_.try_emplace({std::move(why), kind}, name, 0).first->second;
        ++more;
    }
    [[nodiscard]] std::vector<left_out> notes() const {
        std::vector<left_out> all;
        for (const auto& [reason, of] : noted_) {
            const std::string others =
                of.second == 1 ? "" : "; the same holds for " + std::to_string(of.second - 1) + " more";
            all.push_back({of.first, reason.first + others, reason.second});
        }
        return all;
    }

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

    // What stands behind parameters and the like.
    [[nodiscard]] node plain(node of) const {
        while (tree_.kind(of) == pickle_kind::object && tree_.meaning(of) == pickle_name::first_argument) {
            const std::vector<node> given = tree_.items(tree_.arguments(of));  // which were there before it: no circle
            of = given.empty() ? pickle_tree::nothing : given.front();
        }
        return of;
    }

    void append_key(node key, std::size_t i, const frame& in) {
        // A module's own parts are its tensors' names; what stands around the module is a way to it.
        if (!path_.empty()) {
            path_ += in.is_module && in.path > module_path_ ? '.' : '/';
        }
        const std::size_t begin = path_.size();
        if (in.is_list) {
            path_ += std::to_string(i);
        } else {
            append_text(key, 0);
        }
        if (path_.size() == begin && !path_.empty()) {
            path_.pop_back();
        }
    }
    void append_text(node key, unsigned depth) {
        switch (tree_.kind(key)) {
            case pickle_kind::text:
            case pickle_kind::bytes:
                path_ += tree_.text(key);
                break;
            case pickle_kind::integer:
                path_ += std::to_string(*tree_.integer(key));
                break;
            case pickle_kind::number: {
                std::array<char, 32> text{};
                path_.append(text.data(),
                             std::to_chars(text.data(), text.data() + text.size(), *tree_.number(key)).ptr);
                break;
            }
            case pickle_kind::truth:
                path_ += tree_.is_true(key) ? "True" : "False";
                break;
            case pickle_kind::none:
                path_ += "None";
                break;
            case pickle_kind::tuple: {
                const std::vector<node> items = tree_.items(key);
                for (std::size_t i = 0; i < items.size() && i < most_extents && depth < 2; ++i) {
                    path_ += i == 0 ? "(" : ", ";
                    append_text(items[i], depth + 1);
                }
                path_ += ')';
                break;
            }
            default:
                path_ += tree_.full_name(key).empty() ? "?" : tree_.full_name(key);
        }
    }
    void check_name() {
        name_bytes_ += path_.size();
        if (tensors.size() + numbers.size() > most_tensors || name_bytes_ > most_name_bytes) {
            frames_.clear();
            note(path_, "the file has more tensors or longer names than are read", problem_kind::damaged);
        }
    }

    void visit(node of) {
        switch (tree_.kind(of)) {
            case pickle_kind::mapping: {
                const bool in_module = !frames_.empty() && frames_.back().is_module;
                enter({.of = of, .children = tree_.entries(of), .is_module = in_module});
                break;
            }
            case pickle_kind::tuple:
            case pickle_kind::list: {
                std::vector<std::pair<node, node>> children;
                for (const node each : tree_.items(of)) {
                    children.emplace_back(pickle_tree::nothing, each);
                }
                enter({.of = of, .children = std::move(children), .is_list = true});
                break;
            }
            case pickle_kind::object:
                visit_object(of);
                break;
            default:
                break;
        }
    }

    void visit_object(node of) {
        pickle_name meaning = tree_.meaning(of);
        node arguments = tree_.arguments(of);
        if (meaning == pickle_name::rebuild_from_type) {
            const std::vector<node> given = tree_.items(arguments);
            const bool is_call = given.size() >= 3 && tree_.kind(given[0]) == pickle_kind::name;
            meaning = is_call ? tree_.meaning(given[0]) : pickle_name::unknown;
            arguments = is_call ? given[2] : arguments;
            if (meaning == pickle_name::first_argument) {
                const std::vector<node> inner = tree_.items(arguments);
                const node tensor = inner.empty() ? pickle_tree::nothing : plain(inner.front());
                meaning = tree_.meaning(tensor);
                arguments = tree_.arguments(tensor);
            }
        }
        if (meaning == pickle_name::rebuild_tensor || meaning == pickle_name::rebuild_tensor_v3) {
            take_tensor(arguments, meaning == pickle_name::rebuild_tensor_v3);
        } else if (meaning == pickle_name::tensor_of_other_form) {
            see_tensor();
            if (unread_in_ == none) {
                note(path_, "it is a tensor of a form that is not read (" + tree_.full_name(of) + ")",
                     problem_kind::unsupported);
            }
        } else if (!enter_module(of)) {
            const node parts[] = {tree_.state(of), tree_.contents(of), tree_.arguments(of)};
            frame made{.of = of, .is_list = true};
            for (const node each : parts) {
                made.children.emplace_back(pickle_tree::nothing, each);
            }
            if (enter(std::move(made)) && unread_in_ == none) {
                unread_in_ = frames_.size() - 1;
            }
        }
    }

    // A module of Python, by its dictionaries, or of TorchScript, by its attributes.
    [[nodiscard]] bool enter_module(node of) {
        const node state = tree_.state(of);
        const node parameters = tree_.value(state, "_parameters");
        const node buffers = tree_.value(state, "_buffers");
        const node modules = tree_.value(state, "_modules");
        const auto is_mapping = [&](node each) { return tree_.kind(each) == pickle_kind::mapping; };
        frame made{.of = of, .is_module = true};
        if (is_mapping(parameters) && is_mapping(buffers) && is_mapping(modules)) {
            made.children = tree_.entries(parameters);
            made.first_buffer = made.children.size();
            std::ranges::copy(tree_.entries(buffers), std::back_inserter(made.children));
            made.first_module = made.children.size();
            std::ranges::copy(tree_.entries(modules), std::back_inserter(made.children));
        } else if (is_mapping(state) && tree_.full_name(of).starts_with("__torch__.")) {
            made.children = tree_.entries(state);
        } else {
            return false;
        }
        const bool is_outermost =
            std::none_of(frames_.begin(), frames_.end(), [](const frame& each) { return each.is_module; });
        if (is_outermost) {
            module_path_ = path_.size();
        }
        enter(std::move(made));
        return true;
    }

    bool enter(frame made) {
        seen& state = seen_[made.of];
        if (state == seen::open || state == seen::without_tensors) {
            return false;
        }
        if (state == seen::with_tensors && ++repeated_ > most_repeated_visits) {
            if (repeated_ == most_repeated_visits + 1) {
                note(path_, "its containers stand in more places than are read", problem_kind::damaged);
            }
            return false;
        }
        if (frames_.size() >= most_nesting) {
            note(path_.substr(0, path_.find('/')),
                 "its containers are nested more than " + std::to_string(most_nesting) + " deep",
                 problem_kind::damaged);
            return false;
        }
        state = seen::open;
        made.path = path_.size();
        frames_.push_back(std::move(made));
        return true;
    }

    void leave() {
        const frame done = std::move(frames_.back());
        frames_.pop_back();
        seen_[done.of] = done.has_tensors ? seen::with_tensors : seen::without_tensors;
        if (!frames_.empty()) {
            frames_.back().has_tensors = frames_.back().has_tensors || done.has_tensors;
        }
        if (unread_in_ == frames_.size()) {
            unread_in_ = none;
            if (done.unread > 0) {
                note(path_.substr(0, done.path),
                     "it is an object of the class " + tree_.full_name(done.of) + ", which is not known here: its " +
                         std::to_string(done.unread) + (done.unread == 1 ? " tensor is" : " tensors are") + " not read",
                     problem_kind::unsupported);
            }
        }
    }

    // Marks the containers that lead to a tensor.
    void see_tensor() {
        if (!frames_.empty()) {
            frames_.back().has_tensors = true;
        }
        if (unread_in_ != none) {
            ++frames_[unread_in_].unread;
        }
    }

    void take_tensor(node arguments, bool is_typed) {
        see_tensor();
        if (unread_in_ != none) {
            return;
        }
        torch_view view;
        problem_kind kind = problem_kind::damaged;
        if (const std::string why = wrong_with(tree_.items(arguments), is_typed, view, kind); !why.empty()) {
            note(path_, why, kind);
            return;
        }
        std::optional<std::string_view> collection{collection_in_torch(path_, view.type)};
        if (is_optimizer_ && path_.starts_with("state/")) {
            collection = "optimizer";
        } else if (in_buffers_ && *collection != "ema") {
            collection = "buffers";
        }
        tensors.push_back({path_, std::move(view), collection});
        check_name();
    }

    [[nodiscard]] std::optional<std::vector<std::uint64_t>> extents(node of) const {
        const node list = plain(of);
        const bool is_list = tree_.kind(list) == pickle_kind::tuple || tree_.kind(list) == pickle_kind::list;
        std::vector<std::uint64_t> all;
        for (const node each : is_list ? tree_.items(list) : std::vector<node>{}) {
            const std::optional<std::int64_t> one = tree_.integer(each);
            if (!one || *one < 0 || all.size() == most_extents) {
                return std::nullopt;
            }
            all.push_back(static_cast<std::uint64_t>(*one));
        }
        return is_list ? std::optional{std::move(all)} : std::nullopt;
    }

    // Fills the view; what is wrong, or "".
    [[nodiscard]] std::string wrong_with(const std::vector<node>& given, bool is_typed, torch_view& view,
                                         problem_kind& kind) const {
        const std::size_t least = is_typed ? 7 : 4;
        const std::optional<std::int64_t> offset =
            given.size() >= least ? tree_.integer(given[1]) : std::optional<std::int64_t>{};
        const auto shape = offset ? extents(given[2]) : std::nullopt;
        const auto strides = offset ? extents(given[3]) : std::nullopt;
        if (!shape || !strides || *offset < 0 || shape->size() != strides->size()) {
            return "its offset, extents and strides are not whole numbers, none of them negative, as many extents as "
                   "strides and at most " +
                   std::to_string(most_extents);
        }
        const std::vector<node> id = tree_.items(tree_.id(given[0]));
        const std::string_view mark = id.empty() ? std::string_view{} : tree_.text(id[0]);
        const std::optional<std::int64_t> count = id.size() >= 5 ? tree_.integer(id[4]) : std::nullopt;
        if (mark != "storage" || !count || *count < 0) {
            return "what it names as its elements is not a storage";
        }
        const std::string storage = tree_.full_name(id[1]);
        const bool is_untyped = storage == "torch.storage.UntypedStorage" || storage == "torch.UntypedStorage" ||
                                storage == "torch.storage._UntypedStorage";
        const std::size_t dot = storage.rfind('.') + 1;  // npos + 1 is 0
        const std::string_view module = std::string_view{storage}.substr(0, dot);
        const dtype unit = module == "torch." || module == "torch.cuda."
                               ? dtype_of_storage(std::string_view{storage}.substr(dot))
                               : dtype::invalid;
        kind = problem_kind::unsupported;
        if (!is_untyped && unit == dtype::invalid) {
            return "its elements are in a " + storage + ", which is not read";
        }
        if (tree_.text(id[3]) == "meta") {
            return "it is on the device meta: it has no elements";
        }
        const std::string type = is_typed ? tree_.full_name(given[6]) : std::string{};
        view.type = is_typed ? dtype_in_torch(type.starts_with("torch.") ? type.substr(6) : "") : unit;
        if (view.type == dtype::invalid) {
            return is_typed ? "its dtype " + type + " is not known here" : "it has no dtype";
        }
        kind = problem_kind::damaged;
        const std::uint64_t size = size_of(view.type);
        const std::uint64_t unit_size = is_untyped ? 1 : size_of(unit);
        view.key = tree_.text(id[2]);
        view.shape.assign(shape->begin(), shape->end());
        view.strides.assign(strides->begin(), strides->end());
        const std::optional<std::uint64_t> bytes = content_bytes(view.type, view.shape);
        const std::optional<std::uint64_t> storage_bytes = product(static_cast<std::uint64_t>(*count), unit_size);
        std::uint64_t first = 0;  // the tensor sees this part of the storage: old files have views of storages
        std::uint64_t visible = storage_bytes.value_or(0);
        const std::vector<node> part = id.size() >= 6 ? tree_.items(id[5]) : std::vector<node>{};
        if (part.size() == 3) {
            const auto begin = tree_.integer(part[1]);
            const auto length = tree_.integer(part[2]);
            const auto begin_bytes =
                begin && *begin >= 0 ? product(static_cast<std::uint64_t>(*begin), unit_size) : std::nullopt;
            const auto length_bytes =
                length && *length >= 0 ? product(static_cast<std::uint64_t>(*length), unit_size) : std::nullopt;
            if (!begin_bytes || !length_bytes || *begin_bytes > visible || *length_bytes > visible - *begin_bytes) {
                return "its storage is a view that lies beyond the storage";
            }
            first = *begin_bytes;
            visible = *length_bytes;
        }
        const std::optional<std::uint64_t> begin_bytes = product(static_cast<std::uint64_t>(*offset), size);
        const std::optional<std::uint64_t> span = bytes == std::uint64_t{0} ? bytes : span_of(view);
        if (!bytes || !storage_bytes || !begin_bytes || !span ||
            (*bytes > 0 && (*begin_bytes > visible || *span > visible - *begin_bytes))) {
            return "its elements lie beyond its storage of " + std::to_string(visible) + " bytes";
        }
        view.bytes = *bytes;
        view.span = *span;
        view.storage_bytes = *storage_bytes;
        view.offset = first + *begin_bytes;
        const std::size_t metadata = is_typed ? 7 : 6;
        if (given.size() > metadata) {
            view.is_negative = tree_.is_true(tree_.value(given[metadata], "neg"));
            view.is_conjugate = tree_.is_true(tree_.value(given[metadata], "conj")) && is_complex(view.type);
        }
        if (*bytes > *span && *bytes > most_repeated_bytes) {
            return "its " + std::to_string(*bytes) + " bytes repeat " + std::to_string(*span) +
                   " of its storage; at most " + std::to_string(most_repeated_bytes) + " are made so";
        }
        return {};
    }

    [[nodiscard]] static std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) noexcept {
        return a != 0 && b > UINT64_MAX / a ? std::nullopt : std::optional{a * b};
    }
    // The bytes from the first to the last element; nothing if that is beyond 63 bits.
    [[nodiscard]] static std::optional<std::uint64_t> span_of(const torch_view& view) {
        constexpr std::uint64_t most = INT64_MAX;
        std::uint64_t last = 0;
        for (std::size_t i = 0; i < view.shape.size(); ++i) {
            const auto reach = product(view.shape[i] - 1, static_cast<std::uint64_t>(view.strides[i]));
            if (!reach || *reach > most - last) {
                return std::nullopt;
            }
            last += *reach;
        }
        return product(last + 1, size_of(view.type));
    }

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

/// Reads one file.
class torch_reader {
public:
    torch_reader(const any_storage& store, const std::string& key, const archive_options& options)
        : store_(store),
          key_(key),
          options_(options),
          limits_(pickle_limits_of(options)),
          file_(smdebug::detail::path_of(store, key)),
          records_(store) {}

    [[nodiscard]] torch_tensors read() && {
        open();
        torch_walker found{*tree_};
        found.walk();
        all_.step = step();
        all_.root = tree_->full_name(tree_->root());
        place(found);
        all_.not_read = found.notes();
        return std::move(all_);
    }

    [[nodiscard]] std::optional<step_number> read_step() && {
        open();
        return step();
    }

private:
    // Reads the pickle.
    void open() {
        const std::optional<std::uint64_t> size = store_.size(key_);
        if (!size) {
            throw not_found("there is no file " + file_, {.where = file_});
        }
        size_ = *size;
        const byte_buffer head = store_.read(key_, {0, 512});
        const std::string_view front = as_text(head.view());
        if (front.size() < 4) {
            refuse(front.empty() ? "it is empty" : "it ends within its first bytes");
        }
        if (front.starts_with(lfs_pointer_begin)) {
            refuse(std::string{lfs_pointer_text});
        }
        if (front.starts_with("PK\3\4") || front.starts_with("PK\5\6")) {
            read_zip();
        } else if (front.size() > 262 && front.substr(257, 5) == "ustar") {
            refuse_other(
                "it is a tar, as torch wrote it before 0.2, which is not read: save it again by a later torch");
        } else {
            read_pickles(front);
        }
    }

    [[nodiscard]] std::optional<step_number> step() const {
        for (const std::string_view name : {"global_step", "epoch"}) {
            const std::optional<std::int64_t> said = tree_->integer(tree_->value(tree_->root(), name));
            if (said && *said >= 0) {
                return static_cast<step_number>(*said);
            }
        }
        return std::nullopt;
    }

    // Where a storage's elements lie.
    struct storage_place {
        std::uint64_t bytes = 0;
        std::optional<std::uint64_t> begin = {};  // in the file; nothing: deflated
        std::string record = {};
    };

    [[noreturn]] void refuse(const std::string& why) const {
        throw corrupt_data("the file " + file_ + ": " + why, {.where = file_});
    }
    [[noreturn]] void refuse_other(const std::string& why) const {
        throw unsupported("the file " + file_ + ": " + why, {.where = file_});
    }

    void read_zip() {
        constexpr std::uint64_t most_of_deflate = 1'100;  // see read_npz_directory
        constexpr std::string_view name = "/data.pkl";
        const smdebug::detail::archive_openers* const archives = smdebug::detail::known_openers().archives;
        if (archives == nullptr) {
            refuse_other(
                "this program was built without archives, so that it cannot open a zip: include "
                "<smdebug/archive.hpp> in one of its files and link smdebug::archive (zlib, libzstd)");
        }
        archive_options how = options_;
        how.most_ratio = std::max(how.most_ratio, most_of_deflate);
        records_ = archives->open_files(store_, key_, how, archive::detail::member_names::texts);
        for (const std::string& record : records_.list("", "")) {
            if (record.ends_with(name) && record.find('/') == record.size() - name.size()) {
                if (!prefix_.empty()) {
                    refuse("it has two pickles, " + prefix_ + "data.pkl and " + record);
                }
                prefix_ = record.substr(0, record.size() - name.size() + 1);
            }
        }
        if (prefix_.empty()) {
            refuse_other("it is a zip without a data.pkl, and not one that torch.save wrote");
        }
        const std::string pickle = prefix_ + "data.pkl";
        check_size(records_.size(pickle).value_or(0));
        bytes_ = records_.read(pickle);
        tree_ = pickle_tree::read(bytes_.view(), file_, limits_);
        if (!tree_) {
            refuse("its pickle ends before its end: it is cut");
        }
        if (records_.size(prefix_ + "byteorder")) {
            is_big_endian_ = as_text(records_.read(prefix_ + "byteorder", {0, 16}).view()).starts_with("big");
        }
        stored_places_ = archives->stored_places;
    }

    void check_size(std::uint64_t bytes) const {
        if (bytes > limits_.bytes) {
            refuse("its pickle has " + std::to_string(bytes) + " bytes; at most " + std::to_string(limits_.bytes) +
                   " are read");
        }
    }

    // Before 1.6: pickles at the file's front, whose lengths nothing says.
    void read_pickles(std::string_view front) {
        constexpr std::string_view firsts = "\x80(]}c";
        if (firsts.find(front.front()) == std::string_view::npos) {
            refuse_other(
                "it is no checkpoint of PyTorch, which begins as a zip or a pickle does; its first bytes are \"" +
                printable(front.substr(0, 8)) + "\"");
        }
        for (std::uint64_t length = std::uint64_t{64} << 10U;; length *= 4) {
            length = std::min(length, limits_.bytes);
            bytes_ = store_.read(key_, {0, length});
            if (parse(bytes_.view())) {
                return;
            }
            if (bytes_.size() < length) {
                refuse("it ends within its pickle: it is cut, or no checkpoint of PyTorch");
            }
            if (length == limits_.bytes) {
                check_size(length + 1);
            }
        }
    }

    [[nodiscard]] bool parse(byte_view bytes) {
        constexpr std::string_view magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
        std::size_t begin = 0;
        const auto next = [&] {
            std::optional<pickle_tree> one = pickle_tree::read(bytes.subspan(begin), file_, limits_);
            begin += one ? one->end() : 0;
            return one;
        };
        std::optional<pickle_tree> first = next();
        if (first && first->text(first->root()) != magic) {
            tree_ = std::move(first);
            all_.is_bare = true;
            return true;
        }
        const std::optional<pickle_tree> version = first ? next() : std::nullopt;
        const std::optional<pickle_tree> system = version ? next() : std::nullopt;
        tree_ = system ? next() : std::nullopt;
        const std::optional<pickle_tree> keys = tree_ ? next() : std::nullopt;
        if (!keys) {
            return false;
        }
        const pickle_tree::node order = system->value(system->root(), "little_endian");
        is_big_endian_ = system->kind(order) == pickle_kind::truth && !system->is_true(order);
        for (const pickle_tree::node key : keys->items(keys->root())) {
            keys_.emplace_back(keys->text(key));
        }
        storages_begin_ = begin;
        return true;
    }

    // Finds the storages, and makes the tensors.
    void place(torch_walker& found) {
        std::map<std::string, storage_place, std::less<>> places =
            prefix_.empty() ? legacy_places() : zip_places(found.tensors);
        const bool is_deflated = std::any_of(
            places.begin(), places.end(), [](const auto& each) { return !each.second.begin && each.second.bytes > 0; });
        std::shared_ptr<joined_object> unpacked;
        if (is_deflated) {
            unpacked = std::make_shared<joined_object>(joined_object{.files = records_});
            for (auto& [key, storage] : places) {
                storage.begin = unpacked->add(storage.record, {0, storage.bytes});
            }
        }
        const std::uint64_t most = smdebug::detail::bounded_sum(
            most_repeated_bytes, size_ > UINT64_MAX / std::max<std::uint64_t>(1, options_.most_ratio)
                                     ? UINT64_MAX
                                     : size_ * options_.most_ratio);
        std::uint64_t sum = 0;
        for (torch_walker::found_tensor& one : found.tensors) {
            const auto storage = places.find(one.view.key);
            const bool is_empty = one.view.bytes == 0;
            if (!is_empty && (storage == places.end() || one.view.storage_bytes > storage->second.bytes)) {
                found.note(one.name,
                           storage == places.end()
                               ? "the file has no record of its storage " + printable(one.view.key.substr(0, 80))
                               : "its storage claims " + std::to_string(one.view.storage_bytes) +
                                     " bytes; its record has " + std::to_string(storage->second.bytes),
                           problem_kind::damaged);
                continue;
            }
            sum = smdebug::detail::bounded_sum(sum, one.view.bytes);
            if (sum > most) {
                found.note(one.name,
                           "the tensors of the file together have more than " + std::to_string(options_.most_ratio) +
                               " times its bytes",
                           problem_kind::damaged);
                continue;
            }
            all_.tensors.push_back(made_of(one, is_empty ? 0 : *storage->second.begin, unpacked));
        }
        for (const torch_walker::number& one : found.numbers) {
            std::vector<std::byte> bytes(sizeof one.bits);
            store_le(bytes.data(), one.bits);
            all_.tensors.push_back({.name = one.name,
                                    .type = one.type,
                                    .make = [bytes = std::move(bytes)] { return bytes; },
                                    .collection = collection_in_torch(one.name, dtype::float64) == "losses"
                                                      ? std::string_view{"losses"}
                                                      : std::string_view{}});
        }
        all_.unpacked = std::move(unpacked);
    }

    [[nodiscard]] stored_tensor made_of(torch_walker::found_tensor& one, std::uint64_t storage_begin,
                                        const std::shared_ptr<const joined_object>& unpacked) const {
        const torch_view& view = one.view;
        stored_tensor made{
            .name = std::move(one.name), .type = view.type, .shape = view.shape, .collection = one.collection};
        const byte_range where{storage_begin + view.offset, view.bytes};
        const bool swaps = is_big_endian_ && size_of(view.type) > 1;
        if (view.bytes == 0) {
            return made;
        }
        if (view.is_in_c_order() && !view.is_negative && !view.is_conjugate) {
            made.where = where;
            made.big_endian = swaps;
            return made;
        }
        made.make = [store = store_, key = key_, unpacked, view, swaps, where = byte_range{where.offset, view.span},
                     file = file_] {
            const byte_buffer bytes = unpacked != nullptr ? unpacked->read(where) : store.read(key, where);
            if (bytes.size() < where.length) {
                throw corrupt_data("the file " + file + ": it ends within its elements", {.where = file});
            }
            std::vector<std::byte> elements =
                smdebug::detail::in_c_order(size_of(view.type), view.shape, view.strides, bytes.data());
            if (swaps) {
                const std::size_t size = is_complex(view.type) ? size_of(view.type) / 2 : size_of(view.type);
                for (auto at = elements.begin(); at != elements.end(); at += static_cast<std::ptrdiff_t>(size)) {
                    std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
                }
            }
            if (view.is_negative || view.is_conjugate) {
                change_signs(elements, view.type, view.is_negative, view.is_conjugate);
            }
            return elements;
        };
        return made;
    }

    [[nodiscard]] std::map<std::string, storage_place, std::less<>> zip_places(
        const std::vector<torch_walker::found_tensor>& tensors) const {
        std::map<std::string, storage_place, std::less<>> places;
        for (const torch_walker::found_tensor& one : tensors) {
            const std::string record = prefix_ + "data/" + one.view.key;
            const std::optional<std::uint64_t> bytes =
                places.contains(one.view.key) ? std::nullopt : records_.size(record);
            if (bytes) {
                places.emplace(one.view.key, storage_place{.bytes = *bytes, .record = record});
            }
        }
        std::vector<std::string> records;
        for (const auto& [key, storage] : places) {
            records.push_back(storage.record);
        }
        const std::vector<std::optional<std::uint64_t>> begins = stored_places_(records_, records);
        std::size_t i = 0;
        for (auto& [key, storage] : places) {
            storage.begin = begins[i++];
        }
        return places;
    }

    // By the numbers of elements in the pickle, which have to be those in front of the elements.
    [[nodiscard]] std::map<std::string, storage_place, std::less<>> legacy_places() const {
        std::map<std::string, std::pair<std::uint64_t, std::uint64_t>, std::less<>> claims;  // elements, of that size
        for (pickle_tree::node each = 0; each < tree_->size(); ++each) {
            const std::vector<pickle_tree::node> id = tree_->items(tree_->id(each));
            const std::optional<std::int64_t> count = id.size() >= 5 ? tree_->integer(id[4]) : std::nullopt;
            if (count && *count >= 0) {
                const std::string storage = tree_->full_name(id[1]);
                const dtype type = dtype_of_storage(storage.substr(storage.rfind('.') + 1));
                const std::uint64_t size =
                    type == dtype::invalid && storage.ends_with("UntypedStorage") ? 1 : size_of(type);
                claims.emplace(tree_->text(id[2]), std::pair{static_cast<std::uint64_t>(*count), size});
            }
        }
        std::map<std::string, storage_place, std::less<>> places;
        std::vector<object_range> counts;
        std::vector<std::uint64_t> expected;
        std::vector<std::string> keys;
        std::uint64_t at = storages_begin_;
        for (const std::string& key : keys_) {
            const auto claim = claims.find(key);
            // A storage that no tensor names, or of a class that is not known, ends what can be found.
            if (claim == claims.end() || claim->second.second == 0 || places.contains(key)) {
                break;
            }
            const auto [count, size] = claim->second;
            if (at > size_ || size_ - at < 8 || count > (size_ - at - 8) / size) {
                places.emplace(key, storage_place{.bytes = at + 8 <= size_ ? size_ - at - 8 : 0, .begin = at + 8});
                break;
            }
            places.emplace(key, storage_place{.bytes = count * size, .begin = at + 8});
            counts.push_back({key_, {at, 8}});
            expected.push_back(count);
            keys.push_back(key);
            at += 8 + count * size;
        }
        std::size_t wrong = keys.size();
        store_.read_ranges(counts, [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version&) {
            if (!bytes || bytes->size() < 8 || load_le<std::uint64_t>(bytes->data()) != expected[i]) {
                wrong = std::min(wrong, i);
            }
            return true;
        });
        if (wrong < keys.size()) {
            refuse("before the elements of its storage " + keys[wrong] +
                   " stands another number of them than in its pickle");
        }
        return places;
    }

    const any_storage& store_;
    const std::string& key_;
    const archive_options& options_;
    pickle_limits limits_;
    std::string file_;
    any_storage records_;  // of a zip
    std::string prefix_;   // of its records; empty: not a zip
    std::vector<std::optional<std::uint64_t>> (*stored_places_)(const any_storage&,
                                                                std::span<const std::string>) = nullptr;
    std::uint64_t size_ = 0;
    byte_buffer bytes_;  // of the pickle
    std::optional<pickle_tree> tree_;
    std::vector<std::string> keys_;  // of storages, in a file before 1.6
    std::uint64_t storages_begin_ = 0;
    bool is_big_endian_ = false;
    torch_tensors all_;
};

SMDEBUG_INLINE std::optional<step_number> step_in_torch_file(const any_storage& store, const std::string& key,
                                                             const archive_options& options) {
    return torch_reader{store, key, options}.read_step();
}

SMDEBUG_INLINE torch_tensors read_torch_file(const any_storage& store, const std::string& key,
                                             const archive_options& options) {
    return torch_reader{store, key, options}.read();
}

}  // namespace smdebug::inline v1::formats::detail
