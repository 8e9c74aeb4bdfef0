// The bodies of <smdebug/formats/checkpoints/read_checkpoint.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/npy_header.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/formats/checkpoints/read_checkpoint.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/formats/checkpoints/safetensors_index.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// Gathers the tensors of a step's files.
class checkpoint_reader {
public:
    checkpoint_reader(const any_storage& store, const checkpoint_step& step, const archive_options& options)
        : store_(store), step_(step), options_(options) {}

    [[nodiscard]] step_contents read() && {
        for (const std::string& key : step_.files) {
            attempt(key, [&] { add(key); });
        }
        for (const std::string& key : step_.files) {
            if (kind_of(key) == checkpoint_kind::safetensors_index) {
                attempt(key, [&] { check_index(key); });
            }
        }
        if (all_.files.empty() && !first_damage_.empty()) {
            throw corrupt_data(first_damage_, {.where = path_of(step_.files.front())});
        }
        tell_names_apart();
        return std::move(all_);
    }

private:
    [[nodiscard]] std::string path_of(const std::string& key) const { return store_.name() + "/" + key; }

    // Does what concerns one file; what is damaged is noted.
    void attempt(const std::string& key, function_ref<void()> doing) {
        try {
            doing();
        } catch (const corrupt_data& damage) {
            all_.not_read.push_back({key, std::string{damage.message()}});
            first_damage_ = first_damage_.empty() ? all_.not_read.back().why : first_damage_;
        }
    }

    void add(const std::string& key) {
        const auto read_part = [&](byte_range where) { return store_.read(key, where); };
        switch (kind_of(key)) {
            case checkpoint_kind::safetensors: {
                stored_tensors header = read_safetensors_header(path_of(key), size_of_file(key), read_part);
                add_file(store_, key, key, std::move(header.tensors));
                add_not_read(key, std::move(header.not_read));
                std::move(header.metadata.begin(), header.metadata.end(), std::back_inserter(all_.metadata));
                break;
            }
            case checkpoint_kind::npy:
                add_npy(key, read_part);
                break;
            case checkpoint_kind::npz:
                add_npz(key);
                break;
            case checkpoint_kind::none:
            case checkpoint_kind::safetensors_index:
            case checkpoint_kind::pickle:
                break;
        }
    }

    [[nodiscard]] std::uint64_t size_of_file(const std::string& key) const {
        const std::optional<std::uint64_t> size = store_.size(key);
        if (!size) {
            throw not_found("there is no file " + path_of(key), {.where = path_of(key)});
        }
        return *size;
    }

    void add_npy(const std::string& key, range_reader read_part) {
        try {
            std::vector<stored_tensor> only{read_npy_header(path_of(key), size_of_file(key), read_part)};
            only.front().name = name_of_file(key);
            add_file(store_, key, key, std::move(only));
        } catch (const unsupported& refused) {
            all_.not_read.push_back({key, std::string{refused.message()}});
        }
    }

    void add_npz(const std::string& key) {
        npz_directory members = read_npz_directory(store_, key, options_);
        for (stored_tensor& array : members.tensors) {
            const std::string member = array.name + ".npy";
            std::vector<stored_tensor> only;
            only.push_back(std::move(array));
            add_file(members.files, member, key, std::move(only));
        }
        add_not_read(key, std::move(members.not_read));
    }

    void add_file(const any_storage& store, const std::string& key, const std::string& of,
                  std::vector<stored_tensor> tensors) {
        for (stored_tensor& tensor : tensors) {
            all_.tensors.push_back({.is = std::move(tensor), .file = all_.files.size()});
        }
        all_.files.push_back({.store = store, .key = key});
        names_.push_back(name_of_file(of));
    }

    void add_not_read(const std::string& key, std::vector<left_out> some) {
        for (left_out& each : some) {
            all_.not_read.push_back({key + ": " + each.name, std::move(each.why)});
        }
    }

    // Below the step's folder, without its ending.
    [[nodiscard]] std::string name_of_file(const std::string& key) const {
        const std::string name = key.substr(step_.folder.size());
        return name.substr(0, name.rfind('.'));
    }

    // That all is there which the index says.
    void check_index(const std::string& key) const {
        const std::string path = path_of(key);
        const std::uint64_t most = std::min(size_of_file(key), most_header_bytes + 1);
        const safetensors_index index = parse_safetensors_index(path, store_.read(key, {0, most}).view());
        const std::string folder = key.substr(0, key.rfind('/') + 1);
        std::set<std::pair<std::string_view, std::string_view>> there;
        for (const checkpoint_tensor& tensor : all_.tensors) {
            there.emplace(tensor.is.name, all_.files[tensor.file].key);
        }
        std::set<std::string_view> passed_over;
        for (const left_out& each : all_.not_read) {
            passed_over.insert(each.name);
        }
        for (const auto& [tensor, file] : index.file_of) {
            const std::string shard = folder + file;
            if (!there.contains({tensor, shard}) && !passed_over.contains(shard) &&
                !passed_over.contains(shard + ": " + tensor)) {
                throw corrupt_data("the index " + path + ": tensor " + tensor + " is not in " + shard +
                                       (store_.size(shard) ? "" : ", which is not there"),
                                   {.where = path, .tensor = tensor});
            }
        }
    }

    // Names that several files have get the file's before them.
    void tell_names_apart() {
        const auto by_name = [](const checkpoint_tensor& a, const checkpoint_tensor& b) {
            return std::tie(a.is.name, a.file) < std::tie(b.is.name, b.file);
        };
        std::sort(all_.tensors.begin(), all_.tensors.end(), by_name);
        std::vector<checkpoint_tensor>& tensors = all_.tensors;
        for (std::size_t first = 0, end = 0; first < tensors.size(); first = end) {
            const std::string name = tensors[first].is.name;
            for (end = first; end < tensors.size() && tensors[end].is.name == name;) {
                ++end;
            }
            for (std::size_t i = first; i < end && end - first > 1; ++i) {
                tensors[i].is.name = names_[tensors[i].file] + "/" + name;
            }
        }
        std::sort(tensors.begin(), tensors.end(), by_name);
        const auto twice = std::adjacent_find(tensors.begin(), tensors.end(),
                                              [](const auto& a, const auto& b) { return a.is.name == b.is.name; });
        if (twice != tensors.end()) {
            throw corrupt_data(
                "step " + std::to_string(step_.step) + " in " + store_.name() + " has two tensors " + twice->is.name,
                {.where = store_.name(), .tensor = twice->is.name, .step = step_.step});
        }
    }

    const any_storage& store_;
    const checkpoint_step& step_;
    const archive_options& options_;
    step_contents all_;
    std::string first_damage_;
    std::vector<std::string> names_;  // of the files, in front of names that several have
};

SMDEBUG_INLINE step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                             const archive_options& options) {
    return checkpoint_reader(store, step, options).read();
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
