// The bodies of <smdebug/formats/checkpoints/checkpoint_source.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/checkpoints/distributed.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/formats/checkpoints/torch_file.hpp>
#include <smdebug/formats/checkpoints/torch_tree.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace formats::detail {

/// Gathers the tensors of a step's files.
class checkpoint_reader {
public:
    checkpoint_reader(const any_storage& store, const checkpoint_step& step, const archive_options& options,
                      tensor_owners& owners)
        : store_(store), step_(step), options_(options), owners_(owners) {}

    [[nodiscard]] step_contents read() && {
        for (const std::string& key : step_.files) {
            if (kind_of(key) == checkpoint_kind::index) {
                attempt(key, [&] { read_index(key); });
            }
        }
        for (const std::string& key : step_.files) {
            if (is_of_another_save(key)) {
                all_.not_read.push_back({key,
                                         "the index of this checkpoint does not name it: it is left over from another "
                                         "save",
                                         problem_kind::left_out});
            } else {
                attempt(key, [&] { add(key); });
            }
        }
        for (const found_index& index : indexes_) {
            check_index(index);
        }
        check_shards();
        if (all_.tensors.empty()) {
            std::move(without_tensors_.begin(), without_tensors_.end(), std::back_inserter(all_.not_read));
        }
        tell_names_apart();
        return std::move(all_);
    }

private:
    struct found_index {
        std::string key;
        std::string checkpoint;  // see checkpoint_of
        safetensors_index is;

        std::set<std::string> files = {};  // that it names
        bool has_all = false;              // all of them exist
    };

    [[nodiscard]] std::string path_of(const std::string& key) const { return smdebug::detail::path_of(store_, key); }

    [[nodiscard]] static std::string_view stem_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

    // Processes one file; a part that cannot be read is noted.
    void attempt(const std::string& key, function_ref<void()> doing) {
        try {
            doing();
        } catch (const corrupt_data& damage) {
            all_.not_read.push_back({key, std::string{damage.message()}});
        } catch (const not_found&) {
            all_.not_read.push_back(
                {key, "it is not there: it is a link to a file that is missing, or was removed a moment ago"});
        } catch (const unsupported& refused) {
            if (kind_of(key) == checkpoint_kind::npz && smdebug::detail::known_openers().archives == nullptr) {
                throw;
            }
            all_.not_read.push_back({key, std::string{refused.message()}, problem_kind::unsupported});
        }
    }

    void add(const std::string& key) {
        const auto read_part = [&](byte_range where) { return store_.read(key, where); };
        switch (kind_of(key)) {
            case checkpoint_kind::safetensors: {
                stored_tensors header = read_safetensors_header(path_of(key), size_of_file(key), read_part);
                leave_out_others(key, header.tensors, header.not_read);
                add_file(key, std::move(header.tensors), std::move(header.not_read));
                std::move(header.metadata.begin(), header.metadata.end(), std::back_inserter(all_.metadata));
                break;
            }
            case checkpoint_kind::npy:
                add_npy(key, read_part);
                break;
            case checkpoint_kind::npz:
                add_npz(key);
                break;
            case checkpoint_kind::torch:
                add_torch(key);
                break;
            case checkpoint_kind::distributed: {
                distributed_tensors folder = read_distributed(store_, key, options_);
                add_file(key, std::move(folder.tensors), std::move(folder.not_read));
                all_.files.back().joined = std::move(folder.chunks);
                break;
            }
            case checkpoint_kind::none:
            case checkpoint_kind::index:
            case checkpoint_kind::pickle:
                break;
        }
    }

    void add_torch(const std::string& key) {
        torch_tensors file = read_torch_file(store_, key, options_);
        leave_out_others(key, file.tensors, file.not_read);
        if (file.tensors.empty() && file.not_read.empty()) {
            // Beside a model this is usual: arguments, the state of a schedule.
            const std::string what = file.root.empty()
                                         ? std::string{}
                                         : ": it holds an object of the class " + file.root + ", which is not made";
            (file.is_bare ? all_.not_read : without_tensors_)
                .push_back({key, "it has no tensors" + what, problem_kind::unsupported});
            return;
        }
        for (stored_tensor& tensor : file.tensors) {
            tensor.name = tensor.name.empty() ? name_of_file(key) : std::move(tensor.name);
        }
        add_file(key, std::move(file.tensors), std::move(file.not_read));
        all_.files.back().joined = std::move(file.unpacked);
    }

