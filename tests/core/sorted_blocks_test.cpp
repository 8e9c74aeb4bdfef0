#include <smdebug/core/sorted_blocks.hpp>

#include "support/test.hpp"

using smdebug::detail::sorted_blocks;

namespace {

struct entry {
    std::int64_t key = 0;
    std::int64_t value = 0;
    friend bool operator==(const entry&, const entry&) = default;
};
struct key_of_entry {
    std::int64_t operator()(const entry& held) const noexcept { return held.key; }
};
using entries = sorted_blocks<entry, key_of_entry>;
using model = std::map<std::int64_t, std::int64_t>;

struct key_of_text {
    std::string_view operator()(const std::string& text) const noexcept { return text; }
};
using texts = sorted_blocks<std::string, key_of_text>;

static_assert(std::forward_iterator<entries::iterator>);
static_assert(std::is_same_v<std::iter_reference_t<entries::iterator>, const entry&>, "what is held does not change");
static_assert(std::is_same_v<entries::key_type, std::int64_t>);
static_assert(std::is_same_v<texts::key_type, std::string_view>);

// Counts all copies of its kind.
struct counting {
    static inline int copies = 0;
    int key = 0;

    explicit counting(int number) : key(number) {}
    counting(const counting& other) : key(other.key) { ++copies; }
    counting(counting&&) noexcept = default;
    counting& operator=(const counting& other) {
        key = other.key;
        ++copies;
        return *this;
    }
    counting& operator=(counting&&) noexcept = default;
    ~counting() = default;
};
struct key_of_counting {
    int operator()(const counting& held) const noexcept { return held.key; }
};
using counting_blocks = sorted_blocks<counting, key_of_counting>;

// count entries whose keys are first, first + stride, ...; the value is the key's negative.
std::vector<entry> run_of(std::size_t count, std::int64_t first, std::int64_t stride) {
    std::vector<entry> made;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t key = first + static_cast<std::int64_t>(i) * stride;
        made.push_back({key, -key});
    }
    return made;
}

bool holds(const entries& held, const model& wanted) {
    const bool ends_fit = wanted.empty() || (held.front() == entry{wanted.begin()->first, wanted.begin()->second} &&
                                             held.back() == entry{wanted.rbegin()->first, wanted.rbegin()->second});
    return ends_fit && held.size() == wanted.size() && held.empty() == wanted.empty() &&
           std::equal(held.begin(), held.end(), wanted.begin(), wanted.end(),
                      [](const entry& a, const auto& b) { return a.key == b.first && a.value == b.second; });
}

// Looks for a key as the map does.
bool finds(const entries& held, const model& wanted, std::int64_t key) {
    const auto lower = held.lower_bound(key);
    const auto wanted_lower = wanted.lower_bound(key);
    if ((lower == held.end()) != (wanted_lower == wanted.end()) ||
        (lower != held.end() && lower->key != wanted_lower->first)) {
        return false;
    }
    const entry* found = held.find(key);
    const auto wanted_found = wanted.find(key);
    return wanted_found == wanted.end()
               ? found == nullptr
               : found != nullptr && found == &*lower && found->key == key && found->value == wanted_found->second;
}

// The sum of both, depending on their order.
std::int64_t combined_value(std::int64_t known, std::int64_t other) { return (known * 31 + other) % 1'000'003; }

// How many elements of `before` have moved.
std::size_t moved(const entries& before, const entries& after) {
    std::size_t count = 0;
    for (const entry& held : before) {
        count += after.find(held.key) == &held ? 0U : 1U;
    }
    return count;
}

// Changes keys like a random load: after the last, before the first, anywhere, known ones, or none.
std::vector<entry> random_batch(std::mt19937& random, const model& known) {
    std::set<std::int64_t> keys;
    const auto below = [&](std::int64_t end) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(end));
    };
    const std::int64_t first = known.empty() ? 0 : known.begin()->first;
    const std::int64_t last = known.empty() ? 0 : known.rbegin()->first;
    const std::size_t count = static_cast<std::size_t>(below(std::vector<std::int64_t>{2, 6, 60, 900}[random() % 4]));
    const auto kind = random() % 6;
    for (std::size_t i = 0; i < count; ++i) {
        switch (kind == 5 ? random() % 5 : kind) {
            case 0:
                keys.insert(last + 1 + below(2000));
                break;
            case 1:
                keys.insert(first - 1 - below(2000));
                break;
            case 2:
                keys.insert(first + below(last - first + 1));
                break;
            case 3:
                if (const auto at = known.lower_bound(first + below(last - first + 1)); at != known.end()) {
                    keys.insert(at->first);
                }
                break;
            default:  // close together, in the middle
                keys.insert((first + last) / 2 + below(1000));
        }
    }
    std::vector<entry> made;
    for (const std::int64_t key : keys) {
        made.push_back({key, static_cast<std::int64_t>(random() % 1000)});
    }
    return made;
}

}  // namespace

