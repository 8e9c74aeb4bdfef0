#include <smdebug/core/sorted_blocks.hpp>

#include "support/test.hpp"

using smdebug::detail::shared_list;

namespace {

std::vector<int> numbers(std::size_t count, int first = 0) {
    std::vector<int> made(count);
    std::iota(made.begin(), made.end(), first);
    return made;
}

template <class T>
std::vector<T> elements_of(const shared_list<T>& list) {
    std::vector<T> found;
    list.for_each([&](const T& element) { found.push_back(element); });
    return found;
}

// The same by for_each, by index, at its end and in its size.
template <class T>
bool holds(const shared_list<T>& list, const std::vector<T>& wanted) {
    bool same = list.size() == wanted.size() && list.empty() == wanted.empty() && elements_of(list) == wanted;
    for (std::size_t i = 0; same && i < wanted.size(); ++i) {
        same = list[i] == wanted[i];
    }
    return same && (wanted.empty() || list.back() == wanted.back());
}

template <class T>
std::vector<const T*> addresses_of(const shared_list<T>& list) {
    std::vector<const T*> found;
    list.for_each([&](const T& element) { found.push_back(&element); });
    return found;
}

// Counts all copies of its kind.
struct counting {
    static inline int copies = 0;
    int value = 0;

    explicit counting(int number) : value(number) {}
    counting(const counting& other) : value(other.value) { ++copies; }
    counting(counting&&) noexcept = default;
    counting& operator=(const counting& other) {
        value = other.value;
        ++copies;
        return *this;
    }
    counting& operator=(counting&&) noexcept = default;
    ~counting() = default;
};

std::vector<counting> counted(int count) {
    std::vector<counting> made;
    for (int i = 0; i < count; ++i) {
        made.emplace_back(i);
    }
    return made;
}

}  // namespace

TEST_CASE("shared_list: an empty one holds nothing and costs nothing") {
    const shared_list<int> none;
    CHECK(holds(none, {}));
    CHECK(none.memory() == 0);
    const shared_list<int> still = none.with({});
    CHECK(holds(still, {}));
    CHECK(still.memory() == 0);
    CHECK(holds(shared_list<int>{std::vector<int>{}}, {}));
}

TEST_CASE("shared_list: is made from a vector of any size, across piece boundaries") {
    for (const std::size_t size : {1U, 255U, 256U, 257U, 511U, 512U, 513U, 767U, 768U, 769U, 5000U}) {
        CAPTURE(size);
        CHECK(holds(shared_list<int>{numbers(size)}, numbers(size)));
    }
}

TEST_CASE("shared_list: with() appends any number to any number, and leaves its list unchanged") {
    for (const std::size_t first : {0U, 1U, 255U, 256U, 257U, 511U, 512U, 513U}) {
        const shared_list<int> before{numbers(first)};
        for (const std::size_t more : {0U, 1U, 2U, 254U, 255U, 256U, 257U, 511U, 512U, 513U, 1000U}) {
            CAPTURE(first);
            CAPTURE(more);
            CHECK(holds(before.with(numbers(more, static_cast<int>(first))), numbers(first + more)));
            CHECK(holds(before, numbers(first)));
        }
    }
}

TEST_CASE("shared_list: two lists that grow from one do not see each other's elements") {
    const shared_list<std::string> trunk{std::vector<std::string>(300, "trunk")};
    const shared_list<std::string> left = trunk.with({"left", "left"});
    const shared_list<std::string> right = trunk.with({"right"});
    REQUIRE(left.size() == 302);
    REQUIRE(right.size() == 301);
    CHECK(left[300] == "left");
    CHECK(right[300] == "right");
    CHECK(holds(trunk, std::vector<std::string>(300, "trunk")));
}

TEST_CASE("shared_list: grows like a vector, in steps of any size, and every copy keeps its elements") {
    std::mt19937 random{11};
    for (int round = 0; round < 20; ++round) {
        std::vector<int> model;
        shared_list<int> list;
        std::vector<std::pair<shared_list<int>, std::size_t>> copies;
        while (model.size() < 3000) {
            const std::size_t most = std::vector<std::size_t>{1, 3, 40, 256, 700}[random() % 5];
            const std::vector<int> others = numbers(random() % (most + 1), static_cast<int>(model.size()) * 3);
            model.insert(model.end(), others.begin(), others.end());
            list = list.with(others);
            REQUIRE(holds(list, model));
            copies.emplace_back(list, model.size());
        }
        for (const auto& [copy, size] : copies) {
            const std::vector<int> wanted{model.begin(), model.begin() + static_cast<std::ptrdiff_t>(size)};
            REQUIRE(holds(copy, wanted));
        }
    }
}

