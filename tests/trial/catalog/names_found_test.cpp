#include <smdebug/trial/catalog/layout.hpp>

#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/catalog_builder.hpp>

#define SMDEBUG_TEST_COUNT_ALLOCATIONS
#include "support/allocation_count.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

using texts = std::vector<std::string>;

/// Names "n0", "n1", ...: their order by text differs from their numbers'.
std::shared_ptr<const name_table> table_of(std::size_t count) {
    name_table_builder builder{std::make_shared<const name_table>()};
    for (std::size_t i = 0; i < count; ++i) {
        builder.mark_tensor(builder.id_of("n" + std::to_string(i)));
    }
    return std::move(builder).finish();
}

/// A list of values with these numbers, in this order, and of shapes.
name_list list_of(const name_table& names, const std::vector<name_id>& ids, std::vector<name_id> shapes = {}) {
    std::vector<recorded_item> items;
    for (const name_id id : ids) {
        items.push_back({.name = id});
    }
    return name_list{std::move(items), std::move(shapes), [&](std::vector<name_id>& order) {
                         std::sort(order.begin(), order.end(),
                                   [&](name_id a, name_id b) { return names[a] < names[b]; });
                     }};
}

texts found_in(const name_table& names, const std::vector<const name_list*>& lists) {
    return names_found(names, [&](auto&& visit) {
        for (const name_list* list : lists) {
            visit(*list);
        }
    });
}

}  // namespace

TEST_CASE("names_found: no lists, and lists without names, give nothing") {
    const auto names = table_of(10);
    const name_list none;
    const name_list other;
    CHECK(found_in(*names, {}).empty());
    CHECK(found_in(*names, {&none}).empty());
    CHECK(found_in(*names, {&none, &other}).empty());
    CHECK(found_in(name_table{}, {}).empty());
}

TEST_CASE("names_found: a single list, however often it comes, gives its tensors, sorted, once each") {
    const auto names = table_of(12);
    const name_list list = list_of(*names, {11, 2, 7, 2, 10}, {7, 1});
    const texts wanted{"n1", "n10", "n11", "n2", "n7"};
    CHECK(found_in(*names, {&list}) == wanted);
    CHECK(found_in(*names, {&list, &list, &list}) == wanted);
}

TEST_CASE("names_found: equal lists, and lists that share names, name each once") {
    const auto names = table_of(12);
    const name_list list = list_of(*names, {11, 2, 7});
    const name_list equal = list_of(*names, {11, 2, 7});
    const name_list overlapping = list_of(*names, {7, 3}, {10});
    const name_list apart = list_of(*names, {0});
    CHECK(found_in(*names, {&list, &equal}) == texts{"n11", "n2", "n7"});
    CHECK(found_in(*names, {&list, &overlapping}) == texts{"n10", "n11", "n2", "n3", "n7"});
    CHECK(found_in(*names, {&apart, &list, &list, &overlapping, &apart}) ==
          texts{"n0", "n10", "n11", "n2", "n3", "n7"});
    // One list several times, and the other one before, between or after.
    CHECK(found_in(*names, {&apart, &list, &list}) == texts{"n0", "n11", "n2", "n7"});
    CHECK(found_in(*names, {&list, &apart, &list}) == texts{"n0", "n11", "n2", "n7"});
    CHECK(found_in(*names, {&list, &list, &apart}) == texts{"n0", "n11", "n2", "n7"});
}

