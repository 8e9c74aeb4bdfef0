// The bodies of <smdebug/s3/call/xml_document.hpp>.
#pragma once

#include <smdebug/s3/call/xml_document.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string_view> xml_element::text() const noexcept {
    const pugi::xml_node inner = node_.first_child();  // plain text is no child, but the element's own value
    if (!inner) {
        return node_.value();
    }
    const bool alone = !inner.next_sibling() && inner.type() == pugi::node_cdata && *node_.value() == '\0';
    return alone ? std::optional<std::string_view>{inner.value()} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::string_view> xml_element::text_of(const char* name) const noexcept {
    const pugi::xml_node found = node_.child(name);
    return found ? xml_element{found}.text() : std::nullopt;
}

SMDEBUG_INLINE std::optional<xml_element> xml_document::parse(byte_view bytes) {
    // Text inside elements is wanted as it is, and text outside of the root is to be seen.
    constexpr unsigned options = pugi::parse_escapes | pugi::parse_cdata | pugi::parse_embed_pcdata |
                                 pugi::parse_ws_pcdata_single | pugi::parse_fragment;
    // pugixml ends at a zero, whatever comes behind it.
    if (as_text(bytes).find('\0') != std::string_view::npos ||
        !tree_->load_buffer(bytes.data(), bytes.size(), options, pugi::encoding_utf8)) {
        return std::nullopt;
    }
    const pugi::xml_node root = tree_->first_child();
    if (root.type() != pugi::node_element || root.next_sibling()) {
        return std::nullopt;
    }
    return xml_element{root};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
