#include <smdebug/trial/catalog/catalog_builder.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr std::size_t most_bytes = 16 * mebibyte;

/// A payload of some size, different for each number.
std::string payload_of(std::uint32_t number, std::size_t size = 200) {
    std::string made = std::to_string(number) + ":";
    made.resize(size, '.');
    return made;
}

/// Which of the first `count` payloads are cached.  A look-up counts as use: call this once, at the end.
std::vector<std::uint32_t> left_in(payload_cache& cache, std::uint32_t count, std::size_t size = 200) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 0; number < count; ++number) {
        if (const auto layout = cache.find(0, as_bytes(payload_of(number, size)))) {
            CHECK(*layout == number);
            found.push_back(number);
        }
    }
    return found;
}

std::vector<std::uint32_t> range(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> made;
    for (std::uint32_t number = begin; number < end; ++number) {
        made.push_back(number);
    }
    return made;
}

std::shared_ptr<const name_list> list_of(std::vector<recorded_item> items, std::vector<name_id> shapes = {}) {
    return std::make_shared<const name_list>(std::move(items), std::move(shapes),
                                             [](std::vector<name_id>& ids) { std::sort(ids.begin(), ids.end()); });
}

std::vector<recorded_item> items_of(name_id name) { return {{.name = name}, {.name = name + 1, .kind = 3}}; }

}  // namespace

TEST_CASE("payload_cache: an empty one finds nothing") {
    payload_cache cache;
    CHECK_FALSE(cache.find(0, as_bytes("")).has_value());
    CHECK_FALSE(cache.find(7, as_bytes("a")).has_value());
}

TEST_CASE("payload_cache: finds equal bytes, whichever worker wrote them") {
    payload_cache cache;
    cache.remember(0, as_bytes(payload_of(1)), 11);
    cache.remember(1, as_bytes(payload_of(2)), 12);
    const std::string copy = payload_of(1);
    CHECK(cache.find(0, as_bytes(copy)) == 11U);
    CHECK(cache.find(1, as_bytes(copy)) == 11U);
    CHECK(cache.find(1, as_bytes(copy)) == 11U);  // now the worker's last one
    CHECK(cache.find(1, as_bytes(payload_of(2))) == 12U);
    CHECK(cache.find(999, as_bytes(payload_of(2))) == 12U);
    CHECK_FALSE(cache.find(0, as_bytes(payload_of(3))).has_value());
}

TEST_CASE("payload_cache: compares bytes, not addresses") {
    payload_cache cache;
    std::string bytes = payload_of(1);
    cache.remember(0, as_bytes(bytes), 11);
    std::fill(bytes.begin(), bytes.end(), 'x');
    CHECK_FALSE(cache.find(0, as_bytes(bytes)).has_value());
    CHECK(cache.find(0, as_bytes(payload_of(1))) == 11U);
}

TEST_CASE("payload_cache: distinguishes payloads of one size wherever they differ") {
    for (const std::size_t size : {1U, 2U, 63U, 64U, 65U, 127U, 128U, 129U, 1000U}) {
        payload_cache cache;
        const std::string held(size, 'a');
        cache.remember(0, as_bytes(held), 5);
        CAPTURE(size);
        CHECK(cache.find(0, as_bytes(std::string(size, 'a'))) == 5U);
        std::size_t wrong = 0;
        for (std::size_t place = 0; place < size; ++place) {
            std::string other = held;
            other[place] = 'b';
            wrong += cache.find(0, as_bytes(other)).has_value() ? 1U : 0U;
            wrong += cache.find(1, as_bytes(other)).has_value() ? 1U : 0U;
        }
        CHECK(wrong == 0);
        CHECK_FALSE(cache.find(0, as_bytes(held + "a")).has_value());
        CHECK_FALSE(cache.find(0, as_bytes(held.substr(1))).has_value());
    }
}

TEST_CASE("payload_cache: distinguishes payloads with the same tail, the same head, and both") {
    payload_cache cache;
    const std::string same(100, '=');
    cache.remember(0, as_bytes("a" + same), 1);
    cache.remember(0, as_bytes("b" + same), 2);
    cache.remember(0, as_bytes(same + "a"), 3);
    cache.remember(0, as_bytes(same + "b"), 4);
    cache.remember(0, as_bytes(same + "a" + same), 5);
    cache.remember(0, as_bytes(same + "b" + same), 6);
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
        CHECK(cache.find(worker, as_bytes("a" + same)) == 1U);
        CHECK(cache.find(worker, as_bytes("b" + same)) == 2U);
        CHECK(cache.find(worker, as_bytes(same + "a")) == 3U);
        CHECK(cache.find(worker, as_bytes(same + "b")) == 4U);
        CHECK(cache.find(worker, as_bytes(same + "a" + same)) == 5U);
        CHECK(cache.find(worker, as_bytes(same + "b" + same)) == 6U);
        CHECK_FALSE(cache.find(worker, as_bytes("c" + same)).has_value());
        CHECK_FALSE(cache.find(worker, as_bytes(same + "c")).has_value());
        CHECK_FALSE(cache.find(worker, as_bytes(same + "c" + same)).has_value());
    }
}

