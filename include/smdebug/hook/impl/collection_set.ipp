// The bodies of <smdebug/hook/collection_set.hpp>.
#pragma once

#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE bool saved_collection::takes(std::string_view name) const {
    return names.contains(name) ||
           std::any_of(patterns.begin(), patterns.end(), [&](const regex& pattern) { return pattern.search(name); });
}

SMDEBUG_INLINE bool saved_collection::is_due(mode which, step_number mode_step) const {
    const bool is_training = which != mode::eval && which != mode::predict;
    return (is_training || !of_training_) && smdebug::is_due(when[place_of(which)], mode_step);
}

SMDEBUG_INLINE collection saved_collection::exported() const {
    collection out = configured;
    out.tensor_names.assign(names.begin(), names.end());
    return out;
}

SMDEBUG_INLINE saved_collection::saved_collection(collection from, const std::map<mode, save_config_mode>& default_when,
                                                  const reduction_config& default_what)
    : configured(std::move(from)), of_training_(known_collections::is_of_training(configured.name)) {
    if (configured.include_regex.empty() && configured.tensor_names.empty()) {
        configured.include_regex = known_collections::regexes_of(configured.name);
    }
    if (!configured.save_config) {
        configured.save_config.emplace();
    }
    configured.save_config->insert(default_when.begin(), default_when.end());
    if (!configured.reduction_config) {
        configured.reduction_config = default_what;
    }
    if (known_collections::holds_scalars(configured.name)) {
        configured.reduction_config = reduction_config{.save_raw_tensor = true};
        configured.save_histogram = false;
    }
    for (const mode which : all_modes) {
        when[place_of(which)] = configured.save_config->at(which);
    }
    plan = make_reduction_plan(*configured.reduction_config);
    for (const std::string& pattern : configured.include_regex) {
        patterns.emplace_back(pattern);
    }
    names.insert(configured.tensor_names.begin(), configured.tensor_names.end());
}

SMDEBUG_INLINE bool collection_set::due(const membership& tensor) const noexcept {
    if (everything_) {
        return true;
    }
    for (const std::uint32_t number : tensor.collections) {
        if (due_[number] != 0) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE void collection_set::note_watched(std::string_view name) {
    if (const auto entry = tensors_.find(name); entry != tensors_.end()) {
        change(entry->second, [](membership& tensor) { tensor.watched_ = true; });
    }
}

SMDEBUG_INLINE void collection_set::save_everything(bool on) noexcept {
    due_state_ += everything_ != on ? 1U : 0U;
    everything_ = on;
}

SMDEBUG_INLINE collection_set::collection_set(const hook_options& options)
    : default_when_(options.save_config),
      default_what_(options.reduction_config.value_or(reduction_config{.save_raw_tensor = true})) {
    check(options);
    const auto names_all = [](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), "all") != names.end();
    };
    digests_all_ = names_all(options.digests);
    const bool digests_others = digests_all_ && !names_all(options.include_collections);
    for (const known_collections::known& each : known_collections::list) {
        if (!each.built_in) {
            continue;
        }
        collection configured{.name = std::string{each.name}};
        for (const collection& own : options.collections) {
            if (own.name == each.name) {
                configured = own;
            }
        }
        if (each.name == known_collections::saved_by_default && configured.include_regex.empty() &&
            configured.tensor_names.empty()) {
            configured.include_regex = known_collections::regexes_of(each.name);
            configured.include_regex.insert(configured.include_regex.end(), options.loss_regex.begin(),
                                            options.loss_regex.end());
        } else if (each.name == "default") {
            configured.include_regex.insert(configured.include_regex.end(), options.include_regex.begin(),
                                            options.include_regex.end());
        } else if (each.name == "all" && (options.save_all || digests_others)) {
            configured.include_regex.emplace_back(".*");
        }
        make(std::move(configured));
    }
    for (const collection& own : options.collections) {
        if (!find(own.name)) {
            make(own);
        }
    }
    for (const collection& own : options.collections) {
        groups_[number_of(own.name)].configured_by_user = true;
    }
    include(number_of(known_collections::saved_by_default));
    for (const std::string& name : options.include_collections) {
        include(number_of(name));
        groups_[number_of(name)].configured_by_user = true;
    }
    if (!options.include_regex.empty()) {
        include(default_number);
    }
    if (options.save_all) {
        include(all_number);
    }
    save_digests(options.digests);
}

SMDEBUG_INLINE void collection_set::save_digests(const std::vector<std::string>& collections) {
    for (const std::string& name : collections) {
        saved_collection& group = groups_[number_of(name)];
        if (!group.included) {
            group.included = true;
            group.plan = {};
            group.configured.save_histogram = false;
        }
        group.plan.digest = true;
        group.configured_by_user = true;
    }
    if (!collections.empty()) {
        digests_number_ = number_of(digests_collection);
    }
}

SMDEBUG_INLINE std::uint32_t collection_set::make(collection configured) {
    const auto number = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back(std::move(configured), default_when_, default_what_).included = includes_all_;
    due_.push_back(0);
    changed_ = true;
    find_due(number);
    return number;
}

