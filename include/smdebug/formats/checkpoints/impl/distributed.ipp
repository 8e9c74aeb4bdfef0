// The bodies of <smdebug/formats/checkpoints/distributed.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/distributed.hpp>
#include <smdebug/formats/checkpoints/pickle.hpp>
#include <smdebug/formats/checkpoints/torch_file.hpp>
#include <smdebug/formats/checkpoints/torch_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::formats::detail {

/// A part of an object as an object of its own, under the same key.  Its last bytes are read once, as a zip is opened
/// from its end.
class object_part final : public storage_base {
public:
    object_part(any_storage store, std::string key, byte_range where)
        : store_(std::move(store)), key_(std::move(key)), where_(where) {
        constexpr std::uint64_t most = std::uint64_t{66} << 10U;
        const std::uint64_t length = std::min(where.length, most);
        tail_begin_ = where.length - length;
        tail_ = store_.read(key_, {where.offset + tail_begin_, length});
    }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        const std::uint64_t begin = std::min(where.offset, where_.length);
        const std::uint64_t length = std::min(where.length, where_.length - begin);
        return begin >= tail_begin_ ? tail_.slice({begin - tail_begin_, length})
                                    : store_.read(key, {where_.offset + begin, length});
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return key_.starts_with(prefix) && key_ > after ? std::vector{key_} : std::vector<std::string>{};
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        return key == key_ ? std::optional{where_.length} : std::nullopt;
    }
    [[nodiscard]] std::string name() const override { return store_.name(); }

private:
    any_storage store_;
    std::string key_;
    byte_range where_;
    std::uint64_t tail_begin_ = 0;
    byte_buffer tail_;
};

/// Reads one folder.
class distributed_reader {
public:
    using node = pickle_tree::node;

    distributed_reader(const any_storage& store, const std::string& key, const archive_options& options)
        : store_(store),
          key_(key),
          options_(options),
          file_(smdebug::detail::path_of(store, key)),
          folder_(key.substr(0, key.rfind('/') + 1)),  // npos + 1 is 0
          chunks_(std::make_shared<joined_object>(joined_object{.files = store, .is_stored = true})) {}

    [[nodiscard]] distributed_tensors read() && {
        const pickle_limits limits = pickle_limits_of(options_);
        const std::optional<std::uint64_t> size = store_.size(key_);
        if (!size) {
            throw not_found("there is no file " + file_, {.where = file_});
        }
        if (*size > limits.bytes) {
            refuse("it has " + std::to_string(*size) + " bytes; at most " + std::to_string(limits.bytes) + " are read");
        }
        bytes_ = store_.read(key_, {0, *size});
        tree_ = pickle_tree::read(bytes_.view(), file_, limits);
        if (!tree_) {
            refuse("it ends within its pickle: it is cut");
        }
        const node state = tree_->state(tree_->root());
        const node described = tree_->value(state, "state_dict_metadata");
        const node stored = tree_->value(state, "storage_data");
        if (tree_->kind(described) != pickle_kind::mapping || tree_->kind(stored) != pickle_kind::mapping) {
            refuse(
                "it is not the metadata of torch.distributed.checkpoint, with \"state_dict_metadata\" and "
                "\"storage_data\"");
        }
        for (const auto& [index, info] : tree_->entries(stored)) {
            const node of = tree_->state(index);
            const auto offset = numbers(tree_->value(of, "offset"));
            places_.insert_or_assign({std::string{tree_->text(tree_->value(of, "fqn"))}, offset.value_or(shape_type{})},
                                     info);
        }
        for (const auto& [name, description] : tree_->entries(described)) {
            const std::string_view what = class_of(description);
            if (what == "TensorStorageMetadata") {
                add(std::string{tree_->text(name)}, tree_->state(description));
            }
        }
        all_.chunks = std::move(chunks_);
        return std::move(all_);
    }

private:
    // A chunk, and where its elements are.
    struct chunk {
        shape_type offsets;
        shape_type sizes;
        std::string key = {};
        stored_tensor is = {};  // its place is in the object under `key`
    };
    // What is wrong with a tensor.
    struct reason {
        std::string why;
        problem_kind kind = problem_kind::damaged;
    };

    [[noreturn]] void refuse(const std::string& why) const {
        throw corrupt_data("the file " + file_ + ": " + why, {.where = file_});
    }

    [[nodiscard]] std::string_view class_of(node object) {
        class_ = tree_->full_name(object);
        return std::string_view{class_}.substr(class_.rfind('.') + 1);  // npos + 1 is 0
    }

    [[nodiscard]] std::optional<shape_type> numbers(node of) const { return extents_in(*tree_, of); }

