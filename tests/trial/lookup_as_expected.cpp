// A look-up converts to a std::expected where the standard library has it.  Exit status 77: it has not.
#include <smdebug/trial/lookup.hpp>

#include <cstdio>
#include <string>
#include <utility>

#ifdef __cpp_lib_expected

using namespace smdebug;

namespace {

using text_or_error = std::expected<std::string, lookup_error>;

bool all_convert() {
    lookup<std::string> there{std::string(100, 'x')};
    const text_or_error copied = there;
    const text_or_error moved = std::move(there);
    const lookup<std::string> missing{lookup_error{.why = lookup_failure_kind::step_not_saved, .step = 7}};
    const text_or_error why = missing;
    const std::expected<double, lookup_error> number = lookup<double>{2.5};
    const std::expected<double, lookup_error> none = lookup<double>{lookup_failure_kind::no_such_worker};
    return copied == std::string(100, 'x') && *moved == *copied && !why && why.error().step == 7 && *number == 2.5 &&
           !none && none.error().why == lookup_failure_kind::no_such_worker;
}

}  // namespace

int main() {
    if (all_convert()) {
        return 0;
    }
    std::puts("a look-up and the std::expected made of it differ");
    return 1;
}

#else

int main() {
    std::puts("no <expected>");
    return 77;
}

#endif
