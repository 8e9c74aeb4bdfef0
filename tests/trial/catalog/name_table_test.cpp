#include <smdebug/trial/catalog/layout.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

using table = std::shared_ptr<const name_table>;

table empty() { return std::make_shared<const name_table>(); }

// The table after `base` with these names, all of them tensors.
table with_tensors(const table& base, const std::vector<std::string>& names) {
    name_table_builder builder{base};
    for (const std::string& name : names) {
        builder.mark_tensor(builder.id_of(name));
    }
    return std::move(builder).finish();
}

table with_names(const table& base, const std::vector<std::string>& names) {
    name_table_builder builder{base};
    for (const std::string& name : names) {
        static_cast<void>(builder.id_of(name));
    }
    return std::move(builder).finish();
}

}  // namespace

TEST_CASE("name_table: an empty one knows no name, not even the empty one") {
    const name_table none;
    CHECK(none.size() == 0);
    CHECK_FALSE(none.find("").has_value());
    CHECK_FALSE(none.find_tensor("a").has_value());
}

TEST_CASE("name_table: numbers names in the order in which they were first seen, the empty one like any other") {
    const table names = with_names(empty(), {"c", "a", "", "c", "b", "a"});
    REQUIRE(names->size() == 4);
    CHECK(names->find("c") == name_id{0});
    CHECK(names->find("a") == name_id{1});
    CHECK(names->find("") == name_id{2});
    CHECK(names->find("b") == name_id{3});
    CHECK((*names)[0] == "c");
    CHECK((*names)[3] == "b");
    CHECK_FALSE(names->find("d").has_value());
    CHECK_FALSE(names->find("cc").has_value());
}

TEST_CASE("name_table: finds names by any text, also one that is no string and does not end in zero") {
    const table names = with_names(empty(), {"conv", std::string("nul\0inside", 10)});
    CHECK(names->find(std::string_view{"convolution"}.substr(0, 4)) == name_id{0});
    CHECK(names->find(std::string_view{"nul\0inside", 10}) == name_id{1});
    CHECK_FALSE(names->find("nul").has_value());
}

TEST_CASE("name_table: numbers do not change in later tables") {
    table names = with_names(empty(), {"m", "a"});
    names = with_names(names, {"z", "a", "0"});
    names = with_names(names, {"0", "zz", "m"});
    REQUIRE(names->size() == 5);
    const std::vector<std::string> order{"m", "a", "z", "0", "zz"};
    for (name_id id = 0; id < order.size(); ++id) {
        CHECK((*names)[id] == order[id]);
        CHECK(names->find(order[id]) == id);
    }
}

TEST_CASE("name_table: a name is a tensor's only once it is marked as one") {
    name_table_builder builder{empty()};
    const name_id original = builder.id_of("original");
    builder.mark_tensor(builder.id_of("tensor"));
    const table names = std::move(builder).finish();
    CHECK(names->find("original") == original);
    CHECK_FALSE(names->find_tensor("original").has_value());
    CHECK(names->find("tensor") == name_id{1});
    CHECK(names->find_tensor("tensor") == name_id{1});
    CHECK_FALSE(names->find_tensor("neither").has_value());
}

TEST_CASE("name_table: an original name that becomes a tensor's keeps its number and text") {
    const table before = with_names(empty(), {"a", "later", "never"});
    const table after = with_tensors(before, {"new", "later", "later"});
    REQUIRE(after->size() == 4);
    CHECK(after->find_tensor("later") == name_id{1});
    CHECK(&(*after)[1] == &(*before)[1]);
    CHECK(after->find_tensor("new") == name_id{3});
    CHECK_FALSE(after->find_tensor("never").has_value());
    CHECK(after->find("never") == name_id{2});
    CHECK_FALSE(before->find_tensor("later").has_value());                       // the old table does not know it
    CHECK(after->memory() == with_tensors(before, {"new", "later"})->memory());  // given twice, stored once
    const table once_more = with_names(after, {"later", "x"});
    CHECK(once_more->find_tensor("later") == name_id{1});
}