TEST_CASE("names_found: finds names with any number, however many the table has") {
    std::mt19937 random{3};
    for (const std::size_t size : {1U, 63U, 64U, 65U, 32'767U, 32'768U, 32'769U, 65'536U, 65'537U, 70'000U}) {
        CAPTURE(size);
        const auto names = table_of(size);
        std::vector<name_list> lists;
        std::set<std::string> wanted;
        const auto add = [&](const std::vector<name_id>& ids) {
            lists.push_back(list_of(*names, ids));
            for (const name_id id : ids) {
                wanted.insert((*names)[id]);
            }
        };
        const auto last = static_cast<name_id>(size - 1);
        add({last});  // alone in its window, if there are several
        add({0});
        std::vector<name_id> thirds;
        std::vector<name_id> some;
        for (name_id id = 0; id < size; ++id) {
            if (id % 3 == 1) {
                thirds.push_back(id);
            }
            if (random() % 100 == 0) {
                some.push_back(id);
            }
        }
        add(thirds);
        add(some);
        // Both sides of the end of a window.
        std::vector<name_id> edges;
        for (const name_id id : {63U, 64U, 32'767U, 32'768U, 65'535U, 65'536U}) {
            if (id < size) {
                edges.push_back(id);
            }
        }
        add(edges);
        std::vector<const name_list*> visited;
        for (const name_list& list : lists) {
            visited.push_back(&list);
        }
        texts found;
        const std::size_t allocated = allocations_of([&] { found = found_in(*names, visited); });
        CHECK(allocated == 1);
        CHECK(found == texts(wanted.begin(), wanted.end()));
    }
}