    [[nodiscard]] std::uint64_t size_of_file(const std::string& key) const {
        const std::optional<std::uint64_t> size = store_.size(key);
        if (!size) {
            throw not_found("there is no file " + path_of(key), {.where = path_of(key)});
        }
        return *size;
    }

    void add_npy(const std::string& key, range_reader read_part) {
        const std::uint64_t size = size_of_file(key);
        std::vector<stored_tensor> only{read_npy_header(path_of(key), size, read_part)};
        std::vector<left_out> behind = left_behind(name_of_file(key), only.front(), size);
        only.front().name = name_of_file(key);
        add_file(key, std::move(only), std::move(behind));
    }

    void add_npz(const std::string& key) {
        npz_directory members = read_npz_directory(store_, key, options_);
        auto npz = std::make_shared<joined_object>(joined_object{.files = members.files});
        for (stored_tensor& array : members.tensors) {
            array.where.offset += npz->add(array.name + ".npy", {0, array.where.offset + array.where.length});
        }
        npz->is_stored = npz->size() <= size_of_file(key);
        add_file(key, std::move(members.tensors), std::move(members.not_read));
        all_.files.back().joined = std::move(npz);
    }

    void add_file(const std::string& key, std::vector<stored_tensor> tensors, std::vector<left_out> not_read) {
        std::vector<std::string> empty;
        for (stored_tensor& tensor : tensors) {
            if (tensor.where.length == 0 && !tensor.make) {
                empty.push_back(tensor.name);
            }
            all_.tensors.push_back({.is = std::move(tensor), .file = all_.files.size()});
        }
        note_first(not_read, empty, "no elements");
        for (left_out& each : not_read) {
            all_.not_read.push_back({each.name.empty() ? key : key + ": " + each.name, std::move(each.why), each.kind});
        }
        if (tensors.empty() && not_read.empty()) {
            all_.not_read.push_back({key, "it has no tensors", problem_kind::left_out});
        }
        all_.files.push_back({.key = key});
        names_.push_back(name_of_file(key));
    }

    static void note_first(std::vector<left_out>& noted, const std::vector<std::string>& of, const std::string& what) {
        if (!of.empty()) {
            const std::string has =
                of.size() == 1 ? "it has " : "it and " + std::to_string(of.size() - 1) + " more have ";
            noted.push_back({of.front(), has + what, problem_kind::left_out});
        }
    }

    // What the file is called at every step.
    [[nodiscard]] std::string name_of_file(const std::string& key) const {
        return step_.names.at(
            static_cast<std::size_t>(std::find(step_.files.begin(), step_.files.end(), key) - step_.files.begin()));
    }

    // The index that names a file decides which tensors it has.
    void leave_out_others(const std::string& key, std::vector<stored_tensor>& tensors,
                          std::vector<left_out>& not_read) const {
        for (const found_index& index : indexes_) {
            if (!index.files.contains(key)) {
                continue;
            }
            const std::string file = key.substr(index.key.rfind('/') + 1);  // npos + 1 is 0
            std::vector<std::string> others;
            std::erase_if(tensors, [&](const stored_tensor& tensor) {
                const bool is_named =
                    std::binary_search(index.is.file_of.begin(), index.is.file_of.end(), std::pair{tensor.name, file});
                if (!is_named) {
                    others.push_back(tensor.name);
                }
                return !is_named;
            });
            note_first(not_read, others,
                       "no place in it by the index " + path_of(index.key) + ": left over from another save");
        }
    }

    void read_index(const std::string& key) {
        const std::uint64_t most = std::min(size_of_file(key), most_header_bytes + 1);
        found_index index{key, checkpoint_of(key),
                          parse_safetensors_index(path_of(key), store_.read(key, {0, most}).view())};
        const std::string folder = key.substr(0, key.rfind('/') + 1);
        for (const std::string& file : index.is.files()) {
            index.files.insert(folder + file);
        }
        const std::set<std::string_view> there{step_.files.begin(), step_.files.end()};
        index.has_all = std::all_of(index.files.begin(), index.files.end(),
                                    [&](const std::string& file) { return there.contains(file); });
        indexes_.push_back(std::move(index));
    }

    [[nodiscard]] const found_index* index_of(std::string_view key) const {
        const std::string checkpoint = checkpoint_of(key);
        const auto found = std::find_if(indexes_.begin(), indexes_.end(),
                                        [&](const found_index& each) { return each.checkpoint == checkpoint; });
        return found == indexes_.end() ? nullptr : &*found;
    }

