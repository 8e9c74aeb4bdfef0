// The bodies of <smdebug/formats/checkpoints/find_checkpoints.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/safetensors_index.hpp>
#include <smdebug/formats/checkpoints/step_of_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

SMDEBUG_INLINE checkpoint_kind kind_of(std::string_view key) noexcept {
    struct row {
        std::string_view ending;
        checkpoint_kind kind;
    };
    if (is_resource_fork(key)) {
        return checkpoint_kind::none;
    }
    const std::size_t index = key.rfind(safetensors_index_mark);
    if (index != std::string_view::npos && key.ends_with(".json") && key.find('/', index) == std::string_view::npos) {
        return checkpoint_kind::safetensors_index;
    }
    constexpr std::array rows{
        row{".safetensors", checkpoint_kind::safetensors},
        row{".npz", checkpoint_kind::npz},
        row{".npy", checkpoint_kind::npy},
        row{".pt", checkpoint_kind::pickle},
        row{".pth", checkpoint_kind::pickle},
        row{".bin", checkpoint_kind::pickle},
        row{".ckpt", checkpoint_kind::pickle},
        row{".pkl", checkpoint_kind::pickle},
    };
    for (const row& each : rows) {
        if (key.ends_with(each.ending)) {
            return each.kind;
        }
    }
    return checkpoint_kind::none;
}

SMDEBUG_INLINE std::string checkpoint_of(std::string_view key) {
    const std::size_t ending = key.rfind(".safetensors");
    if (ending == std::string_view::npos) {
        return std::string{key};
    }
    const std::string_view stem = key.substr(0, ending);
    if (kind_of(key) == checkpoint_kind::safetensors_index) {
        // ".index.json" has no variant, ".index.fp16.json" has ".fp16".
        const std::size_t variant = ending + safetensors_index_mark.size() - 1;
        return std::string{stem}.append(key.substr(variant, key.rfind('.') - variant));
    }
    const std::optional<shard_name> shard = shard_of(stem);
    return shard ? std::string{shard->before}.append(shard->behind) : std::string{stem};
}

/// Sorts keys into steps.
class checkpoint_sorter {
public:
    checkpoint_sorter(const std::string& place, const checkpoint_search& how) : place_(place) {
        if (!how.step_regex.empty()) {
            pattern_.emplace(how.step_regex);
        }
    }

    void add(const std::string& key) {
        const checkpoint_kind kind = kind_of(key);
        if (kind == checkpoint_kind::pickle) {
            pickled_.push_back(key);
        } else if (kind != checkpoint_kind::none) {
            const std::optional<named_step> named = pattern_ ? (*pattern_)(key) : step_of_name(key);
            named ? add_to_step(*named, key) : without_step_.push_back(key);
        }
    }

    [[nodiscard]] found_checkpoints finish() && {
        found_checkpoints all;
        if (steps_.empty() && !without_step_.empty()) {
            take_only_one();
        }
        if (steps_.empty() && !pickled_.empty()) {
            refuse_pickled();
        }
        for (auto& [number, found] : steps_) {
            all.steps.push_back(std::move(found.step));
        }
        for (std::string& key : without_step_) {
            all.not_read.push_back({std::move(key), "its name says no step, and others do", problem_kind::left_out});
        }
        for (std::string& key : pickled_) {
            all.not_read.push_back(
                {std::move(key), "it is pickled by Python: a program, which is not run", problem_kind::unsupported});
        }
        std::sort(all.not_read.begin(), all.not_read.end(),
                  [](const left_out& a, const left_out& b) { return a.name < b.name; });
        return all;
    }

private:
    struct found_step {
        checkpoint_step step;
        bool is_folder = false;  // the folder has the number in its name, not the files in it

        // Whether what is there of a step lies in the folder that this one is, or beside it.
        [[nodiscard]] bool holds(const found_step& other) const {
            return is_folder ? other.step.folder.starts_with(step.folder)
                             : !other.is_folder && other.step.folder == step.folder;
        }
    };

    void add_to_step(const named_step& named, const std::string& key) {
        const std::size_t behind = key.find('/', named.end);
        const bool is_folder = behind != std::string::npos;
        const std::size_t end = is_folder ? behind : key.rfind('/');
        found_step made{{named.step, end == std::string::npos ? "" : key.substr(0, end + 1), {}}, is_folder};
        found_step& found = steps_.try_emplace(named.step, made).first->second;
        if (!found.holds(made)) {
            if (!made.holds(found)) {
                throw value_error("step " + std::to_string(named.step) + " is in " + place_ + " twice: as " +
                                      found.step.files.front() + " and as " + key +
                                      "; name the folder of one of the two" + what_to_do(),
                                  {.where = place_});
            }
            made.step.files = std::move(found.step.files);
            found = std::move(made);
        }
        found.step.files.push_back(key);
    }

    [[nodiscard]] std::string what_to_do() const {
        return pattern_ ? std::string{}
                        : ", or say by --step-regex where a path has its step, as in --step-regex 'run-([0-9]+)'";
    }

    // Files without a number: those of one checkpoint are step 0.
    void take_only_one() {
        const std::string first = checkpoint_of(without_step_.front());
        const auto other = std::find_if(without_step_.begin(), without_step_.end(),
                                        [&](const std::string& key) { return checkpoint_of(key) != first; });
        if (other != without_step_.end()) {
            throw value_error(place_ + " has " + std::to_string(without_step_.size()) +
                                  " files of checkpoints whose names say no step, such as " + without_step_.front() +
                                  " and " + *other + ": name one of them, give them names as step_500.npz" +
                                  what_to_do(),
                              {.where = place_});
        }
        const std::size_t end = without_step_.front().rfind('/');
        std::string folder = end == std::string::npos ? "" : without_step_.front().substr(0, end + 1);
        steps_.emplace(0, found_step{{0, std::move(folder), std::exchange(without_step_, {})}, false});
    }

    [[noreturn]] void refuse_pickled() const {
        throw unsupported(place_ + " has checkpoints pickled by Python alone, such as " + pickled_.front() +
                              ": they are programs, and not run here. Convert each in Python: " +
                              "safetensors.torch.save_file(torch.load(\"x.pt\", weights_only=True), " +
                              "\"x.safetensors\"), where the file holds a dictionary of tensors",
                          {.where = place_});
    }

    const std::string& place_;
    std::optional<step_pattern> pattern_;
    std::map<step_number, found_step> steps_;
    std::vector<std::string> without_step_;
    std::vector<std::string> pickled_;
};

SMDEBUG_INLINE found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                   const checkpoint_search& how) {
    checkpoint_sorter sorter{place, how};
    for (const std::string& key : keys) {
        sorter.add(key);
    }
    return std::move(sorter).finish();
}

SMDEBUG_INLINE found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how) {
    const std::vector<std::string> keys = store.list("", "");
    found_checkpoints found = group_checkpoints(store.name(), keys, how);
    for (const std::string& key : keys) {
        const std::string_view name = std::string_view{key}.substr(key.rfind('/') + 1);  // npos + 1 is 0
        const bool is_as_a_folder = name.find('.') == std::string_view::npos && step_of_name(std::string{name} + "/");
        if (is_as_a_folder && !store.size(key)) {
            found.not_read.push_back({key, "it is a link to a folder that is not there"});
        }
    }
    return found;
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
