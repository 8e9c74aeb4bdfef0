// Reading XML: the only header that includes pugixml, behind a few words.
// Used by: s3.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <pugixml.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// An element of a parsed document.  Names are as they stand: S3's namespaces are without prefixes.
/// Borrows: the document; texts live until it parses the next one.  Nothing here throws.
class xml_element {
public:
    explicit xml_element(pugi::xml_node node) noexcept : node_(node) {}

    [[nodiscard]] std::string_view name() const noexcept { return node_.name(); }

    /// The text in it, white space and all; nothing where it holds elements, or its text comes in several pieces.
    [[nodiscard]] std::optional<std::string_view> text() const noexcept {
        const pugi::xml_node inner = node_.first_child();  // plain text is no child, but the element's own value
        if (!inner) {
            return node_.value();
        }
        const bool alone = !inner.next_sibling() && inner.type() == pugi::node_cdata && *node_.value() == '\0';
        return alone ? std::optional<std::string_view>{inner.value()} : std::nullopt;
    }

    /// The text of the first element of that name in it; nothing where there is none, or it has no text() either.
    [[nodiscard]] std::optional<std::string_view> text_of(const char* name) const noexcept {
        const pugi::xml_node found = node_.child(name);
        return found ? xml_element{found}.text() : std::nullopt;
    }

    /// Calls visit(element) for each element in it, until that returns false.  Returns whether all were visited.
    template <class Visit>
    bool for_each_child(Visit&& visit) const {
        for (const pugi::xml_node child : node_) {
            if (child.type() == pugi::node_element && !visit(xml_element{child})) {
                return false;
            }
        }
        return true;
    }

private:
    pugi::xml_node node_;
};

/// A document that was parsed.  Movable; elements stay good.
class xml_document {
public:
    /// The root, nothing when the bytes are not one element in UTF-8, well-formed to the end.  White space, comments
    /// and declarations around it do not count.  Of entities the five of XML and numbers are replaced; nothing is
    /// declared, fetched or grown: memory is some 20 times the bytes at worst, and the depth does not matter.
    /// Cost: one copy of the bytes, 0.5 to 1 GB/s.
    [[nodiscard]] std::optional<xml_element> parse(byte_view bytes) {
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

private:
    std::unique_ptr<pugi::xml_document> tree_ = std::make_unique<pugi::xml_document>();
};

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
