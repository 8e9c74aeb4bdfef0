#include <smdebug/core/form.hpp>

#include "support/test.hpp"

TEST_CASE("form: every file has the mark of its form, so that the linker refuses a mix") {
#ifdef SMDEBUG_COMPILED
    CHECK(*smdebug::detail::needs_compiled_form == 1);
    CHECK(*smdebug::detail::uses_compiled_form() == 0);
#else
    CHECK(&smdebug::detail::header_only_files_do_not_link_with_those_that_use_smdebug_compiled != nullptr);
    CHECK(smdebug::detail::header_only_files_do_not_link_with_those_that_use_smdebug_compiled == 0);
#endif
}
