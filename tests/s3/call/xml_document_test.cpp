#include <smdebug/s3/call/xml_document.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

/// Parses a copy in a heap block of exactly that size: a sanitizer then sees every read beyond it.
bool parses(std::string_view text) {
    const std::vector<char> exact(text.begin(), text.end());
    s3::detail::xml_document document;
    return document.parse(as_bytes(std::string_view{exact.data(), exact.size()})).has_value();
}

/// The text of a document's root element <a>.
std::optional<std::string> text_in(std::string_view xml) {
    s3::detail::xml_document document;
    const auto root = document.parse(as_bytes(xml));
    REQUIRE(root.has_value());
    const auto text = root->text();
    return text ? std::optional{std::string{*text}} : std::nullopt;
}

}  // namespace

TEST_CASE("xml_document: names and texts of elements, in order") {
    s3::detail::xml_document document;
    const auto root = document.parse(as_bytes(
        "<?xml version='1.0' encoding='UTF-8'?>\n<!-- x -->\n<Result xmlns=\"http://s3.example/\" b='&lt;'>\n"
        "  <Name>one</Name><Empty/><Empty></Empty><Name>two</Name>\n<Inner><Name>three</Name></Inner>\n</Result>\n "
        "\t\r\n"));
    REQUIRE(root.has_value());
    CHECK(root->name() == "Result");
    CHECK(root->text_of("Name") == "one");
    CHECK(root->text_of("Empty") == "");
    CHECK_FALSE(root->text_of("Nothing").has_value());
    CHECK_FALSE(root->text_of("Inner").has_value());
    CHECK_FALSE(root->text().has_value());
    std::vector<std::string> names;
    CHECK(root->for_each_child([&](s3::detail::xml_element child) {
        names.emplace_back(child.name());
        return true;
    }));
    CHECK(names == std::vector<std::string>{"Name", "Empty", "Empty", "Name", "Inner"});
    int seen = 0;
    CHECK_FALSE(root->for_each_child([&](s3::detail::xml_element) { return ++seen < 2; }));
    CHECK(seen == 2);
}

TEST_CASE("xml_document: texts keep their white space, escapes are taken back, nothing is expanded") {
    CHECK(text_in("<a> </a>") == " ");
    CHECK(text_in("<a>\n x\t</a>") == "\n x\t");
    CHECK(text_in("<a>1\r\n2</a>") == "1\r\n2");
    CHECK(text_in("<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x42;&#xe4;&#x1F600;&#x0d;</a>") ==
          "&<>\"'AB\xC3\xA4\xF0\x9F\x98\x80\r");
    CHECK(text_in("<a>\xC3\xA4\xE6\x97\xA5</a>") == "\xC3\xA4\xE6\x97\xA5");
    CHECK(text_in("<a><![CDATA[x<y>&amp;]]></a>") == "x<y>&amp;");
    CHECK(text_in("<a><![CDATA[]]></a>") == "");
    CHECK(text_in("\xEF\xBB\xBF<a>b</a>") == "b");
    CHECK(text_in("  \n<?xml version='1.0'?><a>b</a>") == "b");
    // In pieces: nothing is better than half a text.
    CHECK(text_in("<a>x<![CDATA[y]]></a>") == std::nullopt);
    CHECK(text_in("<a><![CDATA[x]]>y</a>") == std::nullopt);
    CHECK(text_in("<a>x<b/>y</a>") == std::nullopt);
    CHECK(text_in("<a>x<!-- -->y</a>") == std::nullopt);
    // Document types are ignored.
    CHECK(text_in("<!DOCTYPE a [<!ENTITY e \"eeee\"><!ENTITY f SYSTEM \"file:///etc/hostname\">]><a>&e;&f;</a>") ==
          "&e;&f;");
}

TEST_CASE("xml_document: what is not one element, well-formed to its end, is nothing") {
    for (const std::string_view bad : {"",
                                       " ",
                                       "text",
                                       "<",
                                       "<a",
                                       "<a>",
                                       "<a></a",
                                       "<a></b>",
                                       "<a><b></a></b>",
                                       "<a/><b/>",
                                       "<a/>text",
                                       "text<a/>",
                                       "<a/><",
                                       "<a/><!--",
                                       "<a b></a>",
                                       "<a b=\"></a>",
                                       "<!-- x -->",
                                       "<?xml version='1.0'?>",
                                       "</a>",
                                       "<a></a></a>",
                                       "<a><![CDATA[</a>",
                                       "{\"a\": 1}"}) {
        CAPTURE(bad);
        CHECK_FALSE(parses(bad));
    }
    CHECK(parses("<a/>"));
    for (const std::string& text :
         {std::string{"<a/>\0", 5}, std::string{"<a/>\0<b>", 8}, std::string{"<a>\0</a>", 8}}) {
        CHECK_FALSE(parses(text));
    }
    CHECK_FALSE(parses(std::string{"<\0a\0/\0>\0", 8}));  // UTF-16
}

TEST_CASE("xml_document: every prefix of a document is nothing, and every byte may be any other") {
    const std::string whole =
        "<?xml version=\"1.0\"?><!-- c --><R x=\"1\"><A>t&amp;&#65;</A><B/><![CDATA[d]]><C y='2'> </C></R>";
    REQUIRE(parses(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(parses(whole.substr(0, length)));
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char c : {'<', '>', '&', '"', '\'', '\0', '\xFF', ' ', ';'}) {
            std::string other = whole;
            other[at] = c;
            (void)parses(other);  // any bytes: no crash, and no read past the end
        }
    }
}

TEST_CASE("xml_document: very deep and very wide documents, one after the other") {
    s3::detail::xml_document document;
    std::string deep;
    for (int level = 0; level < 100000; ++level) {
        deep += "<a>";
    }
    CHECK_FALSE(document.parse(as_bytes(deep)).has_value());
    for (int level = 0; level < 100000; ++level) {
        deep += "</a>";
    }
    CHECK(document.parse(as_bytes(deep)).has_value());
    std::string wide = "<a>";
    for (int each = 0; each < 100000; ++each) {
        wide += "<b/>";
    }
    const auto root = document.parse(as_bytes(wide + "</a>"));
    REQUIRE(root.has_value());
    int seen = 0;
    CHECK(root->for_each_child([&](s3::detail::xml_element) { return ++seen > 0; }));
    CHECK(seen == 100000);
    const s3::detail::xml_document moved = std::move(document);
    CHECK(root->name() == "a");
    CHECK(root->text_of("b") == "");
}