TEST_CASE("sorted_blocks: an empty one has no elements and finds none") {
    const entries none;
    CHECK(holds(none, {}));
    CHECK(none.begin() == none.end());
    CHECK(none.lower_bound(0) == none.end());
    CHECK(none.find(0) == nullptr);
    CHECK(none.memory() == 0);
    CHECK(holds(none.with({}), {}));
    CHECK(holds(entries{std::vector<entry>{}}, {}));
    CHECK(entries::iterator{} == entries::iterator{});
}

TEST_CASE("sorted_blocks: is made from any number of sorted elements") {
    for (const std::size_t size : {1U, 2U, 255U, 256U, 257U, 511U, 512U, 513U, 5000U}) {
        CAPTURE(size);
        model wanted;
        for (const entry& made : run_of(size, -50, 3)) {
            wanted.emplace(made.key, made.value);
        }
        CHECK(holds(entries{run_of(size, -50, 3)}, wanted));
    }
}

TEST_CASE("sorted_blocks: finds every present key, and for others the place where they would be") {
    const std::vector<entry> made = run_of(3000, 0, 3);
    model wanted;
    for (const entry& held : made) {
        wanted.emplace(held.key, held.value);
    }
    entries grown;  // in blocks of all sizes
    for (std::size_t turn = 0; turn < 7; ++turn) {
        std::vector<entry> part;
        for (std::size_t i = turn; i < made.size(); i += 7) {
            part.push_back(made[i]);
        }
        grown = grown.with(std::move(part));
    }
    for (const entries& held : {entries{made}, grown}) {
        REQUIRE(holds(held, wanted));
        std::size_t wrong = 0;
        for (std::int64_t key = -5; key < 9005; ++key) {
            wrong += finds(held, wanted, key) ? 0U : 1U;
        }
        CHECK(wrong == 0);
        CHECK(held.lower_bound(-5) == held.begin());
        CHECK(held.lower_bound(INT64_MIN) == held.begin());
        CHECK(held.lower_bound(8998) == held.end());
        CHECK(held.lower_bound(INT64_MAX) == held.end());
        CHECK(held.find(8997) == &held.back());
        CHECK(held.find(0) == &held.front());
    }
}

TEST_CASE("sorted_blocks: an iterator equals only those at its place, and continues from there") {
    const entries held{run_of(600, 0, 1)};
    std::int64_t key = 0;
    entries::iterator walked = held.begin();
    for (; walked != held.end(); ++key) {
        REQUIRE(walked == held.lower_bound(key));
        REQUIRE(walked != held.lower_bound(key + 1));
        const entries::iterator before = walked++;
        REQUIRE(before->key == key);
        REQUIRE(before == held.lower_bound(key));
    }
    CHECK(key == 600);
    CHECK(std::distance(held.lower_bound(255), held.end()) == 345);
    CHECK(std::distance(held.lower_bound(256), held.lower_bound(512)) == 256);
    const entries other{run_of(600, 0, 1)};
    CHECK(other.begin() != held.begin());
    CHECK(other.end() != held.end());
}