    void add(const std::string& name, node description) {
        const std::vector<node> properties = tree_->items(tree_->state(tree_->value(description, "properties")));
        const std::string type = properties.empty() ? std::string{} : tree_->full_name(properties.front());
        const std::optional<shape_type> shape = numbers(tree_->value(description, "size"));
        stored_tensor whole{.name = name, .type = dtype_of_name(type)};
        std::optional<reason> wrong;
        std::vector<chunk> chunks;
        if (!shape || !content_bytes(whole.type, *shape)) {
            wrong = reason{"its size is not a list of whole numbers, or is too large"};
        } else if (whole.type == dtype::invalid) {
            wrong = reason{"its dtype " + type + " is not known here", problem_kind::unsupported};
        } else {
            whole.shape = *shape;
            whole.collection = collection_in_torch(name, whole.type, '.');
            wrong = take_chunks(whole, tree_->value(description, "chunks"), chunks);
        }
        if (!wrong) {
            wrong = join(whole, chunks);
        }
        if (wrong) {
            all_.not_read.push_back({name, std::move(wrong->why), wrong->kind});
        } else {
            all_.tensors.push_back(std::move(whole));
        }
    }

    [[nodiscard]] std::optional<reason> take_chunks(const stored_tensor& whole, node list, std::vector<chunk>& chunks) {
        std::size_t elements = 0;
        for (const node each : tree_->items(list)) {
            const node state = tree_->state(each);
            const auto offsets = numbers(tree_->value(state, "offsets"));
            const auto sizes = numbers(tree_->value(state, "sizes"));
            bool is_inside =
                offsets && sizes && offsets->size() == whole.shape.size() && sizes->size() == whole.shape.size();
            for (std::size_t i = 0; is_inside && i < whole.shape.size(); ++i) {
                is_inside = offsets->at(i) <= whole.shape[i] && sizes->at(i) <= whole.shape[i] - offsets->at(i);
            }
            if (!is_inside) {
                return reason{"a chunk of it lies beyond its shape " + shape_text(whole.shape)};
            }
            const std::size_t count = *element_count(*sizes);  // at most that of the whole
            if (count > 0) {
                elements += count;
                chunks.push_back({.offsets = *offsets, .sizes = *sizes});
            }
            if (elements > *element_count(whole.shape)) {
                return reason{"its chunks overlap: together they have more than the elements of its shape " +
                              shape_text(whole.shape)};
            }
        }
        if (elements < *element_count(whole.shape)) {
            return reason{"its chunks have " + std::to_string(elements) + " of the " +
                          std::to_string(*element_count(whole.shape)) + " elements of its shape " +
                          shape_text(whole.shape)};
        }
        std::sort(chunks.begin(), chunks.end(), [](const chunk& a, const chunk& b) { return a.offsets < b.offsets; });
        for (chunk& one : chunks) {
            if (auto wrong = find(whole, one)) {
                return wrong;
            }
        }
        return std::nullopt;
    }

