#include <smdebug/core/spare_threads.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <type_traits>
#include <utility>

using namespace smdebug::detail;

namespace {

// As many as there are, and each comes back when its lease goes.
class few : public spare_threads {
public:
    explicit few(int free) : free_(std::make_shared<int>(free)) {}
    std::unique_ptr<thread_lease> take() override {
        if (*free_ == 0) {
            return nullptr;
        }
        --*free_;
        return std::make_unique<one>(free_);
    }

private:
    struct one : thread_lease {
        explicit one(std::shared_ptr<int> of) : free(std::move(of)) {}
        ~one() override { ++*free; }
        std::shared_ptr<int> free;
    };
    std::shared_ptr<int> free_;
};

}  // namespace

TEST_CASE("a lease gives its thread back when it goes, and needs nothing to begin") {
    static_assert(!std::is_copy_constructible_v<thread_lease> && std::has_virtual_destructor_v<spare_threads>);
    few threads{1};
    {
        const auto lease = threads.take();
        REQUIRE(lease);
        lease->begin();
        CHECK(threads.take() == nullptr);
    }
    CHECK(threads.take() != nullptr);
}