TEST_CASE("sorted_blocks: equals a map after any batches, and older copies are unchanged") {
    std::mt19937 random{5};
    std::size_t combined = 0;
    for (int round = 0; round < 60; ++round) {
        model wanted;
        entries held;
        std::vector<std::pair<entries, model>> old;
        for (int step = 0; step < 60; ++step) {
            const std::vector<entry> batch = random_batch(random, wanted);
            if (random() % 8 == 0) {
                old.emplace_back(held, wanted);
            }
            const entries before = held;
            std::vector<std::int64_t> met;
            bool both_right = true;
            held = before.with(batch, [&](const entry& known, entry&& other) {
                met.push_back(known.key);
                both_right = both_right && before.find(known.key) == &known && known.key == other.key;
                return entry{known.key, combined_value(known.value, other.value)};
            });
            std::vector<std::int64_t> known_keys;
            for (const entry& other : batch) {
                const auto [at, fresh] = wanted.emplace(other.key, other.value);
                if (!fresh) {
                    known_keys.push_back(other.key);
                    at->second = combined_value(at->second, other.value);
                }
            }
            REQUIRE(met == known_keys);
            REQUIRE(both_right);
            REQUIRE(holds(held, wanted));
            combined += met.size();
            for (const entry& other : batch) {
                REQUIRE((finds(held, wanted, other.key - 1) && finds(held, wanted, other.key) &&
                         finds(held, wanted, other.key + 1)));
            }
        }
        for (const auto& [copy, then] : old) {
            REQUIRE(holds(copy, then));
        }
    }
    CHECK(combined > 10'000);  // the batches do contain known keys
}

TEST_CASE("sorted_blocks: without a combine function, known elements stay") {
    const texts names = texts{{"a", "c"}}.with({"a", "b", "c", "d"});
    CHECK(std::vector<std::string>(names.begin(), names.end()) == std::vector<std::string>{"a", "b", "c", "d"});
    const entries held = entries{{{1, 10}, {3, 30}}}.with({{1, 11}, {2, 21}, {3, 31}, {4, 41}});
    CHECK(holds(held, {{1, 10}, {2, 21}, {3, 30}, {4, 41}}));
}

TEST_CASE("sorted_blocks: keys can be texts owned by the elements") {
    texts names;
    for (int i = 0; i < 2000; ++i) {
        names = names.with({"name " + std::to_string(i * 7919 % 2000)});
    }
    REQUIRE(names.size() == 2000);
    CHECK(std::is_sorted(names.begin(), names.end()));
    REQUIRE(names.find("name 1234") != nullptr);
    CHECK(*names.find("name 1234") == "name 1234");
    CHECK(names.find("name 2000") == nullptr);
    CHECK(*names.lower_bound("name 2000") == "name 201");
}

TEST_CASE("sorted_blocks: combine is called once for each known key, with the present element, and for no other") {
    const entries held{run_of(1000, 0, 2)};
    std::vector<std::pair<entry, entry>> calls;
    const auto combine = [&](const entry& known, entry&& other) {
        calls.emplace_back(known, other);
        return entry{known.key, 7};
    };
    const entries more =
        held.with({{-1, 1}, {0, 2}, {1, 3}, {510, 4}, {511, 5}, {512, 6}, {1998, 8}, {1999, 9}, {2000, 10}}, combine);
    CHECK(calls == std::vector<std::pair<entry, entry>>{
                       {{0, 0}, {0, 2}}, {{510, -510}, {510, 4}}, {{512, -512}, {512, 6}}, {{1998, -1998}, {1998, 8}}});
    CHECK(more.size() == 1005);
    CHECK(more.find(512)->value == 7);
    CHECK(more.find(511)->value == 5);
    calls.clear();
    CHECK(held.with({}, combine).size() == 1000);
    CHECK(held.with({{-3, 0}, {3, 0}, {3000, 0}}, combine).size() == 1003);
    CHECK(calls.empty());
}

TEST_CASE("sorted_blocks: a copy shares the original's elements in place, and keeps them alive") {
    auto held = std::make_unique<entries>(run_of(1000, 0, 2));
    const entries copy = *held;
    CHECK(moved(*held, copy) == 0);
    CHECK(moved(*held, held->with({})) == 0);
    const entry* const middle = held->find(500);
    held.reset();
    CHECK(copy.find(500) == middle);
    CHECK(middle->value == -500);
}

TEST_CASE("sorted_blocks: with() moves only the elements of blocks that it changes") {
    const std::size_t block = 256;
    const entries held{run_of(10 * block, 0, 2)};
    CHECK(moved(held, held.with({{9999, 1}})) == 0);               // after a full last block
    CHECK(moved(held, held.with(run_of(1000, 9999, 1))) == 0);     // and much of it
    CHECK(moved(held, held.with({{-1, 1}})) == block);             // at the front
    CHECK(moved(held, held.with({{2561, 1}})) == block);           // in the middle
    CHECK(moved(held, held.with(run_of(200, 2049, 2))) == block);  // many in one block
    CHECK(moved(held, held.with({{1, 1}, {3, 1}, {2561, 1}})) == 2 * block);
    CHECK(moved(held, held.with({{0, 1}}, [](const entry& a, entry&&) { return a; })) == block);
    CHECK(moved(held, held.with({{1, 1}, {9999, 1}})) == block);
    const entries part{run_of(3 * block + 10, 0, 2)};
    CHECK(moved(part, part.with({{9999, 1}})) == 10);
}

TEST_CASE("sorted_blocks: new elements are moved in, and known ones are copied only with their block") {
    std::vector<counting> first;
    for (int i = 0; i < 512; ++i) {
        first.emplace_back(2 * i);
    }
    std::vector<counting> others;
    for (const int key : {-1, 3, 100, 5000}) {  // three in the first block, one of them known
        others.emplace_back(key);
    }
    counting::copies = 0;
    const counting_blocks held{std::move(first)};
    CHECK(counting::copies == 0);
    const counting_blocks more =
        held.with(std::move(others), [](const counting&, counting&& other) { return counting{other.key}; });
    CHECK(counting::copies == 255);
    CHECK(more.size() == 515);
    const counting_blocks copy = more;  // NOLINT: the copy is the point
    CHECK(copy.size() == 515);
    CHECK(counting::copies == 255);
}

TEST_CASE("sorted_blocks: copies that share a block hold its elements once, until the last copy ends") {
    struct owning {
        int key;
        std::shared_ptr<int> owner;
    };
    struct key_of_owning {
        int operator()(const owning& held) const noexcept { return held.key; }
    };
    std::vector<std::shared_ptr<int>> owners;
    std::vector<owning> first;
    for (int i = 0; i < 512; ++i) {
        owners.push_back(std::make_shared<int>(i));
        first.push_back({2 * i, owners.back()});
    }
    {
        const sorted_blocks<owning, key_of_owning> held{std::move(first)};
        CHECK(owners[0].use_count() == 2);
        {
            const auto more = held.with({{3, nullptr}});
            CHECK(owners[255].use_count() == 3);
            CHECK(owners[256].use_count() == 2);
            CHECK(more.find(4)->owner == owners[2]);
        }
        CHECK(owners[255].use_count() == 2);
    }
    CHECK(owners[0].use_count() == 1);
    CHECK(owners[511].use_count() == 1);
}

TEST_CASE("sorted_blocks: blocks stay full enough, wherever elements are added one at a time") {
    const std::int64_t count = 25'000;
    const auto enough = [&](const entries& held) {
        const std::size_t size = static_cast<std::size_t>(count) * sizeof(entry);
        CHECK(held.size() == static_cast<std::size_t>(count));
        CHECK(held.memory() >= size);
        CHECK(held.memory() < size * 5 / 4);
        CHECK(std::is_sorted(held.begin(), held.end(), [](const entry& a, const entry& b) { return a.key < b.key; }));
    };
    entries held;
    SUBCASE("at the end") {
        for (std::int64_t i = 0; i < count; ++i) {
            held = held.with({{i, i}});
        }
        enough(held);
    }
    SUBCASE("at the front") {
        for (std::int64_t i = 0; i < count; ++i) {
            held = held.with({{-i, i}});
        }
        enough(held);
    }
    SUBCASE("from both ends to the middle") {
        for (std::int64_t i = 0; i < count; ++i) {
            held = held.with({{i % 2 == 0 ? i : 2 * count - i, i}});
        }
        enough(held);
    }
    SUBCASE("anywhere") {
        for (std::int64_t i = 0; i < count; ++i) {
            held = held.with({{i * 61'981 % count, i}});
        }
        enough(held);
    }
}

TEST_CASE("sorted_blocks: batches of known keys do not make it grow indefinitely") {
    const std::size_t count = 10'000;
    entries held{run_of(count, 0, 1)};
    for (int turn = 0; turn < 5; ++turn) {
        held = held.with(run_of(count, 0, 1));
    }
    CHECK(held.size() == count);
    CHECK(held.memory() < 3 * count * sizeof(entry));
}
