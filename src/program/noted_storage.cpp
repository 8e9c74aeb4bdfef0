#include <program/noted_storage.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

noted_storage::noted_storage(any_storage inner, std::shared_ptr<const file_notes> notes)
    : inner_(std::move(inner)), notes_(std::move(notes)) {}

std::vector<std::string> noted_storage::list(std::string_view prefix, std::string_view after) const {
    return inner_.list(prefix, after);
}

std::unique_ptr<smdebug::detail::opened_object> noted_storage::open(std::string_view key) const {
    auto object = inner_.open(key);
    const auto notes = notes_->find(key);
    if (object == nullptr || notes == notes_->end()) {
        return object;
    }
    return std::make_unique<noted>(std::move(object), notes->second);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