TEST_CASE("names_found: names of a few numbers, all beyond the first window") {
    const auto names = table_of(100'000);
    const name_list middle = list_of(*names, {40'000, 65'535});
    const name_list end = list_of(*names, {99'999, 65'536, 40'000});
    CHECK(found_in(*names, {&middle, &end}) == texts{"n40000", "n65535", "n65536", "n99999"});
    CHECK(found_in(*names, {&end}) == texts{"n40000", "n65536", "n99999"});
}

TEST_CASE("name_list_cache: asks about a list once while no other displaces it") {
    const name_list list;
    name_list_cache<int> memory;
    int asked = 0;
    for (int i = 0; i < 10; ++i) {
        CHECK(memory.answer(list, [&] { return 40 + ++asked; }) == 41);
    }
    CHECK(asked == 1);
    memory.answer(list, [&] { return 0; }) = 7;  // the cached answer is writable
    CHECK(memory.answer(list, [&] { return 0; }) == 7);
    name_list_cache<int> other;
    CHECK(other.answer(list, [&] { return 8; }) == 8);
}

TEST_CASE("name_list_cache: two lists that displace each other are computed again each time, others are not") {
    const std::vector<name_list> lists(40);
    // Whether a look-up of `b` evicts `a`.
    const auto displaces = [&](std::size_t a, std::size_t b) {
        name_list_cache<std::size_t> memory;
        bool again = false;
        static_cast<void>(memory.answer(lists[a], [&] { return a; }));
        static_cast<void>(memory.answer(lists[b], [&] { return b; }));
        const std::size_t answer = memory.answer(lists[a], [&] {
            again = true;
            return a;
        });
        CHECK(answer == a);
        return again;
    };
    std::size_t colliding = 0;
    std::size_t apart = 0;
    for (std::size_t a = 0; a < lists.size(); ++a) {
        for (std::size_t b = a + 1; b < lists.size(); ++b) {
            const bool collide = displaces(a, b);
            (collide ? colliding : apart) += 1;
            name_list_cache<std::size_t> memory;
            std::size_t asked = 0;
            for (int turn = 0; turn < 5; ++turn) {
                for (const std::size_t which : {a, b}) {
                    const std::size_t answer = memory.answer(lists[which], [&] {
                        ++asked;
                        return which;
                    });
                    REQUIRE(answer == which);
                }
            }
            REQUIRE(asked == (collide ? 10 : 2));
        }
    }
    CHECK(colliding > 0);  // 40 lists cannot all have separate slots
    CHECK(apart > colliding);
}

TEST_CASE("name_list_cache: many lists in any order get the right answers; consecutive repeats are computed once") {
    std::mt19937 random{23};
    const std::vector<name_list> lists(500);
    name_list_cache<std::size_t> memory;
    std::vector<bool> ever(lists.size());
    std::size_t last = lists.size();
    std::size_t asked = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        const std::size_t which = random() % 4 == 0 && last < lists.size() ? last : random() % lists.size();
        bool now = false;
        const std::size_t answer = memory.answer(lists[which], [&] {
            now = true;
            return which;
        });
        REQUIRE(answer == which);
        REQUIRE((now || ever[which]));
        REQUIRE_FALSE((now && which == last));
        ever[which] = true;
        last = which;
        asked += now ? 1U : 0U;
    }
    CHECK(asked >= lists.size());
}

// --- in a catalog: the answers and what they cost --------------------------------------------------------------------

namespace {

/// Loads steps into a catalog and notes what its answers should be.
struct filled {
    catalog run;
    loader_cache memory;
    std::vector<written_step> steps;

    explicit filled(std::size_t workers = 1) {
        run.job = std::make_shared<const catalog::job_description>(
            catalog::job_description{.collections = {}, .collection_workers = {}, .num_workers = workers});
    }
    void add(step_number step, const texts& names, mode in, const std::string& worker = "worker_0",
             std::size_t elements = 1) {
        written_step made{.step = step, .tensors = {}, .mode = in, .mode_step = step, .worker = worker};
        for (const std::string& name : names) {
            made.tensors.push_back(tensor_of<std::uint8_t>(name, std::vector<std::uint8_t>(elements, 1)));
        }
        steps.push_back(std::move(made));
    }
    void load() {
        catalog_builder builder{run, memory};
        for (const written_step& step : steps) {
            const std::string text = index_text(step, encode_events(step).places,
                                                smdebug::detail::locations::event_key(step.step, step.worker));
            REQUIRE_FALSE(builder.add(step.step, step.worker, as_bytes(text)).has_value());
        }
        run = std::move(builder).finish(1000, false);
    }

    /// The names in all files for which `counts` is true, sorted.
    template <class Counts>
    texts names_in(Counts&& counts) const {
        std::set<std::string> found;
        for (const written_step& step : steps) {
            for (const written_tensor& tensor : step.tensors) {
                if (counts(step)) {
                    found.insert(tensor.name);
                }
            }
        }
        return {found.begin(), found.end()};
    }
    std::vector<step_number> steps_with(const std::string& name, mode which) const {
        std::set<step_number> found;
        for (const written_step& step : steps) {
            for (const written_tensor& tensor : step.tensors) {
                if (tensor.name == name && (which == mode::global || step.mode == which)) {
                    found.insert(step.step);
                }
            }
        }
        return {found.begin(), found.end()};
    }
};

/// A result: one allocation, and one for each name that does not fit inside its string.
void check_names(const texts& found, std::size_t allocated, const texts& wanted) {
    const auto on_heap = std::count_if(wanted.begin(), wanted.end(), [](const auto& text) { return text.size() > 15; });
    CHECK(found == wanted);
    CHECK(allocated == (wanted.empty() ? 0 : 1 + static_cast<std::size_t>(on_heap)));
}

/// Checks the catalog's tensor names, and that nothing but the results is allocated.
void check_answers(const filled& held) {
    for (const mode which : {mode::global, mode::train, mode::eval, mode::predict}) {
        CAPTURE(name_of(which));
        texts found;
        const std::size_t allocated = allocations_of([&] { found = held.run.tensor_names(which); });
        check_names(found, allocated, held.names_in([&](const written_step& step) {
            return which == mode::global || step.mode == which;
        }));
    }
    for (const catalog::step_entry& at : held.run.steps) {
        CAPTURE(at.step);
        texts found;
        const std::size_t allocated = allocations_of([&] { found = held.run.tensor_names_at(at); });
        check_names(found, allocated, held.names_in([&](const written_step& step) { return step.step == at.step; }));
    }
    for (const std::string& name : held.names_in([](const written_step&) { return true; })) {
        CAPTURE(name);
        const auto id = held.run.find_tensor(name);
        REQUIRE(id.has_value());
        for (const mode which : {mode::global, mode::train, mode::eval}) {
            CAPTURE(name_of(which));
            std::vector<step_number> found;
            const std::size_t allocated = allocations_of([&] { found = held.run.tensor_steps(*id, which, true); });
            CHECK(found == held.steps_with(name, which));
            CHECK(allocated == (held.run.steps_of(which, true).empty() ? 0 : 1));
        }
    }
}

texts short_names(std::size_t first, std::size_t count) {
    texts made;
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back("tensor_" + std::to_string(first + i));
    }
    return made;
}

texts long_names(std::size_t first, std::size_t count) {
    texts made;
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back("a/long/scope/with/tensor_" + std::to_string(first + i));
    }
    return made;
}

}  // namespace

