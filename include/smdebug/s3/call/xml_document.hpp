// Reading XML behind a small interface: the only header that includes pugixml.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <pugixml.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// An element of a parsed document.  Names are literal: S3 uses namespaces without prefixes.
/// Borrows: the document; texts live until it parses another one.  Nothing here throws.
class xml_element {
public:
    explicit xml_element(pugi::xml_node node) noexcept : node_(node) {}

    [[nodiscard]] std::string_view name() const noexcept { return node_.name(); }

    /// Its text, including white space; nothing if it contains elements or several pieces of text.
    [[nodiscard]] std::optional<std::string_view> text() const noexcept {
        const pugi::xml_node inner = node_.first_child();  // pugixml stores plain text as the element's value
        if (!inner) {
            return node_.value();
        }
        const bool alone = !inner.next_sibling() && inner.type() == pugi::node_cdata && *node_.value() == '\0';
        return alone ? std::optional<std::string_view>{inner.value()} : std::nullopt;
    }

    /// The text of its first child of that name; nothing if there is no such child or it has no text().
    [[nodiscard]] std::optional<std::string_view> text_of(const char* name) const noexcept {
        const pugi::xml_node found = node_.child(name);
        return found ? xml_element{found}.text() : std::nullopt;
    }

    /// Calls visit(element) for each child until it returns false.  Returns whether all were visited.
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

/// A parsed document.  Movable; elements stay valid.
class xml_document {
public:
    /// The root; nothing unless the bytes are one well-formed element in UTF-8.  White space, comments and declarations
    /// around it are ignored.  Only the five predefined entities and numeric ones are replaced; none are declared,
    /// fetched or expanded: memory is at worst some 20 times the bytes, and the depth does not matter.
    /// Cost: one copy of the bytes, 0.5 to 1 GB/s.
    [[nodiscard]] std::optional<xml_element> parse(byte_view bytes) {
        // Keeps text inside elements unchanged, and detects text outside of the root.
        constexpr unsigned options = pugi::parse_escapes | pugi::parse_cdata | pugi::parse_embed_pcdata |
                                     pugi::parse_ws_pcdata_single | pugi::parse_fragment;
        // pugixml stops at a zero byte and ignores the rest.
        if (as_text(bytes).find('\0') != std::string_view::npos ||
            !tree_->load_buffer(bytes.data(), bytes.size(), options, pugi::encoding_utf8)) {
            return std::nullopt;
        }
        const pugi::xml_node root = tree_->first_child();
        const bool alone = root.type() == pugi::node_element && !root.next_sibling();
        return alone ? std::optional{xml_element{root}} : std::nullopt;
    }

    /// The root of a document in which it must have this name; nothing if it has another.
    [[nodiscard]] std::optional<xml_element> parse(byte_view bytes, std::string_view name) {
        const std::optional<xml_element> root = parse(bytes);
        return root && root->name() == name ? root : std::nullopt;
    }

private:
    std::unique_ptr<pugi::xml_document> tree_ = std::make_unique<pugi::xml_document>();
};

}  // namespace smdebug::inline v1::s3::detail
