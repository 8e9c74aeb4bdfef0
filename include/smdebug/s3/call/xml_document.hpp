// Reading XML: the only header that includes pugixml, behind a few words.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <pugixml.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// An element of a parsed document.  Names are as they stand: S3's namespaces are without prefixes.
/// Borrows: the document; texts live until it parses the next one.  Nothing here throws.
class xml_element {
public:
    explicit xml_element(pugi::xml_node node) noexcept : node_(node) {}

    [[nodiscard]] std::string_view name() const noexcept { return node_.name(); }

    /// The text in it, white space and all; nothing where it holds elements, or its text comes in several pieces.
    [[nodiscard]] std::optional<std::string_view> text() const noexcept;

    /// The text of the first element of that name in it; nothing where there is none, or it has no text() either.
    [[nodiscard]] std::optional<std::string_view> text_of(const char* name) const noexcept;

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
    [[nodiscard]] std::optional<xml_element> parse(byte_view bytes);

private:
    std::unique_ptr<pugi::xml_document> tree_ = std::make_unique<pugi::xml_document>();
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/xml_document.ipp>
#endif
