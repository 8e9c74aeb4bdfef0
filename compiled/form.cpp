// What keeps files of the two forms out of one program: see core/form.hpp.
#include <smdebug/core/form.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

const int compiled_form = 1;
constinit thread_local int header_only_files_do_not_link_with_those_that_use_smdebug_compiled = 0;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