TEST_CASE("payload_cache: an empty payload is one like any other") {
    payload_cache cache;
    cache.remember(0, as_bytes("x"), 1);
    CHECK_FALSE(cache.find(0, {}).has_value());
    cache.remember(0, {}, 2);
    CHECK(cache.find(0, {}) == 2U);
    CHECK(cache.find(0, as_bytes("")) == 2U);
    CHECK(cache.find(0, as_bytes("x")) == 1U);
}

TEST_CASE("payload_cache: holds 8 payloads and 2 more for each worker, and drops the least recently used") {
    for (const std::uint32_t workers : {1U, 2U, 16U}) {
        CAPTURE(workers);
        payload_cache cache;
        const std::uint32_t room = 8 + 2 * workers;
        cache.remember(workers - 1, as_bytes(payload_of(0)), 0);
        for (std::uint32_t number = 1; number < room; ++number) {
            cache.remember(0, as_bytes(payload_of(number)), number);
        }
        REQUIRE(cache.find(0, as_bytes(payload_of(0))) == 0U);  // used: no longer the oldest
        cache.remember(0, as_bytes(payload_of(room)), room);
        std::vector<std::uint32_t> wanted = range(0, room + 1);
        wanted.erase(wanted.begin() + 1);
        CHECK(left_in(cache, room + 1) == wanted);
    }
}

TEST_CASE("payload_cache: a worker that comes later makes room for two more") {
    payload_cache cache;
    for (std::uint32_t number = 0; number < 20; ++number) {
        cache.remember(0, as_bytes(payload_of(number)), number);
    }
    cache.remember(3, as_bytes(payload_of(20)), 20);
    for (std::uint32_t number = 21; number < 26; ++number) {
        cache.remember(0, as_bytes(payload_of(number)), number);
    }
    CHECK(left_in(cache, 26) == range(10, 26));  // 10 were cached, and 6 more fit into the room for 16
}

TEST_CASE("payload_cache: holds the most recently used payloads for any sequence of find and remember") {
    std::mt19937 random{29};
    for (const std::uint32_t workers : {1U, 5U}) {
        payload_cache cache;
        std::vector<std::uint32_t> model;  // the most recently used first
        std::size_t hits = 0;
        cache.remember(workers - 1, as_bytes(payload_of(0)), 0);
        model.push_back(0);
        for (int turn = 0; turn < 20'000; ++turn) {
            const auto number = static_cast<std::uint32_t>(random() % 30);
            const auto worker = static_cast<std::uint32_t>(random() % workers);
            const auto held = std::find(model.begin(), model.end(), number);
            const auto found = cache.find(worker, as_bytes(payload_of(number)));
            REQUIRE(found.has_value() == (held != model.end()));
            if (found) {
                REQUIRE(*found == number);
                std::rotate(model.begin(), held, held + 1);
                ++hits;
                continue;
            }
            cache.remember(worker, as_bytes(payload_of(number)), number);
            model.insert(model.begin(), number);
            model.resize(std::min<std::size_t>(model.size(), 8 + 2 * workers));
        }
        CHECK(hits > 5000);
    }
}

TEST_CASE("payload_cache: large payloads of many workers stay within 16 MiB") {
    payload_cache cache;
    for (std::uint32_t number = 0; number < 40; ++number) {
        cache.remember(number, as_bytes(payload_of(number, mebibyte)), number);
    }
    CHECK(left_in(cache, 40, mebibyte) == range(24, 40));  // 16 of 88
}

TEST_CASE("payload_cache: 8 payloads are held, however large they are") {
    payload_cache cache;
    for (std::uint32_t number = 0; number < 12; ++number) {
        cache.remember(number, as_bytes(payload_of(number, 3 * mebibyte)), number);
    }
    CHECK(left_in(cache, 12, 3 * mebibyte) == range(4, 12));
}

TEST_CASE("payload_cache: many small payloads make room for large ones until those fit into 16 MiB") {
    payload_cache cache;
    for (std::uint32_t number = 0; number < 40; ++number) {
        cache.remember(number % 16, as_bytes(payload_of(number)), number);
    }
    for (std::uint32_t number = 0; number < 30; ++number) {
        cache.remember(number % 16, as_bytes(payload_of(number, mebibyte)), number);
    }
    CHECK(left_in(cache, 30, mebibyte).size() * mebibyte <= most_bytes);
}