TEST_CASE("shared_list: in a copy all elements are those of the original") {
    const shared_list<int> list{numbers(700)};
    const shared_list<int> copy = list;  // NOLINT: the copy is the point
    CHECK(addresses_of(copy) == addresses_of(list));
    CHECK(&copy[699] == &list[699]);
    CHECK(addresses_of(list.with({})) == addresses_of(list));
}

TEST_CASE("shared_list: elements of full pieces do not move while the list grows, and outlive the first list") {
    auto list = std::make_unique<shared_list<int>>(numbers(700));
    const std::vector<const int*> before = addresses_of(*list);
    const shared_list<int> longer = list->with(numbers(2000, 700));
    list.reset();
    const std::vector<const int*> after = addresses_of(longer);
    REQUIRE(after.size() == 2700);
    CHECK(std::equal(before.begin(), before.begin() + 512, after.begin()));
    CHECK(holds(longer, numbers(2700)));

    const shared_list<int> whole{numbers(512)};
    const std::vector<const int*> all = addresses_of(whole.with({7}));
    CHECK(std::equal(all.begin(), all.begin() + 512, addresses_of(whole).begin()));  // the last piece was full, too
}

TEST_CASE("shared_list: growing copies the elements of a last piece that is not full, and moves new ones in") {
    const shared_list<counting> list{counted(300)};
    counting::copies = 0;
    shared_list<counting> longer = list.with(counted(500));
    CHECK(counting::copies == 300 - 256);
    CHECK(longer[799].value == 499);
    counting::copies = 0;
    longer = longer.with(counted(224));  // 1024: the last piece becomes full
    CHECK(counting::copies == 800 - 768);
    counting::copies = 0;
    longer = longer.with(counted(1));
    CHECK(counting::copies == 0);
    const shared_list<counting> copy = longer;  // NOLINT: the copy is the point
    CHECK(copy.size() == 1025);
    CHECK(counting::copies == 0);
    const shared_list<counting> made{counted(1000)};
    CHECK(made.size() == 1000);
    CHECK(counting::copies == 0);
}

TEST_CASE("shared_list: lists that share a piece hold its elements once, until the last list ends") {
    std::vector<std::shared_ptr<int>> owners;
    for (int i = 0; i < 300; ++i) {
        owners.push_back(std::make_shared<int>(i));
    }
    {
        const shared_list<std::shared_ptr<int>> list{owners};
        CHECK(owners[0].use_count() == 2);
        CHECK(owners[299].use_count() == 2);
        {
            const shared_list<std::shared_ptr<int>> copy = list;  // NOLINT: the copy is the point
            CHECK(copy.back() == owners[299]);
            CHECK(owners[0].use_count() == 2);
            CHECK(owners[299].use_count() == 2);
            auto added = std::make_shared<int>(300);
            const std::weak_ptr<int> watch = added;
            std::vector<std::shared_ptr<int>> others;
            others.push_back(std::move(added));
            const shared_list<std::shared_ptr<int>> longer = copy.with(std::move(others));
            CHECK(watch.use_count() == 1);        // moved in
            CHECK(owners[255].use_count() == 2);  // the full piece is shared
            CHECK(owners[256].use_count() == 3);  // the last piece exists twice
            CHECK(longer[256].get() == list[256].get());
        }
        CHECK(owners[256].use_count() == 2);
    }
    const auto alone = [](const std::shared_ptr<int>& owner) { return owner.use_count() == 1; };
    CHECK(std::all_of(owners.begin(), owners.end(), alone));
}

TEST_CASE("shared_list: its memory is little more than its elements, however it has grown") {
    const std::size_t count = 10'000;
    shared_list<int> one_by_one;
    for (std::size_t i = 0; i < count; ++i) {
        one_by_one = one_by_one.with({static_cast<int>(i)});
    }
    const shared_list<int> at_once{numbers(count)};
    for (const auto* list : {&std::as_const(one_by_one), &at_once}) {
        CHECK(list->memory() >= count * sizeof(int));
        CHECK(list->memory() < count * sizeof(int) * 3 / 2);
    }
    const std::size_t before = at_once.memory();
    CHECK(at_once.with(numbers(1000)).memory() >= before + 900 * sizeof(int));
    CHECK(at_once.memory() == before);
    // Memory owned by the elements does not count.
    CHECK(shared_list<std::string>{{std::string(10'000, 'x')}}.memory() < 1000);
}