TEST_CASE("name_table: the builder returns a name's number and text before the table is made") {
    const table base = with_names(empty(), {"old"});
    name_table_builder builder{base};
    const name_id fresh = builder.id_of("fresh");
    CHECK(fresh == 1);
    CHECK(builder.id_of("fresh") == fresh);
    CHECK(builder.id_of("old") == 0);
    CHECK(builder.text_of(0) == "old");
    const std::string& text = builder.text_of(fresh);
    for (int i = 0; i < 1000; ++i) {
        static_cast<void>(builder.id_of("more " + std::to_string(i)));
    }
    CHECK(&builder.text_of(fresh) == &text);
    CHECK(text == "fresh");
    const table made = std::move(builder).finish();
    CHECK(&(*made)[fresh] == &text);
    CHECK(made->size() == 1002);
}

TEST_CASE("name_table: without new names the table stays the same object") {
    const table names = with_tensors(empty(), {"a", "b"});
    CHECK(with_names(names, {}) == names);
    CHECK(with_names(names, {"b", "a"}) == names);
    CHECK(with_tensors(names, {"b", "a", "b"}) == names);  // they were tensors before
    CHECK(with_names(names, {"c"}) != names);
    const table original = with_names(names, {"c"});
    CHECK(with_tensors(original, {"c"}) != original);
}

TEST_CASE("name_table: holds thousands of names in any order of addition, and earlier tables do not change") {
    std::mt19937 random{17};
    struct known {
        name_id id;
        bool is_tensor;
    };
    std::map<std::string, known> model;
    std::vector<std::string> order;
    std::vector<const std::string*> texts;
    table names = empty();
    struct snapshot {
        table names;
        std::map<std::string, known> model;
    };
    std::vector<snapshot> old;
    const auto right = [](const name_table& found, const std::map<std::string, known>& wanted) {
        std::size_t wrong = found.size() == wanted.size() ? 0 : 1;
        for (const auto& [text, held] : wanted) {
            const auto id = found.find_tensor(text);
            wrong += found.find(text) == held.id && found[held.id] == text ? 0U : 1U;
            wrong += id.has_value() == held.is_tensor && id.value_or(held.id) == held.id ? 0U : 1U;
            wrong += found.find(text + "!").has_value() ? 1U : 0U;
        }
        return wrong == 0;
    };
    for (int load = 0; load < 80; ++load) {
        name_table_builder builder{names};
        const std::size_t most = std::vector<std::size_t>{3, 50, 600}[random() % 3];
        const std::size_t count = random() % most;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string text = "layer_" + std::to_string(random() % 6000) + "/weight:0";
            const name_id id = builder.id_of(text);
            const auto [at, fresh] = model.try_emplace(text, known{static_cast<name_id>(order.size()), false});
            if (fresh) {
                order.push_back(text);
            }
            REQUIRE(id == at->second.id);
            REQUIRE(builder.text_of(id) == text);
            if (random() % 3 == 0) {
                builder.mark_tensor(id);
                at->second.is_tensor = true;
            }
        }
        names = std::move(builder).finish();
        REQUIRE(right(*names, model));
        bool stayed = true;
        for (name_id id = 0; id < order.size(); ++id) {
            if (id == texts.size()) {
                texts.push_back(&(*names)[id]);
            }
            stayed = stayed && texts[id] == &(*names)[id];
        }
        REQUIRE(stayed);
        old.push_back({names, model});
    }
    CHECK(order.size() > 3000);
    for (const snapshot& then : old) {
        REQUIRE(right(*then.names, then.model));
    }
}

TEST_CASE("name_table: its memory covers the texts, those that do not fit into a string most of all") {
    const table small = with_names(empty(), std::vector<std::string>{"a"});
    const table large = with_names(small, {std::string(5000, 'x')});
    CHECK(small->memory() >= sizeof(std::string));
    CHECK(large->memory() >= small->memory() + 5000);
}