    // Finds the elements of a chunk.
    [[nodiscard]] std::optional<reason> find(const stored_tensor& whole, chunk& one) {
        const std::string which = "its chunk at " + shape_text(one.offsets);
        const auto place = places_.find({whole.name, one.offsets});
        const node info = place == places_.end() ? pickle_tree::nothing : tree_->state(place->second);
        const std::optional<std::int64_t> offset = tree_->integer(tree_->value(info, "offset"));
        const std::optional<std::int64_t> length = tree_->integer(tree_->value(info, "length"));
        const std::string path{tree_->text(tree_->value(info, "relative_path"))};
        if (!offset || !length || *offset < 0 || *length < 0 || path.empty()) {
            return reason{which + " has no place in a file by the metadata"};
        }
        if (!tree_->items(tree_->value(info, "transform_descriptors")).empty()) {
            return reason{which + " is compressed by an extension, which is not read", problem_kind::unsupported};
        }
        if (!stays_inside(path)) {
            return reason{which + " is in the file " + path + ", which does not lie below the checkpoint's folder"};
        }
        one.key = folder_ + path;
        const std::optional<std::uint64_t> size = store_.size(one.key);
        if (!size) {
            return reason{which + " is in the file " + one.key + ", which is not there"};
        }
        const byte_range where{static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*length)};
        if (where.offset > *size || where.length > *size - where.offset) {
            return reason{which + " lies beyond the end of the file " + one.key};
        }
        std::uint64_t& claimed = claimed_[one.key];
        claimed = smdebug::detail::bounded_sum(claimed, where.length);
        if (claimed > *size) {
            return reason{which + " shares bytes of the file " + one.key + " with others"};
        }
        try {
            torch_tensors inside = read_torch_file(any_storage{object_part{store_, one.key, where}}, one.key, options_);
            const bool is_one = inside.tensors.size() == 1 && inside.not_read.empty();
            if (!is_one || inside.tensors[0].type != whole.type || inside.tensors[0].shape != one.sizes) {
                return reason{which + " in the file " + one.key + " is not a tensor of " +
                              std::string{name_of(whole.type)} + " and the shape " + shape_text(one.sizes)};
            }
            if (inside.unpacked == nullptr && *content_bytes(whole.type, one.sizes) > where.length) {
                return reason{which + " in the file " + one.key + " repeats elements"};
            }
            one.is = std::move(inside.tensors[0]);
            if (inside.unpacked != nullptr && !one.is.make) {
                one.is.make = [unpacked = inside.unpacked, at = one.is.where] {
                    const byte_buffer bytes = unpacked->read(at);
                    return std::vector<std::byte>(bytes.view().begin(), bytes.view().end());
                };
            }
            one.is.where.offset += where.offset;
        } catch (const error& failed) {
            return reason{which + ": " + std::string{failed.message()}};
        }
        return std::nullopt;
    }

    // Chunks of whole rows follow each other in the tensor's order; others are put together when it is read.
    [[nodiscard]] std::optional<reason> join(stored_tensor& whole, std::vector<chunk>& chunks) {
        std::size_t rows = 0;
        bool in_order = true;
        for (const chunk& one : chunks) {
            for (std::size_t i = 1; i < whole.shape.size(); ++i) {
                in_order = in_order && one.sizes[i] == whole.shape[i];
            }
            in_order = in_order && (whole.shape.empty() || one.offsets[0] == rows) && !one.is.make &&
                       one.is.big_endian == chunks.front().is.big_endian;
            rows += whole.shape.empty() ? 0 : one.sizes[0];
        }
        if (in_order) {
            whole.where = {chunks_->size(), *content_bytes(whole.type, whole.shape)};
            whole.big_endian = !chunks.empty() && chunks.front().is.big_endian;
            for (const chunk& one : chunks) {
                chunks_->add(one.key, one.is.where);
            }
            return std::nullopt;
        }
        if (chunks.size() > most_chunks_apart) {
            return reason{"it has " + std::to_string(chunks.size()) + " chunks that are not of whole rows; at most " +
                              std::to_string(most_chunks_apart) + " are put together",
                          problem_kind::unsupported};
        }
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            for (std::size_t k = i + 1; k < chunks.size(); ++k) {
                if (overlap(chunks[i], chunks[k])) {
                    return reason{"its chunks at " + shape_text(chunks[i].offsets) + " and " +
                                  shape_text(chunks[k].offsets) + " overlap"};
                }
            }
        }
        whole.make = [store = store_, type = whole.type, shape = whole.shape, chunks] {
            std::vector<std::byte> elements(std::size_t{*content_bytes(type, shape)});
            for (const chunk& one : chunks) {
                put(one, elements_of(store, one), type, shape, elements);
            }
            return elements;
        };
        return std::nullopt;
    }

    [[nodiscard]] static bool overlap(const chunk& a, const chunk& b) noexcept {
        for (std::size_t i = 0; i < a.sizes.size(); ++i) {
            if (a.offsets[i] >= b.offsets[i] + b.sizes[i] || b.offsets[i] >= a.offsets[i] + a.sizes[i]) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] static std::vector<std::byte> elements_of(const any_storage& store, const chunk& one) {
        std::vector<std::byte> elements;
        if (one.is.make) {
            elements = one.is.make();
        } else {
            const byte_buffer bytes = store.read(one.key, one.is.where);
            elements.assign(bytes.view().begin(), bytes.view().end());
        }
        const std::size_t count = std::size_t{*content_bytes(one.is.type, one.sizes)};
        if (elements.size() < count) {
            throw corrupt_data("the file " + smdebug::detail::path_of(store, one.key) + ": it ends within a chunk",
                               {.where = one.key});
        }
        const std::size_t size = is_complex(one.is.type) ? size_of(one.is.type) / 2 : size_of(one.is.type);
        for (std::size_t i = 0; one.is.big_endian && !one.is.make && i + size <= count; i += size) {
            std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(i),
                         elements.begin() + static_cast<std::ptrdiff_t>(i + size));
        }
        return elements;
    }

    // Copies a chunk, row of the last extent by row, to its place.
    static void put(const chunk& one, const std::vector<std::byte>& from, dtype type, const shape_type& shape,
                    std::vector<std::byte>& into) {
        const std::size_t rank = shape.size();
        const std::size_t row = one.sizes[rank - 1] * size_of(type);
        shape_type at(rank, 0);
        for (std::size_t begin = 0; begin < from.size(); begin += row) {
            std::size_t place = 0;
            for (std::size_t i = 0; i < rank; ++i) {
                place = place * shape[i] + one.offsets[i] + at[i];
            }
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), row,
                        into.begin() + static_cast<std::ptrdiff_t>(place * size_of(type)));
            for (std::size_t i = rank - 1; i-- > 0 && ++at[i] == one.sizes[i];) {
                at[i] = 0;
            }
        }
    }

    const any_storage& store_;
    const std::string& key_;
    const archive_options& options_;
    std::string file_;
    std::string folder_;  // with '/' at its end, or empty
    std::shared_ptr<joined_object> chunks_;
    byte_buffer bytes_;
    std::optional<pickle_tree> tree_;
    std::map<std::pair<std::string, shape_type>, node> places_;  // by tensor and offsets
    std::map<std::string, std::uint64_t> claimed_;               // bytes of each file that chunks have named
    std::string class_;
    distributed_tensors all_;
};

SMDEBUG_INLINE distributed_tensors read_distributed(const any_storage& store, const std::string& key,
                                                    const archive_options& options) {
    return distributed_reader{store, key, options}.read();
}

}  // namespace smdebug::inline v1::formats::detail