    // A file of its checkpoint that the index does not name, although all files that it names exist.
    [[nodiscard]] bool is_of_another_save(const std::string& key) const {
        const checkpoint_kind kind = kind_of(key);
        const bool may_be = kind == checkpoint_kind::safetensors || kind == checkpoint_kind::torch;
        const found_index* const index = may_be ? index_of(key) : nullptr;
        return index != nullptr && index->has_all && !index->files.contains(key);
    }

    // Notes the files and tensors of the index that do not exist.
    void check_index(const found_index& index) {
        const std::string folder = index.key.substr(0, index.key.rfind('/') + 1);
        std::set<std::pair<std::string_view, std::string_view>> there;
        for (const checkpoint_tensor& tensor : all_.tensors) {
            there.emplace(tensor.is.name, all_.files[tensor.file].key);
        }
        std::set<std::string_view> passed_over;
        for (const left_out& each : all_.not_read) {
            passed_over.insert(each.name);
        }
        std::map<std::string, std::vector<std::string_view>> missing;  // tensors by shard
        for (const auto& [tensor, file] : index.is.file_of) {
            const std::string shard = folder + file;
            if (!there.contains({tensor, shard}) && !passed_over.contains(shard) &&
                !passed_over.contains(shard + ": " + tensor)) {
                missing[shard].push_back(tensor);
            }
        }
        for (const auto& [shard, tensors] : missing) {
            const std::size_t others = tensors.size() - 1;
            all_.not_read.push_back(
                {shard, "the index " + path_of(index.key) + ": tensor " + std::string{tensors.front()} +
                            (others == 0 ? " is" : " and " + std::to_string(others) + " more are") + " not in " +
                            shard + (store_.size(shard) ? "" : ", which is not there")});
        }
    }

    // Notes missing shards without an index, by the numbers in the names of the others.
    void check_shards() {
        struct parts {
            std::string first;  // the key of one of them
            std::set<std::uint64_t> numbers = {};
        };
        std::map<std::string, std::map<std::uint64_t, parts>> checkpoints;  // by the number of parts in their names
        for (const std::string& key : step_.files) {
            const auto shard = kind_of(key) == checkpoint_kind::index ? std::nullopt : shard_of(stem_of(key));
            if (!shard || index_of(key) != nullptr) {
                continue;
            }
            const std::optional<std::uint64_t> number = smdebug::detail::number_of_text<std::uint64_t>(shard->number);
            const std::optional<std::uint64_t> count = smdebug::detail::number_of_text<std::uint64_t>(shard->count);
            if (!number || !count || *count == 0 || *number > *count) {
                all_.not_read.push_back({key, "its name says that it is part " + std::string{shard->number} + " of " +
                                                  std::string{shard->count} + ", which cannot be"});
                continue;
            }
            const std::string checkpoint =
                std::string{shard->before}.append(shard->behind).append(key.substr(key.rfind('.')));
            checkpoints[checkpoint].try_emplace(*count, parts{key}).first->second.numbers.insert(*number);
        }
        for (const auto& [checkpoint, by_count] : checkpoints) {
            for (const auto& [count, some] : by_count) {
                check_parts(some.first, count, some.numbers);
            }
            if (by_count.size() > 1) {
                all_.not_read.push_back({std::prev(by_count.end())->second.first,
                                         "the checkpoint has parts of " + std::to_string(by_count.begin()->first) +
                                             " and parts of " + std::to_string(std::prev(by_count.end())->first) +
                                             ": some are left over from another save; remove those"});
            }
        }
    }

    void check_parts(const std::string& one, std::uint64_t count, const std::set<std::uint64_t>& numbers) {
        if (numbers.size() >= count) {
            return;
        }
        std::uint64_t missing = numbers.contains(0) ? 0 : 1;  // some count from 0
        while (numbers.contains(missing)) {
            ++missing;
        }
        const shard_name shard = *shard_of(stem_of(one));
        std::string number = std::to_string(missing);
        number.insert(0, shard.number.size() - std::min(shard.number.size(), number.size()), '0');
        std::string key = one;
        key.replace(static_cast<std::size_t>(shard.number.data() - one.data()), shard.number.size(), number);
        const std::uint64_t gone = count - numbers.size();
        all_.not_read.push_back({std::move(key), "it is not there: " + std::to_string(gone) + " of the " +
                                                     std::to_string(count) + " parts of this checkpoint " +
                                                     (gone == 1 ? "is" : "are") +
                                                     " missing; copy or download what is missing"});
    }

