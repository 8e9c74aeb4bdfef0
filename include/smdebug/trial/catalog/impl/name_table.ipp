// The bodies of <smdebug/trial/catalog/name_table.hpp>.
#pragma once

#include <smdebug/trial/catalog/name_table.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<name_id> name_table::find(std::string_view name) const noexcept {
    const named* known = by_text_.find(name);
    return known != nullptr ? std::optional{known->id} : std::nullopt;
}

SMDEBUG_INLINE std::optional<name_id> name_table::find_tensor(std::string_view name) const noexcept {
    const named* known = by_text_.find(name);
    return known != nullptr && known->is_tensor ? std::optional{known->id} : std::nullopt;
}

SMDEBUG_INLINE std::size_t name_table::memory() const noexcept {
    std::size_t bytes = by_text_.memory() + by_id_.memory();
    by_id_.for_each([&](const auto& text) { bytes += 2 * sizeof(void*) + sizeof(*text) + text->capacity(); });
    return bytes;
}

SMDEBUG_INLINE name_id name_table_builder::id_of(std::string_view name) {
    if (const auto known = base_->find(name)) {
        return *known;
    }
    const auto seen = fresh_ids_.find(name);
    if (seen != fresh_ids_.end()) {
        return seen->second;
    }
    const auto id = static_cast<name_id>(base_->size() + fresh_.size());
    fresh_.push_back({std::make_shared<const std::string>(name), id, false});
    fresh_ids_.emplace(*fresh_.back().text, id);
    return id;
}

SMDEBUG_INLINE void name_table_builder::mark_tensor(name_id id) {
    if (id >= base_->size()) {
        fresh_[id - base_->size()].is_tensor = true;
    } else if (const auto* known = base_->by_text_.find((*base_)[id]); !known->is_tensor) {
        promoted_.push_back({known->text, id, true});
    }
}

SMDEBUG_INLINE std::shared_ptr<const name_table> name_table_builder::finish() && {
    if (fresh_.empty() && promoted_.empty()) {
        return base_;
    }
    auto made = std::make_shared<name_table>(*base_);
    std::vector<std::shared_ptr<const std::string>> texts;
    texts.reserve(fresh_.size());
    for (const auto& known : fresh_) {
        texts.push_back(known.text);
    }
    made->by_id_ = base_->by_id_.with(std::move(texts));
    std::vector<name_table::named> changes = std::move(fresh_);
    changes.insert(changes.end(), promoted_.begin(), promoted_.end());
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return *a.text != *b.text ? *a.text < *b.text : a.id < b.id; });
    changes.erase(
        std::unique(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.id == b.id; }),
        changes.end());
    made->by_text_ =
        base_->by_text_.with(std::move(changes), [](const auto&, name_table::named&& changed) { return changed; });
    return made;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
