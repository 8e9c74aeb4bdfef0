// A kernel that cannot refuse a tensor of strings.
// expect: tensor_reducer
#include <smdebug/reduce/concepts.hpp>

#include <string>

struct no_status {
#ifdef CONTROL
    smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                      smdebug::reduction_set wanted) const;
#else
    smdebug::reduction_values reduce(const smdebug::tensor_view& tensor, smdebug::reduction_set wanted) const;
#endif
    std::string name() const;
};

void open(const smdebug::reduction_kernel auto& kernel);

void use(const no_status& kernel) { open(kernel); }