    // See tensor_owners.
    void tell_names_apart() {
        std::vector<checkpoint_tensor>& tensors = all_.tensors;
        const auto by_name = [&](const checkpoint_tensor& a, const checkpoint_tensor& b) {
            return std::tie(a.is.name, names_[a.file], a.file) < std::tie(b.is.name, names_[b.file], b.file);
        };
        const auto is_twice = [&](const checkpoint_tensor& a, const checkpoint_tensor& b) {
            const bool is_same = a.is.name == b.is.name && names_[a.file] == names_[b.file];
            if (is_same) {
                const std::string where = a.file == b.file
                                              ? "another tensor of the file has this name, and is read"
                                              : "it is in " + all_.files[a.file].key + ", too, and read there";
                all_.not_read.push_back({all_.files[b.file].key + ": " + b.is.name, where, problem_kind::left_out});
            }
            return is_same;
        };
        std::sort(tensors.begin(), tensors.end(), by_name);
        tensors.erase(std::unique(tensors.begin(), tensors.end(), is_twice), tensors.end());
        for (std::size_t first = 0, end = 0; first < tensors.size(); first = end) {
            const std::string name = tensors[first].is.name;
            for (end = first; end < tensors.size() && tensors[end].is.name == name;) {
                ++end;
            }
            const auto file_of = [&](std::size_t i) -> const std::string& { return names_[tensors[i].file]; };
            const std::string& owner =
                owners_.of.try_emplace(name, end - first == 1 ? file_of(first) : std::string{}).first->second;
            // A file that is called otherwise at this step, and never lay beside the owner, takes its place.
            const bool is_alone = end - first == 1 && !owner.empty() && !owners_.others.contains(file_of(first));
            for (std::size_t i = first; i < end; ++i) {
                if (file_of(i) != owner && !is_alone) {
                    owners_.others.insert(file_of(i));
                    tensors[i].is.name = file_of(i) + "/" + name;
                }
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
    tensor_owners& owners_;
    step_contents all_;
    std::vector<found_index> indexes_;
    std::vector<std::string> names_;  // of the files
    std::vector<left_out> without_tensors_;
};

SMDEBUG_INLINE step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                             const archive_options& options, tensor_owners& owners) {
    return checkpoint_reader(store, step, options, owners).read();
}

SMDEBUG_INLINE step_contents read_checkpoint(const any_storage& store, const checkpoint_step& step,
                                             const archive_options& options) {
    tensor_owners owners;
    return read_checkpoint(store, step, options, owners);
}

/// The collection of a tensor, or an empty text.  `known` is what a file says that names its parts.
[[nodiscard]] inline std::string_view collection_of(std::string_view file, std::string_view tensor, dtype type,
                                                    std::optional<std::string_view> known) noexcept {
    file = named_by(file);
    const std::string_view name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
    if (name.find("optim") != std::string_view::npos) {
        return is_floating(type) ? "optimizer" : "";
    }
    const std::string_view by_name = known ? *known : collection_in_torch(tensor, type);
    if (known || !by_name.empty() || !is_floating(type)) {
        return by_name;  // as of the .pt that a .safetensors is converted from
    }
    return tensor.find("bias") != std::string_view::npos ? "biases" : "weights";
}

}  // namespace formats::detail

SMDEBUG_INLINE std::optional<checkpoint_source::time_point> checkpoint_source::written(
    const formats::detail::checkpoint_step& step) const {
    std::optional<time_point> newest;
    for (const std::string& key : step.files) {
        const std::optional<time_point> one = store_.modified(key);
        newest = one && (!newest || *one > *newest) ? one : newest;
    }
    return newest;
}

SMDEBUG_INLINE bool checkpoint_source::is_younger(std::optional<time_point> written,
                                                  std::chrono::system_clock::duration than) const {
    const time_point now = how_.now();
    return written && *written <= now && now - *written < than;
}

SMDEBUG_INLINE std::chrono::system_clock::duration checkpoint_source::patience(std::vector<time_point> written) {
    if (!how_.followed_since) {
        return how_.quiet_after;
    }
    std::sort(written.begin(), written.end());
    if (!newest_) {
        newest_ = how_.followed_since;
        const auto last = written.empty() ? written.end() : std::prev(written.end());
        longest_pause_ = written.size() > 1 ? *last - *std::prev(last) : longest_pause_;
    }
    for (const time_point one : written) {
        if (one > *newest_) {
            longest_pause_ = std::max(longest_pause_, one - *newest_);
            newest_ = one;
        }
    }
    return std::max<std::chrono::system_clock::duration>(how_.quiet_after, 3 * longest_pause_);
}

SMDEBUG_INLINE bool checkpoint_source::is_gone(const formats::detail::checkpoint_step& step) const {
    const auto is_missing = [&](const std::string& key) { return !store_.size(key).has_value(); };
    if (std::none_of(step.files.begin(), step.files.end(), is_missing)) {
        return false;
    }
    const std::vector<std::string> keys = store_.list("", "");  // a link that leads nowhere is still listed
    return std::any_of(step.files.begin(), step.files.end(),
                       [&](const std::string& key) { return std::find(keys.begin(), keys.end(), key) == keys.end(); });
}

SMDEBUG_INLINE std::vector<problem> checkpoint_source::problems_of(
    const formats::detail::found_checkpoints& found) const {
    std::vector<problem> problems;
    std::set<std::string_view> pickled;
    for (const formats::detail::left_out& one : found.not_read) {
        const std::string_view name = std::string_view{one.name}.substr(one.name.rfind('/') + 1);  // npos + 1 is 0
        const bool is_removed = std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
            const std::string& file = known.second.files.front();  // its step was read
            const std::size_t slash = file.rfind('/');
            return slash != std::string::npos && one.name.starts_with(std::string_view{file}.substr(0, slash + 1));
        });
        if (!how_.followed_since || formats::detail::kind_of(name) != formats::detail::checkpoint_kind::pickle) {
            if (!how_.followed_since || (!is_removed && !is_younger(store_.modified(one.name), how_.whole_after))) {
                problems.push_back({one.kind, one.name, one.why});  // else it is being written, or removed
            }
        } else if (pickled.insert(name).second) {  // each checkpoint has it
            problems.push_back({one.kind, std::string{name}, one.why});
        }
    }
    return problems;
}