TEST_CASE(
    "payload_cache: payloads of all sizes stay within 16 MiB where they are more than 8, and the newest is there") {
    std::mt19937 random{31};
    payload_cache cache;
    std::vector<std::size_t> sizes;
    for (std::uint32_t number = 0; number < 150; ++number) {
        const bool large = random() % 3 == 0;
        sizes.push_back(large ? mebibyte / 2 + random() % (2 * mebibyte) : 100 + random() % 10'000);
        cache.remember(number % 16, as_bytes(payload_of(number, sizes.back())), number);
        if (number % 10 != 9) {
            continue;
        }
        payload_cache looked_at = cache;  // a look-up counts as use
        std::size_t count = 0;
        std::size_t bytes = 0;
        std::uint32_t newest = 0;
        for (std::uint32_t past = 0; past <= number; ++past) {
            if (looked_at.find(0, as_bytes(payload_of(past, sizes[past])))) {
                ++count;
                bytes += sizes[past];
                newest = past;
            }
        }
        CAPTURE(number);
        CAPTURE(count);
        CHECK((count <= 8 || bytes <= most_bytes));
        CHECK(count >= 8);
        CHECK(count <= 40);
        CHECK(newest == number);
    }
}

TEST_CASE("payload_cache: forget() drops everything and frees the room") {
    payload_cache cache;
    for (std::uint32_t number = 0; number < 40; ++number) {
        cache.remember(number, as_bytes(payload_of(number, mebibyte)), number);
    }
    cache.forget();
    CHECK(left_in(cache, 40, mebibyte).empty());
    for (std::uint32_t number = 0; number < 20; ++number) {
        cache.remember(0, as_bytes(payload_of(number)), number);
    }
    CHECK(left_in(cache, 20) == range(10, 20));  // 10 for one worker: earlier workers are forgotten, too
}

namespace {

const name_list* latest_of(const recent_name_lists& lists) {
    CHECK(lists.recent().size() <= 4);
    return lists.recent().empty() ? nullptr : lists.recent().front().get();
}

}  // namespace

TEST_CASE("recent_name_lists: finds the list with the same items in the same order and the same shapes") {
    recent_name_lists lists;
    CHECK(latest_of(lists) == nullptr);
    CHECK(lists.find({}, {}) == nullptr);
    const auto plain = list_of(items_of(1));
    const auto with_shape = list_of(items_of(1), {4});
    const auto other = list_of(items_of(2));
    lists.remember(plain);
    lists.remember(with_shape);
    lists.remember(other);
    const std::vector<name_id> shapes{4};
    const std::vector<name_id> other_shapes{5};
    std::vector<recorded_item> items = items_of(1);
    CHECK(lists.find(items, {}) == plain);
    CHECK(lists.find(items, shapes) == with_shape);
    CHECK(lists.find(items_of(2), {}) == other);
    CHECK(lists.find(items, other_shapes) == nullptr);
    CHECK(lists.find(items_of(3), {}) == nullptr);
    CHECK(lists.find({}, {}) == nullptr);
    std::swap(items[0], items[1]);
    CHECK(lists.find(items, {}) == nullptr);
    items = items_of(1);
    items[1].kind = static_cast<std::uint8_t>(items[1].kind + 1);
    CHECK(lists.find(items, {}) == nullptr);
}

TEST_CASE("recent_name_lists: the first list is the one that was last remembered or found") {
    recent_name_lists lists;
    const auto first = list_of(items_of(1));
    const auto second = list_of(items_of(2));
    lists.remember(first);
    CHECK(latest_of(lists) == first.get());
    lists.remember(second);
    CHECK(latest_of(lists) == second.get());
    CHECK(lists.find(items_of(1), {}) == first);
    CHECK(latest_of(lists) == first.get());
    CHECK(lists.find(items_of(3), {}) == nullptr);
    CHECK(latest_of(lists) == first.get());
    lists.forget();
    CHECK(latest_of(lists) == nullptr);
    CHECK(lists.find(items_of(1), {}) == nullptr);
}

TEST_CASE("recent_name_lists: holds a few dozen lists and drops the least recently used") {
    std::mt19937 random{37};
    recent_name_lists lists;
    std::vector<name_id> model;  // the most recently used first
    std::vector<std::weak_ptr<const name_list>> made(60);
    std::size_t hits = 0;
    for (int turn = 0; turn < 5000; ++turn) {
        const auto name = static_cast<name_id>(random() % made.size());
        const auto held = std::find(model.begin(), model.end(), name);
        const auto found = lists.find(items_of(name), {});
        REQUIRE((found != nullptr) == (held != model.end()));
        if (found) {
            REQUIRE(found == made[name].lock());
            std::rotate(model.begin(), held, held + 1);
            ++hits;
        } else {
            auto list = list_of(items_of(name));
            made[name] = list;
            lists.remember(std::move(list));
            model.insert(model.begin(), name);
            model.resize(std::min<std::size_t>(model.size(), 32));
        }
        REQUIRE(latest_of(lists) == made[name].lock().get());
    }
    CHECK(hits > 1000);
    const auto alive = std::count_if(made.begin(), made.end(), [](const auto& list) { return !list.expired(); });
    CHECK(alive == 32);  // evicted lists are freed
}

TEST_CASE("loader_cache: forgets payloads and lists") {
    loader_cache cache;
    cache.payloads.remember(0, as_bytes("a"), 1);
    cache.lists.remember(list_of(items_of(1)));
    cache.forget();
    CHECK_FALSE(cache.payloads.find(0, as_bytes("a")).has_value());
    CHECK(latest_of(cache.lists) == nullptr);
}
