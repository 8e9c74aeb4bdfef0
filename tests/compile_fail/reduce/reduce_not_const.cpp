// A kernel with scratch memory of its own: const calls may run on many threads.
// expect: tensor_reducer
#include <smdebug/reduce/concepts.hpp>

#include <string>

struct reduce_not_const {
#ifdef CONTROL
    smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                      smdebug::reduction_set wanted) const;
#else
    smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                      smdebug::reduction_set wanted);
#endif
    std::string name() const;
};

void open(const smdebug::reduction_kernel auto& kernel);

void use(const reduce_not_const& kernel) { open(kernel); }
