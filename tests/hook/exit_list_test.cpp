#include <smdebug/hook/background_sink.hpp>

#include "support/child_process.hpp"
#include "support/test.hpp"

#include <unistd.h>

using smdebug::detail::exit_entry;

namespace {

struct counted {
    int* into = nullptr;
    int by = 0;
};
void count(void* who) noexcept { *static_cast<counted*>(who)->into += static_cast<counted*>(who)->by; }

}  // namespace

TEST_CASE("exit_entry: what is there when the program exits is called once, and what has gone is not") {
    CHECK(smdebug_test::status_of_child([] {
              static int sum = 0;
              // Registered first, called last.
              static_cast<void>(std::atexit([] { ::_exit(sum == 101 ? 0 : 1); }));
              static counted one{&sum, 1};
              static counted two{&sum, 10};
              static counted three{&sum, 100};
              const exit_entry first{&one, count};
              std::optional<exit_entry> second;
              second.emplace(&two, count);
              const exit_entry third{&three, count};
              second.reset();
              std::exit(0);
              return 2;
          }) == 0);
}

TEST_CASE("exit_entry: a forked child that exits calls its own, and nothing of its parent's") {
    CHECK(smdebug_test::status_of_child([] {
              static int sum = 0;
              static_cast<void>(std::atexit([] { ::_exit(sum); }));
              static counted parents{&sum, 1};
              static counted childs{&sum, 10};
              const exit_entry first{&parents, count};
              for (const bool has_own : {false, true}) {
                  const int status = smdebug_test::status_of_child([&] {
                      std::optional<exit_entry> own;
                      if (has_own) {
                          own.emplace(&childs, count);
                      }
                      std::exit(0);
                      return 2;
                  });
                  if (status != (has_own ? 10 : 0)) {
                      ::_exit(99);
                  }
              }
              std::exit(0);
              return 2;
          }) == 1);
}