SMDEBUG_INLINE void collection_set::include(std::uint32_t number) {
    groups_[number].included = true;
    if (number == all_number) {
        includes_all_ = true;
        for (saved_collection& each : groups_) {
            each.included = true;
        }
    }
}

SMDEBUG_INLINE std::optional<std::uint32_t> collection_set::find(std::string_view name) const {
    for (std::uint32_t number = 0; number < groups_.size(); ++number) {
        if (groups_[number].configured.name == name) {
            return number;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::uint32_t collection_set::number_of(std::string_view name) {
    const auto number = find(name);
    if (number) {
        return *number;
    }
    detail::check_name(std::string{name}, "a collection that a tensor is put into");
    return make(collection{.name = std::string{name}});
}

SMDEBUG_INLINE collection_set::membership& collection_set::find_or_add(std::string_view name) {
    auto entry = tensors_.find(name);
    if (entry == tensors_.end()) {
        entry = tensors_.emplace(name, matched(name)).first;
        for (const std::uint32_t number : entry->second.collections) {
            note(number, name);
            groups_[number].has_tensors = true;
        }
        if (entry->second.unsaved()) {
            unsaved_tensors_.push_back(&*entry);
            ++unsaved_count_;
        }
    }
    if (everything_ && !entry->second.in_all_) {
        note(all_number, name);
        change(entry->second, [](membership& tensor) { tensor.in_all_ = true; });
    }
    return entry->second;
}

SMDEBUG_INLINE collection_set::membership collection_set::matched(std::string_view name) {
    membership made;
    for (std::uint32_t number = 0; number < groups_.size(); ++number) {
        if (groups_[number].included && groups_[number].takes(name)) {
            made.collections.push_back(number);
        }
    }
    return made;
}

SMDEBUG_INLINE const collection_set::membership& collection_set::add(std::string_view name,
                                                                     std::span<const std::string_view> collections) {
    membership& tensor = find_or_add(name);
    for (const std::string_view each : collections) {
        put(tensor, name, number_of(each));
    }
    if (collections.empty() && tensor.collections.empty()) {
        put(tensor, name, default_number);
    }
    return tensor;
}

SMDEBUG_INLINE void collection_set::put(membership& tensor, std::string_view name, std::uint32_t number) {
    const auto place = std::lower_bound(tensor.collections.begin(), tensor.collections.end(), number);
    if (place == tensor.collections.end() || *place != number) {
        change(tensor, [&](membership& changed) { changed.collections.insert(place, number); });
        tensor.plan_is_of_ = 0;
        note(number, name);
        groups_[number].used = true;
        groups_[number].has_tensors = true;
        find_due(number);
    }
}

// Determines again whether a collection is due.
SMDEBUG_INLINE void collection_set::find_due(std::uint32_t number) {
    const saved_collection& each = groups_[number];
    const bool now = (each.included || each.used) && each.is_due(mode_, mode_step_);
    due_state_ += (due_[number] != 0) != now ? 1U : 0U;
    due_[number] = now ? 1 : 0;
    any_due_ = any_due_ || now;
}

SMDEBUG_INLINE bool collection_set::begin_step(mode which, step_number mode_step) {
    mode_ = which;
    mode_step_ = mode_step;
    any_due_ = false;
    for (std::uint32_t number = 0; number < groups_.size(); ++number) {
        find_due(number);
    }
    return any_due();
}

SMDEBUG_INLINE const reduction_plan& collection_set::due_plan(const membership& tensor) const {
    if (tensor.plan_is_of_ != due_state_) {
        tensor.plan_.clear();
        for_each_due(tensor, [&](std::uint32_t number) { tensor.plan_.add(groups_[number].plan); });
        tensor.plan_.digest = tensor.plan_.digest || digests_all_;
        tensor.plan_is_of_ = due_state_;
    }
    return tensor.plan_;
}

SMDEBUG_INLINE void collection_set::adopt(const collections_file& earlier) {
    for (const auto& [name, group] : earlier.collections) {
        const std::uint32_t number = number_of(name);
        for (const std::string& tensor : group.tensor_names) {
            note(number, tensor);
        }
    }
}

SMDEBUG_INLINE std::vector<std::string> collection_set::unmatched() const {
    std::vector<std::string> names;
    for (const saved_collection& each : groups_) {
        if (each.configured_by_user && !each.has_tensors && &each != &groups_[all_number]) {
            names.push_back(each.configured.name);
        }
    }
    return names;
}

SMDEBUG_INLINE std::vector<std::string> collection_set::unsaved() const {
    std::vector<std::string> names;
    for (const auto* const each : unsaved_tensors_) {
        if (each->second.unsaved()) {
            names.push_back(each->first);
        }
    }
    return names;
}

SMDEBUG_INLINE collections_file collection_set::file(std::int64_t num_workers) const {
    collections_file all{.collections = {}, .num_workers = num_workers};
    for (const saved_collection& each : groups_) {
        all.collections.insert_or_assign(each.configured.name, each.exported());
    }
    changed_ = false;
    return all;
}

}  // namespace smdebug::inline v1::detail
