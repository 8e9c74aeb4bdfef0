#include <smdebug/trial/catalog/layout.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("stored_form: forms that decode alike are equal; functions never are") {
    const stored_form elements{.as = storage_form::elements, .type = dtype::float32, .shape = {2, 3}};
    CHECK(elements == stored_form{elements});
    CHECK_FALSE(elements == stored_form{.as = storage_form::elements, .type = dtype::float64, .shape = {2, 3}});
    CHECK_FALSE(elements == stored_form{.as = storage_form::elements, .type = dtype::float32, .shape = {3, 2}});
    stored_form big = elements;
    big.big_endian = true;
    CHECK_FALSE(elements == big);
    CHECK(elements.is_plain());
    CHECK_FALSE(big.is_plain());
    const stored_form made{.as = storage_form::made, .type = dtype::float32};
    CHECK_FALSE(made == stored_form{made});
}

TEST_CASE("form_list: forms by item, in a table that it keeps") {
    auto table = std::make_shared<std::vector<stored_form>>(2);
    (*table)[1].as = storage_form::number;
    const std::vector<const stored_form*> items{&(*table)[1], &(*table)[0], &(*table)[1]};
    const form_list list{table, items};
    const std::weak_ptr<std::vector<stored_form>> kept = table;
    table.reset();
    REQUIRE_FALSE(kept.expired());
    CHECK(list[0].as == storage_form::number);
    CHECK(list[1].as == storage_form::record);
    CHECK(list.equals(items));
    CHECK_FALSE(list.equals({items[0], items[1]}));
    CHECK(list.memory() >= 3 * sizeof(void*));
}