TEST_CASE("allocations: what a thread allocates is counted, and what it keeps inside of itself is not") {
    texts found;
    CHECK(allocations_of([&] { found.reserve(2); }) == 1);
    CHECK(allocations_of([&] { found.push_back("fifteen letters"); }) == 0);
    CHECK(allocations_of([&] { found.push_back("sixteen letters!"); }) == 1);
    CHECK(allocations_of([&] { found.push_back("fifteen letters"); }) == 1);  // grows
    CHECK(found.size() == 3);
}

TEST_CASE("names_found: a catalog allocates its answers and nothing else when every step has the same names") {
    for (const bool heap : {false, true}) {
        CAPTURE(heap);
        filled held;
        for (step_number step = 200; step < 280; ++step) {
            held.add(step, heap ? long_names(0, 20) : short_names(0, 20), mode::train);
        }
        held.load();
        REQUIRE(held.run.layouts.size() == 1);
        check_answers(held);
    }
}

TEST_CASE("names_found: a catalog allocates its answers and nothing else when every layout has places of its own") {
    for (const bool heap : {false, true}) {
        CAPTURE(heap);
        filled held;
        for (step_number step = 0; step < 80; ++step) {
            held.add(step, heap ? long_names(0, 20) : short_names(0, 20), mode::train, "worker_0",
                     static_cast<std::size_t>(step) + 1);
        }
        held.load();
        REQUIRE(held.run.layouts.size() == 80);
        REQUIRE(held.run.name_lists.size() == 1);
        check_answers(held);
    }
}

TEST_CASE("names_found: a catalog allocates its answers and nothing else when modes take turns") {
    for (const bool heap : {false, true}) {
        CAPTURE(heap);
        filled held;
        for (step_number step = 200; step < 280; ++step) {
            const std::size_t first = step % 2 == 0 ? 0 : 15;
            held.add(step, heap ? long_names(first, 20) : short_names(first, 20),
                     step % 2 == 0 ? mode::train : mode::eval);
        }
        held.load();
        REQUIRE(held.run.name_lists.size() == 2);
        check_answers(held);
    }
}

TEST_CASE("names_found: a catalog allocates its answers and nothing else for workers with names of their own") {
    for (const bool heap : {false, true}) {
        CAPTURE(heap);
        filled held{16};
        for (step_number step = 200; step < 210; ++step) {
            for (std::size_t worker = 0; worker < 16; ++worker) {
                const std::size_t first = worker * 3;
                held.add(step, heap ? long_names(first, 5) : short_names(first, 5), mode::train,
                         "worker_" + std::to_string(worker + 10));
            }
        }
        held.load();
        REQUIRE(held.run.name_lists.size() == 16);
        REQUIRE(held.run.file_count == 160);
        check_answers(held);
    }
}

TEST_CASE("names_found: a catalog allocates its answers and nothing else when every step has names of its own") {
    filled held;
    for (step_number step = 0; step < 100; ++step) {  // more lists than a name_list_cache holds
        held.add(step, short_names(static_cast<std::size_t>(step), 3), step % 3 == 0 ? mode::eval : mode::train);
    }
    held.load();
    REQUIRE(held.run.name_lists.size() == 100);
    check_answers(held);
}
