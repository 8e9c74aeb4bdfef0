// The bodies of <smdebug/formats/checkpoints/torch_tree.hpp>.
#pragma once

#include <smdebug/formats/checkpoints/torch_tree.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE dtype dtype_in_torch(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, dtype> others[] = {
        {"float", dtype::float32},    {"double", dtype::float64},    {"half", dtype::float16},
        {"long", dtype::int64},       {"int", dtype::int32},         {"short", dtype::int16},
        {"cfloat", dtype::complex64}, {"cdouble", dtype::complex128}};
    for (const auto& [other, type] : others) {
        if (other == name) {
            return type;
        }
    }
    for (std::uint64_t code = 1; code < 32; ++code) {  // of most numpy and PyTorch have the same names
        const dtype type = dtype_from_code(code);
        if (name_of(type) == name && type != dtype::string) {
            return type;
        }
    }
    return dtype::invalid;
}

SMDEBUG_INLINE std::string_view collection_in_torch(std::string_view name, dtype type, char separator) noexcept {
    constexpr std::string_view dictionaries[] = {"model", "state_dict", "model_state_dict", "module", "net", "params"};
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
    if (!is_floating(type)) {
        return is_bare && name.find('.') == std::string_view::npos ? "" : "buffers";  // a state of random numbers: none
    }
    if (last == "running_mean" || last == "running_var") {
        return "buffers";
    }
    return last.find("bias") != std::string_view::npos ? "biases" : "weights";
}

SMDEBUG_INLINE dtype dtype_of_storage(std::string_view name) noexcept {
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

SMDEBUG_INLINE pickle_tree::node without_wrappers(const pickle_tree& tree, pickle_tree::node of) {
    while (tree.kind(of) == pickle_kind::object && tree.meaning(of) == pickle_name::first_argument) {
        const auto given = tree.items(tree.arguments(of));  // which were there before it: no circle
        of = given.empty() ? pickle_tree::nothing : given.front();
    }
    return of;
}

SMDEBUG_INLINE std::optional<shape_type> extents_in(const pickle_tree& tree, pickle_tree::node of) {
    const pickle_tree::node list = without_wrappers(tree, of);
    if (tree.kind(list) != pickle_kind::tuple && tree.kind(list) != pickle_kind::list) {
        return std::nullopt;
    }
    shape_type all;
    for (const pickle_tree::node each : tree.items(list)) {
        const std::optional<std::int64_t> one = tree.integer(each);
        if (!one || *one < 0 || all.size() == most_extents) {
            return std::nullopt;
        }
        all.push_back(static_cast<std::size_t>(*one));
    }
    return all;
}

SMDEBUG_INLINE void torch_walker::walk() {
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

SMDEBUG_INLINE void torch_walker::note(const std::string& name, std::string why, problem_kind kind) {
    constexpr std::size_t most_reasons = 100;
    if (noted_.size() >= most_reasons && !noted_.contains({why, kind})) {
        why = "it cannot be read, for one of many reasons";
    }
    auto& [first, more] = noted_.try_emplace({std::move(why), kind}, name, 0).first->second;
    ++more;
}

SMDEBUG_INLINE std::vector<left_out> torch_walker::notes() const {
    std::vector<left_out> all;
    for (const auto& [reason, of] : noted_) {
        const std::string others =
            of.second == 1 ? "" : "; the same holds for " + std::to_string(of.second - 1) + " more";
        all.push_back({of.first, reason.first + others, reason.second});
    }
    return all;
}

SMDEBUG_INLINE void torch_walker::append_key(node key, std::size_t i, const frame& in) {
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

SMDEBUG_INLINE void torch_walker::append_text(node key, unsigned depth) {
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
            path_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), *tree_.number(key)).ptr);
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

SMDEBUG_INLINE void torch_walker::check_name() {
    name_bytes_ += path_.size();
    if (tensors.size() + numbers.size() > most_tensors || name_bytes_ > most_name_bytes) {
        frames_.clear();
        note(path_, "the file has more tensors or longer names than are read", problem_kind::damaged);
    }
}

SMDEBUG_INLINE void torch_walker::visit(node of) {
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

SMDEBUG_INLINE void torch_walker::visit_object(node of) {
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

SMDEBUG_INLINE bool torch_walker::enter_module(node of) {
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

SMDEBUG_INLINE bool torch_walker::enter(frame made) {
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
             "its containers are nested more than " + std::to_string(most_nesting) + " deep", problem_kind::damaged);
        return false;
    }
    state = seen::open;
    made.path = path_.size();
    frames_.push_back(std::move(made));
    return true;
}

SMDEBUG_INLINE void torch_walker::leave() {
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

SMDEBUG_INLINE void torch_walker::see_tensor() {
    if (!frames_.empty()) {
        frames_.back().has_tensors = true;
    }
    if (unread_in_ != none) {
        ++frames_[unread_in_].unread;
    }
}

SMDEBUG_INLINE void torch_walker::take_tensor(node arguments, bool is_typed) {
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

SMDEBUG_INLINE std::string torch_walker::wrong_with(const std::vector<node>& given, bool is_typed, torch_view& view,
                                                    problem_kind& kind) const {
    const std::size_t least = is_typed ? 7 : 4;
    const std::int64_t offset = given.size() >= least ? tree_.integer(given[1]).value_or(-1) : -1;
    const auto shape = offset >= 0 ? extents_in(tree_, given[2]) : std::nullopt;
    const auto strides = offset >= 0 ? extents_in(tree_, given[3]) : std::nullopt;
    if (!shape || !strides || shape->size() != strides->size()) {
        return "its offset, extents and strides are not whole numbers, none of them negative, as many extents as "
               "strides and at most " +
               std::to_string(most_extents);
    }
    const std::vector<node> id = tree_.items(tree_.id(given[0]));
    const std::string_view mark = id.empty() ? std::string_view{} : tree_.text(id[0]);
    const std::int64_t count = id.size() >= 5 ? tree_.integer(id[4]).value_or(-1) : -1;
    if (mark != "storage" || count < 0) {
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
    view.type = is_typed ? dtype_of_name(type) : unit;
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
    const std::optional<std::uint64_t> storage_bytes = product(static_cast<std::uint64_t>(count), unit_size);
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
    const std::optional<std::uint64_t> begin_bytes = product(static_cast<std::uint64_t>(offset), size);
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

SMDEBUG_INLINE std::optional<std::uint64_t> torch_walker::span_of(const torch_view& view) {
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

}  // namespace smdebug::inline v1::formats::detail
