#include <smdebug/storage/cache/in_flight.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

#include <latch>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

// The keys fetched so far, and a way to wait for more.
class fetched_list {
public:
    void add(const std::string& key) {
        const std::lock_guard lock{guard_};
        keys_.push_back(key);
        threads_.insert(std::this_thread::get_id());
        more_.notify_all();
    }
    [[nodiscard]] std::vector<std::string> await(std::size_t count) {
        std::unique_lock lock{guard_};
        more_.wait(lock, [&] { return keys_.size() >= count; });
        return keys_;
    }
    [[nodiscard]] std::size_t threads() {
        const std::lock_guard lock{guard_};
        return threads_.size();
    }

private:
    std::mutex guard_;
    std::condition_variable more_;
    std::vector<std::string> keys_;
    std::set<std::thread::id> threads_;
};

}  // namespace

TEST_CASE("fetch_crew: fetches the requested keys on few threads, in order") {
    fetched_list list;
    fetch_crew one{[&](const std::string& key) { list.add(key); }, 1, 100};
    std::vector<std::string> wanted;
    for (int i = 0; i < 50; ++i) {
        wanted.push_back(std::to_string(i));
        one.wish(wanted.back());
    }
    CHECK(list.await(50) == wanted);
    CHECK(list.threads() == 1);

    fetched_list other;
    fetch_crew three{[&](const std::string& key) { other.add(key); }, 3, 1000};
    for (int i = 0; i < 500; ++i) {
        three.wish(std::to_string(i));
    }
    std::vector<std::string> all = other.await(500);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 500);
    CHECK(other.threads() <= 3);
}

TEST_CASE("fetch_crew: if too many keys are queued, the oldest are dropped; a repeated key counts once") {
    fetched_list list;
    std::latch begun{1};
    std::latch go_on{1};
    fetch_crew crew{[&](const std::string& key) {
                        if (key == "first") {
                            begun.count_down();
                            go_on.wait();
                        }
                        list.add(key);
                    },
                    1, 3};
    crew.wish("first");
    begun.wait();
    for (const char* key : {"a", "b", "b", "c", "d", "d", "e"}) {
        crew.wish(key);
    }
    go_on.count_down();
    CHECK(list.await(4) == std::vector<std::string>{"first", "c", "d", "e"});
}

TEST_CASE("fetch_crew: a fetch that throws affects no other") {
    fetched_list list;
    fetch_crew crew{[&](const std::string& key) {
                        list.add(key);
                        if (key == "error") {
                            throw unavailable("no");
                        }
                        if (key == "number") {
                            throw 5;
                        }
                    },
                    1, 10};
    crew.wish("error");
    crew.wish("number");
    crew.wish("fine");
    CHECK(list.await(3) == std::vector<std::string>{"error", "number", "fine"});
}

TEST_CASE("fetch_crew: destruction drops the queue and waits for the running fetch") {
    fetched_list list;
    std::latch begun{1};
    std::atomic<bool> ending{false};
    {
        fetch_crew crew{[&](const std::string& key) {
                            begun.count_down();
                            while (!ending) {
                                std::this_thread::yield();
                            }
                            list.add(key);
                        },
                        1, 10};
        crew.wish("first");
        begun.wait();
        crew.wish("second");
        ending = true;
    }
    const auto fetched = list.await(1);
    CHECK(fetched.size() <= 2);
    CHECK(fetched.front() == "first");
}

TEST_CASE("fetch_crew: without threads, room in the queue, or keys it does nothing") {
    fetched_list list;
    {
        const auto add = [&](const std::string& key) { list.add(key); };
        fetch_crew idle{add, 0, 10};
        idle.wish("a");
        fetch_crew closed{add, 3, 0};
        closed.wish("a");
        const fetch_crew unasked{add, 3, 3};
    }
    CHECK(list.threads() == 0);
}
