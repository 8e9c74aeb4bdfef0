// What keeps files of the two forms out of one program: see core/form.hpp.
namespace smdebug {
inline namespace v1 {
namespace detail {

extern const int compiled_form;
const int compiled_form = 1;

// In every header-only file this is a variable that is not of a thread: the linker refuses the two together.
extern thread_local int header_only_files_do_not_link_with_those_that_use_smdebug_compiled;
thread_local int header_only_files_do_not_link_with_those_that_use_smdebug_compiled = 0;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
