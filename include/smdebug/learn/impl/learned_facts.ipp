// The bodies of <smdebug/learn/learned_facts.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/learn/facts/all_facts.hpp>
#include <smdebug/learn/facts/facts_json.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <array>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

SMDEBUG_INLINE learned_facts::learned_facts() : data_(std::make_shared<const detail::learn::all_facts>()) {}

SMDEBUG_INLINE learned_facts detail::learn::facts_access::made_of(all_facts data) {
    learned_facts made;
    made.data_ = std::make_shared<const all_facts>(std::move(data));
    return made;
}

SMDEBUG_INLINE const std::vector<std::string>& learned_facts::runs() const noexcept { return data_->runs; }
SMDEBUG_INLINE const std::vector<std::string>& learned_facts::suspects() const noexcept { return data_->suspects; }

SMDEBUG_INLINE std::vector<std::string> learned_facts::tensors() const {
    std::vector<std::string> names;
    for (const auto& [name, facts] : data_->tensors) {
        names.push_back(name);
    }
    return names;
}

SMDEBUG_INLINE std::optional<learned_envelope> learned_facts::envelope(std::string_view tensor, mode in,
                                                                       std::string_view number, step_number mode_step,
                                                                       double widen) const {
    const auto which = detail::learn::number_named(number);
    const auto* const entry = which ? data_->find(tensor, in) : nullptr;
    if (entry == nullptr) {
        return std::nullopt;
    }
    const auto series = entry->numbers.find(*which);
    if (series == entry->numbers.end()) {
        return std::nullopt;
    }
    const auto found = series->second.envelope_at(*which, mode_step, widen);
    if (!found) {
        return std::nullopt;
    }
    return learned_envelope{
        .a = found->range.least, .b = found->range.greatest, .lower = found->lower, .upper = found->upper};
}

SMDEBUG_INLINE void learned_facts::join(learned_facts other) {
    if (other.runs().empty()) {
        return;
    }
    detail::learn::all_facts both = *data_;
    both.join(detail::learn::all_facts{*other.data_});
    both.settle();
    data_ = std::make_shared<const detail::learn::all_facts>(std::move(both));
}

SMDEBUG_INLINE std::string learned_facts::to_json() const {
    std::string text;
    detail::learn::write_json(*data_, [&](std::string_view piece) { text.append(piece); });
    return text;
}

SMDEBUG_INLINE learned_facts learned_facts::from_json(std::string_view text, const std::string& source) {
    return detail::learn::facts_access::made_of(detail::learn::facts_from_json(text, source));
}

SMDEBUG_INLINE void learned_facts::save(const std::string& path) const {
    detail::posix::refuse_special_file(path);
    detail::posix::whole_file_output file{path};
    detail::learn::write_json(*data_, [&](std::string_view piece) {
        const std::array<byte_view, 1> pieces{as_bytes(piece)};
        file.append(pieces);
    });
    file.commit(durability::on_disk);
}

SMDEBUG_INLINE learned_facts learned_facts::load(const std::string& path) {
    const byte_buffer text = detail::posix::file{path}.read();
    return detail::learn::facts_access::made_of(detail::learn::facts_from_json(as_text(text.view()), path));
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
