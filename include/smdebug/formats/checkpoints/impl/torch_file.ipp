// The bodies of <smdebug/formats/checkpoints/torch_file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/torch_file.hpp>
#include <smdebug/formats/checkpoints/torch_tree.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/strided_tensor.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE pickle_limits pickle_limits_of(const archive_options& options) noexcept {
    pickle_limits limits;
    limits.bytes = std::min(limits.bytes, options.most_bytes / 64);  // 64 MiB for untrusted files
    return limits;
}

/// Negates numbers, or their imaginary parts alone: both of complex numbers unless `is_conjugate`.
inline void change_signs(std::vector<std::byte>& elements, dtype type, bool is_negative, bool is_conjugate) {
    const std::size_t size = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t i = 0; (i + 1) * size <= elements.size(); ++i) {
        if (is_negative != (is_conjugate && i % 2 == 1)) {
            elements[(i + 1) * size - 1] ^= std::byte{0x80};  // the sign, in the last byte of little-endian numbers
        }
    }
}

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
        if (is_zip(front)) {
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
        std::optional<std::uint64_t> begin = {};  // in the file; nothing if deflated
        std::string record = {};
    };

    [[noreturn]] void refuse(const std::string& why) const {
        throw corrupt_data("the file " + file_ + ": " + why, {.where = file_});
    }
    [[noreturn]] void refuse_other(const std::string& why) const {
        throw unsupported("the file " + file_ + ": " + why, {.where = file_});
    }

    void read_zip() {
        constexpr std::string_view name = "/data.pkl";
        records_ = open_zip(store_, key_, options_);
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
    }

    void check_size(std::uint64_t bytes) const {
        if (bytes > limits_.bytes) {
            refuse("its pickle has " + std::to_string(bytes) + " bytes; at most " + std::to_string(limits_.bytes) +
                   " are read");
        }
    }

    // Before 1.6 there are pickles at the file's front, whose lengths nothing says.
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
        const std::vector<std::optional<std::uint64_t>> begins =
            smdebug::detail::openers_of_archives(file_).stored_places(records_, records);
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
            const std::int64_t count = id.size() >= 5 ? tree_->integer(id[4]).value_or(-1) : -1;
            if (count >= 0) {
                const std::string storage = tree_->full_name(id[1]);
                const dtype type = dtype_of_storage(storage.substr(storage.rfind('.') + 1));
                const std::uint64_t size =
                    type == dtype::invalid && storage.ends_with("UntypedStorage") ? 1 : size_of(type);
                claims.emplace(tree_->text(id[2]), std::pair{static_cast<std::uint64_t>(count), size});
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
    std::string prefix_;   // of its records; empty if it is no zip
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
