// A kernel without a name.
// expect: named_kernel
#include <smdebug/reduce/concepts.hpp>

#include <string>

struct no_name {
    smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                      smdebug::reduction_set wanted) const;
#ifdef CONTROL
    std::string name() const;
#endif
};

void open(const smdebug::reduction_kernel auto& kernel);

void use(const no_name& kernel) { open(kernel); }