SMDEBUG_INLINE void checkpoint_source::note(std::vector<problem> now, std::vector<std::string>& known,
                                            run_contents& contents) {
    for (const std::string& where : std::exchange(known, {})) {
        contents.withdraw_problem(where);
    }
    for (problem& one : now) {
        known.push_back(one.where);
        contents.note_problem(std::move(one.where), std::move(one.what), one.kind);
    }
}

SMDEBUG_INLINE bool checkpoint_source::update(run_contents& contents) {
    const formats::detail::found_checkpoints found = formats::detail::find_checkpoints(
        store_, {.step_regex = how_.step_regex,
                 .finished_alone = how_.followed_since.has_value(),
                 .index_of = {},
                 .step_inside = [this](const std::string& key) -> std::optional<step_number> {
                     try {
                         return formats::detail::step_in_torch_file(store_, key, how_.unpacking);
                     } catch (const error&) {
                         return std::nullopt;  // reading it reports that
                     }
                 }});
    note(problems_of(found), left_out_, contents);
    for (auto& [number, known] : known_) {
        const auto place = std::lower_bound(found.steps.begin(), found.steps.end(), number,
                                            [](const auto& step, step_number wanted) { return step.step < wanted; });
        if (place == found.steps.end() || place->step != number) {
            note({}, known.problems, contents);  // its files are gone
        }
    }
    bool has_news = false;
    std::vector<time_point> times;
    for (const formats::detail::checkpoint_step& step : found.steps) {
        const std::optional<time_point> newest = written(step);
        if (newest) {
            times.push_back(*newest);
        }
        const auto known = known_.find(step.step);
        const bool is_as_before =
            known != known_.end() && known->second.files == step.files &&
            (!known->second.is_damaged || (known->second.written == newest && !is_younger(newest, how_.whole_after)));
        if (known != known_.end() && !known->second.is_damaged && known->second.written != newest) {
            known->second.written = newest;
            contents.set_outdated();  // files that trials know were written again
        }
        if (!is_as_before) {
            has_news = look(step, {.files = step.files, .written = newest}, contents) || has_news;
        }
    }
    is_followed_ = true;
    const auto limit = patience(times);
    // A listing is not a snapshot: where each checkpoint replaces the one before it, it may show neither.
    if (newest_seen_) {
        times.push_back(*newest_seen_);
    }
    newest_seen_ = times.empty() ? std::nullopt : std::optional{*std::max_element(times.begin(), times.end())};
    contents.set_ended(
        std::none_of(times.begin(), times.end(), [&](time_point written) { return is_younger(written, limit); }));
    return has_news;
}

