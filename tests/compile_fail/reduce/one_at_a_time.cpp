// A kernel that computes one reduction a pass.
// expect: tensor_reducer
#include <smdebug/reduce/concepts.hpp>

#include <string>

struct one_at_a_time {
#ifdef CONTROL
    smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                      smdebug::reduction_set wanted) const;
#else
    smdebug::result<double> reduce(const smdebug::tensor_view& tensor, smdebug::reduction wanted) const;
#endif
    std::string name() const;
};

void open(const smdebug::reduction_kernel auto& kernel);

void use(const one_at_a_time& kernel) { open(kernel); }