SMDEBUG_INLINE bool checkpoint_source::look(const formats::detail::checkpoint_step& step, known_step now,
                                            run_contents& contents) {
    namespace detail = formats::detail;
    const bool is_new = known_.find(step.step) == known_.end();
    for (const auto& [number, before] : known_) {
        const auto moved =
            std::find_first_of(step.files.begin(), step.files.end(), before.files.begin(), before.files.end());
        if (number != step.step && moved != step.files.end()) {
            contents.set_outdated(run_contents::outdated_in::all);  // other numbers beside files that have come
            return false;
        }
    }
    if (how_.followed_since && is_new && is_younger(now.written, how_.complete_after)) {
        return false;  // another of its files may follow
    }
    detail::step_contents read;
    std::vector<problem> problems;
    try {
        read = detail::read_checkpoint(store_, step, how_.unpacking, owners_);
    } catch (const corrupt_data& damaged) {
        problems.push_back(
            {.where = step.folder.empty() ? step.files.front() : step.folder, .what = std::string{damaged.message()}});
    }
    for (detail::left_out& one : read.not_read) {
        problems.push_back({one.kind, one.name + ", step " + std::to_string(step.step), std::move(one.why)});
    }
    now.is_damaged = std::any_of(problems.begin(), problems.end(),
                                 [](const problem& one) { return one.kind == problem_kind::damaged; });
    if ((is_followed_ || how_.followed_since) && now.is_damaged &&
        (is_younger(now.written, how_.whole_after) || (how_.followed_since && is_new && is_gone(step)))) {
        return false;  // it is being written, or removed
    }
    const auto known = known_.find(step.step);
    run_contents::place where{.step = step.step, .mode = mode::train, .mode_step = step.step};
    if (now.written) {
        where.stamp = static_cast<std::uint64_t>(now.written->time_since_epoch().count());
    }
    if (known != known_.end()) {
        now.problems = std::move(known->second.problems);
        now.shown = std::move(known->second.shown);
    }
    const bool has_news = add(where, read, now.shown, contents);
    note(std::move(problems), now.problems, contents);
    known_.insert_or_assign(step.step, std::move(now));
    return has_news;
}

SMDEBUG_INLINE bool checkpoint_source::add(const run_contents::place& where, const formats::detail::step_contents& read,
                                           std::vector<std::uint32_t>& shown, run_contents& contents) {
    // In the order of their places in the files, so that a scan reads each file from front to back.
    std::vector<const formats::detail::checkpoint_tensor*> tensors;
    tensors.reserve(read.tensors.size());
    for (const formats::detail::checkpoint_tensor& tensor : read.tensors) {
        tensors.push_back(&tensor);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto* a, const auto* b) {
        return std::pair{a->file, a->is.where.offset} < std::pair{b->file, b->is.where.offset};
    });
    std::vector<std::uint32_t> before = shown;
    std::sort(before.begin(), before.end());
    for (const formats::detail::checkpoint_tensor* const tensor : tensors) {
        const formats::detail::checkpoint_file& file = read.files[tensor->file];
        const formats::detail::stored_tensor& is = tensor->is;
        const std::uint32_t name = names_.number_of(is.name);
        if (std::binary_search(before.begin(), before.end(), name)) {
            continue;
        }
        shown.push_back(name);
        if (file.joined != nullptr) {
            joined_->insert(file.key, file.joined);
        }
        const std::uint32_t object = contents.object(file.key);
        if (is.make) {
            contents.add_made(where, is.name, {.type = is.type, .shape = is.shape}, is.make, object);
        } else {
            contents.add_elements(
                where, is.name,
                {.type = is.type, .shape = is.shape, .big_endian = is.big_endian, .column_major = is.column_major},
                object, is.where);
        }
        const std::string_view group = formats::detail::collection_of(file.key, is.name, is.type, is.collection);
        if (!group.empty()) {
            contents.add_to_collection(group, is.name);
        }
    }
    return shown.size() > before.size();
}

}  // namespace smdebug::inline v1
